package schema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Grammar returns a grammar, in GBNF with the rule "root", of the JSON that a schema allows, as far as a grammar
// follows a schema: types, properties in the order of the schema, required ones, enums, references, and the numbers of
// entries up to maxRepeats. It does not check values such as patterns and the least number. Unlike Parameters.Grammar,
// a required value is never null unless the schema says so, and texts have any length.
func Grammar(schema []byte) (string, error) {
	if len(schema) > maxBytes {
		return "", fmt.Errorf("it has %d bytes: at most %d are allowed", len(schema), maxBytes)
	}
	if _, err := Compile(schema); err != nil {
		return "", err
	}
	w := newWriter(schema)
	w.exact = true
	root := w.rule(schema, 0)
	fmt.Fprintf(&w.rules, "root ::= %s\n", root)
	for _, b := range slices.Sorted(maps.Keys(w.usedBasics)) {
		body := basics[b]
		if of, ok := exactBasics[b]; ok {
			body = of
		}
		fmt.Fprintf(&w.rules, "%s ::= %s\n", b, body)
	}
	if w.rules.Len() > maxGrammar {
		return "", errors.New("it is too large for a grammar; allow fewer properties or values")
	}
	return w.rules.String(), nil
}

// exactBasics are the basics without the bounds that keep a small model from writing an endless argument: the client
// limits the tokens of a message.
var exactBasics = map[string]string{
	"string": `"\"" char* "\""`,
	"array":  `"[" (value (", " value)*)? "]"`,
	"object": `"{" (string ": " value (", " string ": " value)*)? "}"`,
}

// maxRepeats is the highest number of entries that a grammar counts: the library writes out each of them.
const maxRepeats = 32

// repeats returns the items of an array that follow the first.
func (w *writer) repeats(s node) string {
	if !w.exact || s.MinItems > maxRepeats || s.MaxItems != nil && *s.MaxItems < max(s.MinItems, 1) {
		return "*"
	}
	least := max(s.MinItems-1, 0)
	if s.MaxItems == nil || *s.MaxItems > maxRepeats {
		if least == 0 {
			return "*"
		}
		return fmt.Sprintf("{%d,}", least)
	}
	return fmt.Sprintf("{%d,%d}", least, *s.MaxItems-1)
}
