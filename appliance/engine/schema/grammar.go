package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	// root is what places are said from.
	root = "parameters"
	// maxDepth bounds how deep a schema may nest: a rule is written for each level.
	maxDepth = 16
	// maxTimes bounds what a grammar repeats: libllama writes out each time.
	maxTimes = 1000
)

// writer writes a schema as a grammar in GBNF, the notation of llama.cpp.
type writer struct {
	whole     json.RawMessage
	rules     strings.Builder
	count     int
	used      map[string]bool // of the basics
	within    []string        // the references that are being followed
	arguments []Argument
	gaps      bool // required arguments may be null
}

// basics are the rules of JSON's own kinds. Strings and numbers have bounds, or
// a small model would go on until the reply is full.
var basics = map[string]string{
	"char":    `[^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4})`,
	"string":  `"\"" char{0,400} "\""`,
	"integer": `"-"? ("0" | [1-9] [0-9]{0,15})`,
	"number":  `"-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,15})?`,
	"boolean": `"true" | "false"`,
	"null":    `"null"`,
	"value":   `string | number | boolean | null | array | object`,
	"array":   `"[" (value (", " value){0,15})? "]"`,
	"object":  `"{" (string ": " value (", " string ": " value){0,15})? "}"`,
	// Days of the calendar, 29 February in leap years alone.
	"day": `[1-9] [0-9]{3} "-" (("0" [13578] | "1" [02]) "-" ("0" [1-9] | [12] [0-9] | "3" [01]) | ("0" [469] | ` +
		`"11") "-" ("0" [1-9] | [12] [0-9] | "30") | "02-" ("0" [1-9] | "1" [0-9] | "2" [0-8]))` +
		` | ([1-9] [0-9] ("0" [48] | [2468] [048] | [13579] [26]) | ([2468] [048] | [13579] [26]) "00") "-02-29"`,
	"clock": `("1" [0-9] | "0" [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("Z" | [+-] ("0" [0-9] | "1" ` +
		`[0-4]) ":" [0-5] [0-9])`,
}

// needs are the basics that others are made of.
var needs = map[string][]string{
	"string": {"char"}, "value": {"string", "number", "boolean", "null", "array", "object"},
	"array": {"value"}, "object": {"string", "value"},
}

// write is the grammar of a call's arguments.
func (w *writer) write() (string, error) {
	s, open, err := read(w.whole, root)
	if err != nil {
		return "", err
	}
	if !open {
		if err := w.isObject(s); err != nil {
			return "", err
		}
	}
	top, err := w.rule(w.whole, root, 0)
	if open {
		top = w.basic("object")
	}
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&w.rules, "root ::= %s\n", top)
	for _, b := range slices.Sorted(maps.Keys(w.used)) {
		fmt.Fprintf(&w.rules, "%s ::= %s\n", b, basics[b])
	}
	return w.rules.String(), nil
}

// isObject says what is wrong with a schema at the top, which has to be that of
// an object.
func (w *writer) isObject(s node) error {
	var types []string
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		types = []string{one}
	} else if len(s.Type) > 0 && json.Unmarshal(s.Type, &types) != nil {
		return nil // said where it is read
	}
	if len(types) > 0 && !slices.Contains(types, "object") {
		if slices.Contains([]string{"string", "integer", "number", "boolean", "null", "array"}, types[0]) {
			return fault(root+".type",
				"%q is not allowed at the top; \"object\" is, with the arguments as its properties", types[0])
		}
	}
	return nil
}

var errTooLarge = fmt.Errorf("it makes a grammar of more than %d bytes; allow fewer properties, values or repetitions",
	maxGrammar)

func (w *writer) basic(name string) string {
	if !w.used[name] {
		w.used[name] = true
		for _, n := range needs[name] {
			w.basic(n)
		}
	}
	return name
}

// add makes a rule and returns its name.
func (w *writer) add(body string) string {
	w.count++
	name := "r" + strconv.Itoa(w.count)
	fmt.Fprintf(&w.rules, "%s ::= %s\n", name, body)
	return name
}

// Literal is text as a literal of GBNF.
func Literal(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7F:
			fmt.Fprintf(&b, `\x%02X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// follow is what a reference names, until leave; one to what is being written
// has no end.
func (w *writer) follow(ref, at string) (json.RawMessage, error) {
	if slices.Contains(w.within, ref) || ref == "#" {
		return nil, fault(at, "%.80q contains itself; write out how deep it goes", ref)
	}
	target, err := w.find(ref, at)
	if err != nil {
		return nil, err
	}
	w.within = append(w.within, ref)
	return target, nil
}

func (w *writer) leave(ref string) {
	if i := slices.Index(w.within, ref); i >= 0 {
		w.within = slices.Delete(w.within, i, i+1)
	}
}

// rule returns what a value of a schema is; at says where the schema stands.
func (w *writer) rule(raw json.RawMessage, at string, depth int) (string, error) {
	if depth > maxDepth {
		return "", fault(at, "schemas nest deeper than %d", maxDepth)
	}
	if w.rules.Len() > maxGrammar {
		return "", errTooLarge
	}
	s, open, err := read(raw, at)
	if err != nil {
		return "", err
	}
	if open {
		return w.basic("value"), nil
	}
	if s.Ref != "" {
		target, err := w.follow(s.Ref, at+".$ref")
		if err != nil {
			return "", err
		}
		defer w.leave(s.Ref)
		return w.rule(target, at, depth+1)
	}
	if len(s.AllOf) > 0 {
		if s, err = w.merge(s, at, depth); err != nil {
			return "", err
		}
	}
	switch {
	case len(s.Const) > 0:
		return w.literals([]json.RawMessage{s.Const}, at)
	case len(s.Enum) > 0:
		return w.literals(s.Enum, at)
	case len(s.AnyOf) > 0:
		return w.oneOf(s, s.AnyOf, at, "anyOf", depth)
	case len(s.OneOf) > 0:
		return w.oneOf(s, s.OneOf, at, "oneOf", depth)
	}
	return w.typed(s, at, depth)
}

func (w *writer) typed(s node, at string, depth int) (string, error) {
	var types []string
	var one string
	switch {
	case len(s.Type) == 0 && s.Properties.of != nil:
		types = []string{"object"}
	case len(s.Type) == 0 && (s.Items != nil || s.Prefix != nil):
		types = []string{"array"}
	case len(s.Type) == 0 && len(s.Required) > 0 && depth == 0:
		types = []string{"object"}
	case len(s.Type) == 0 && depth == 0:
		return w.basic("object"), nil
	case len(s.Type) == 0:
		return w.basic("value"), nil
	case json.Unmarshal(s.Type, &one) == nil:
		types = []string{one}
	case json.Unmarshal(s.Type, &types) != nil || len(types) == 0:
		return "", fault(at+".type", "%.80s is not allowed; a name or a list of names is", s.Type)
	}
	var rules []string
	for _, t := range types {
		if depth == 0 && t != "object" && len(types) > 1 {
			continue // arguments are an object
		}
		r, err := w.ofType(t, s, at, depth)
		if err != nil {
			return "", err
		}
		rules = append(rules, r)
	}
	return w.either(rules), nil
}

// either is one of several rules.
func (w *writer) either(rules []string) string {
	if len(rules) == 1 {
		return rules[0]
	}
	return w.add(strings.Join(rules, " | "))
}

func (w *writer) ofType(t string, s node, at string, depth int) (string, error) {
	switch t {
	case "string":
		return w.text(s, at)
	case "integer":
		return w.integer(s, at)
	case "number":
		return w.number(s, at)
	case "boolean", "null":
		return w.basic(t), nil
	case "array":
		return w.array(s, at, depth)
	case "object":
		return w.object(s, at, depth)
	}
	return "", fault(at+".type", "%.80q is not allowed; string, integer, number, boolean, null, array and object are",
		t)
}

func repeat(least int, most *int, at string) (string, error) {
	switch {
	case least < 0 || least > maxTimes || most != nil && (*most < least || *most < 0):
		return "", fault(at, "a grammar can count from 0 to %d, and the least is not more than the most", maxTimes)
	case most == nil || *most > maxTimes: // what is beyond is checked
		return fmt.Sprintf("{%d,}", least), nil
	}
	return fmt.Sprintf("{%d,%d}", least, *most), nil
}

func (w *writer) literals(values []json.RawMessage, at string) (string, error) {
	var out []string
	size := 0
	for _, v := range values {
		var compact bytes.Buffer
		if err := json.Compact(&compact, v); err != nil {
			return "", fault(at, "%v", err)
		}
		out = append(out, Literal(compact.String()))
		if size += compact.Len(); size > maxGrammar {
			return "", errTooLarge
		}
	}
	return w.add(strings.Join(out, " | ")), nil
}

// oneOf is one of several schemas, with what stands beside them in s.
func (w *writer) oneOf(s node, all []json.RawMessage, at, keyword string, depth int) (string, error) {
	s.AnyOf, s.OneOf = nil, nil
	delete(s.other, "anyOf")
	delete(s.other, "oneOf")
	var rules []string
	for i, raw := range all {
		place := fmt.Sprintf("%s.%s[%d]", at, keyword, i)
		if s.Properties.of == nil && len(s.Required) == 0 && s.Type == nil {
			r, err := w.rule(raw, place, depth+1)
			if err != nil {
				return "", err
			}
			rules = append(rules, r)
			continue
		}
		s.AllOf = []json.RawMessage{raw} // it is what both ask for
		merged, err := w.merge(s, place, depth)
		if err != nil {
			return "", err
		}
		r, err := w.typed(merged, place, depth+1)
		if len(merged.Const) > 0 || len(merged.Enum) > 0 {
			r, err = w.literals(append(slices.Clone(merged.Enum), nonEmpty(merged.Const)...), place)
		}
		if err != nil {
			return "", err
		}
		rules = append(rules, r)
	}
	if len(rules) == 0 {
		return "", errors.New("nothing is allowed")
	}
	return w.either(rules), nil
}

func nonEmpty(v json.RawMessage) []json.RawMessage {
	if len(v) == 0 {
		return nil
	}
	return []json.RawMessage{v}
}
