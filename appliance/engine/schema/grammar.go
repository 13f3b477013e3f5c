package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxDepth bounds how deep a grammar follows a schema, which may contain itself: a
// rule is written for each level. What lies deeper is any JSON, and checked.
const maxDepth = 16

// writer writes a schema as a grammar in GBNF, the notation of llama.cpp: objects,
// arrays, enums, strings, numbers, booleans, dates and times, and one of several of
// these. What else a schema asks for is checked when the arguments are there.
type writer struct {
	whole json.RawMessage
	rules strings.Builder
	count int
	used  map[string]bool // of the basics
	// refs and objects are what references name, and what they lead through, once read.
	refs    map[string]node
	objects map[string]map[string]json.RawMessage
}

// basics are the rules of JSON's own kinds. Strings and numbers have bounds, or
// a small model would go on until the reply is full.
var basics = map[string]string{
	"char":    `[^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4})`,
	"string":  `"\"" char{0,400} "\""`,
	"integer": `"-"? ("0" | [1-9] [0-9]{0,15})`,
	"number":  `"-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,15})?`,
	"boolean": `"true" | "false"`,
	"date":    `"\"" day "\""`,
	"time":    `"\"" clock "\""`,
	"moment":  `"\"" day "T" clock "\""`,
	"day":     `[12] [0-9]{3} "-" [01] [0-9] "-" [0-3] [0-9]`,
	"clock":   `[0-2] [0-9] ":" [0-5] [0-9] ":" [0-5] [0-9] ("Z" | [+-] [01] [0-9] ":" [0-5] [0-9])`,
	"null":    `"null"`,
	"value":   `string | number | boolean | null | array | object`,
	"array":   `"[" (value (", " value){0,15})? "]"`,
	"object":  `"{" (string ": " value (", " string ": " value){0,15})? "}"`,
}

// dependencies are the basics that others are made of.
var dependencies = map[string][]string{
	"string": {"char"}, "value": {"string", "number", "boolean", "null", "array", "object"},
	"array": {"value"}, "object": {"string", "value"},
	"date": {"day"}, "time": {"clock"}, "moment": {"day", "clock"},
}

// formats are the rules of strings of which small models write words ("Friday") where
// they are free to.
var formats = map[string]string{"date": "date", "time": "time", "date-time": "moment"}

func newWriter(whole []byte) *writer {
	return &writer{
		whole:   whole,
		used:    map[string]bool{},
		refs:    map[string]node{},
		objects: map[string]map[string]json.RawMessage{},
	}
}

// write is the grammar of a call's arguments, an object of top's properties.
func (w *writer) write(top node) string {
	fmt.Fprintf(&w.rules, "root ::= %s\n", w.object(top, 0))
	for _, b := range slices.Sorted(maps.Keys(w.used)) {
		fmt.Fprintf(&w.rules, "%s ::= %s\n", b, basics[b])
	}
	return w.rules.String()
}

func (w *writer) basic(name string) string {
	if !w.used[name] {
		w.used[name] = true
		for _, n := range dependencies[name] {
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

// literal is text as a literal of GBNF.
func literal(text string) string {
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

// rule returns what a value of a schema is. Once the grammar is too large, or a value
// too deep, it may be anything.
func (w *writer) rule(raw json.RawMessage, depth int) string {
	if depth > maxDepth || w.rules.Len() > maxGrammar {
		return w.basic("value")
	}
	s := w.resolve(raw)
	var ways []string
	switch {
	case s.Const != nil:
		return w.literals([]json.RawMessage{s.Const})
	case len(s.Enum) > 0:
		return w.literals(s.Enum)
	case len(s.types()) > 0:
		for _, t := range s.types() {
			ways = append(ways, w.ofType(t, s, depth))
		}
	default:
		for _, one := range append(s.AnyOf, s.OneOf...) {
			ways = append(ways, w.rule(one, depth+1))
		}
	}
	switch len(ways) {
	case 0:
		return w.basic("value")
	case 1:
		return ways[0]
	}
	return w.add(strings.Join(ways, " | "))
}

func (w *writer) ofType(t string, s node, depth int) string {
	switch t {
	case "array":
		return w.array(s, depth)
	case "object":
		return w.object(s, depth)
	case "string":
		return w.basic(cmp.Or(formats[s.Format], t))
	}
	return w.basic(t) // the check has seen that there is no other
}

func (w *writer) literals(values []json.RawMessage) string {
	var out []string
	for _, v := range values {
		var compact bytes.Buffer
		if json.Compact(&compact, v) == nil {
			out = append(out, literal(compact.String()))
		}
	}
	return w.add(strings.Join(out, " | "))
}

func (w *writer) array(s node, depth int) string {
	item := w.basic("value")
	if s.Items != nil {
		item = w.rule(s.Items, depth+1)
	}
	items := fmt.Sprintf(`%s (", " %s)*`, item, item)
	if s.MinItems == 0 {
		items = "(" + items + ")?"
	}
	return w.add(`"[" ` + items + ` "]"`)
}

// object writes the required properties, and of the others those that the model
// wants, in the order of the schema. For a required one that is not to be chosen it may
// write null, where nobody said a value.
func (w *writer) object(s node, depth int) string {
	switch {
	case len(s.Properties.names) == 0 && string(s.Additional) == "false":
		return `"{}"`
	case len(s.Properties.names) == 0 || s.unknown() != "":
		return w.basic("object")
	}
	// From the end: what may follow where something was written before, and
	// where nothing was.
	after, begin := `""`, `""`
	for _, name := range slices.Backward(s.Properties.names) {
		required := slices.Contains(s.Required, name)
		value := w.rule(s.Properties.values[name], depth+1)
		if required && !w.argument(name, s).Chosen() {
			value += " | " + w.basic("null")
		}
		key, _ := json.Marshal(name)
		pair := w.add(literal(string(key)+": ") + " (" + value + ")")
		first, next := pair+" "+after, `", " `+pair+" "+after
		if required {
			begin, after = w.add(first), w.add(next)
		} else {
			begin, after = w.add(first+" | "+begin), w.add(next+" | "+after)
		}
	}
	return w.add(`"{" ` + begin + ` "}"`)
}

// argument is what is said of a property of s.
func (w *writer) argument(name string, s node) Argument {
	raw := s.Properties.values[name]
	of := w.resolve(raw)
	a := Argument{
		Name:        name,
		Description: of.Description,
		Required:    slices.Contains(s.Required, name),
		Format:      of.Format,
		Enum:        of.Enum,
		Default:     of.Default,
		Schema:      raw,
	}
	_ = json.Unmarshal(of.Type, &a.Type) // several types are none
	if of.Const != nil {
		a.Enum = []json.RawMessage{of.Const}
	}
	return a
}
