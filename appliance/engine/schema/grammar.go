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

// maxDepth limits how deep a grammar follows a schema, which may contain itself; each level needs a
// rule. Deeper values may be any JSON and are only validated.
const maxDepth = 16

// writer writes a schema as a GBNF grammar, the notation of llama.cpp: objects, arrays, enums,
// strings, numbers, booleans, dates and times, and unions of these. Validation checks the rest of
// the schema.
type writer struct {
	whole      json.RawMessage
	rules      strings.Builder
	count      int
	usedBasics map[string]bool // basics that are used
	exact      bool            // see Grammar
	// refs and objects cache the targets of references and the objects on the way to them.
	refs    map[string]node
	objects map[string]map[string]json.RawMessage
}

// basics are the rules of JSON's own types. Strings and numbers are bounded, because a small model
// might otherwise continue until the reply is full.
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

// dependencies are the basics that others use.
var dependencies = map[string][]string{
	"string": {"char"},
	"value":  {"string", "number", "boolean", "null", "array", "object"},
	"array":  {"value"},
	"object": {"string", "value"},
	"date":   {"day"},
	"time":   {"clock"},
	"moment": {"day", "clock"},
}

// formats are the rules of string formats for which small models write words ("Friday") otherwise.
var formats = map[string]string{"date": "date", "time": "time", "date-time": "moment"}

func newWriter(whole []byte) *writer {
	return &writer{
		whole:      whole,
		usedBasics: map[string]bool{},
		refs:       map[string]node{},
		objects:    map[string]map[string]json.RawMessage{},
	}
}

// write returns the grammar of a call's arguments, an object with top's properties.
func (w *writer) write(top node) string {
	fmt.Fprintf(&w.rules, "root ::= %s\n", w.object(top, 0))
	for _, b := range slices.Sorted(maps.Keys(w.usedBasics)) {
		fmt.Fprintf(&w.rules, "%s ::= %s\n", b, basics[b])
	}
	return w.rules.String()
}

func (w *writer) basic(name string) string {
	if !w.usedBasics[name] {
		w.usedBasics[name] = true
		for _, n := range dependencies[name] {
			w.basic(n)
		}
	}
	return name
}

// add adds a rule and returns its name.
func (w *writer) add(body string) string {
	w.count++
	name := "r" + strconv.Itoa(w.count)
	fmt.Fprintf(&w.rules, "%s ::= %s\n", name, body)
	return name
}

// literal quotes text as a GBNF literal.
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

// rule returns the rule of a schema. If the grammar is too large or the value too deep, any value
// is allowed.
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
	return w.basic(t) // validation of the schema ensures that there is no other
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
	if w.exact && s.MaxItems != nil && *s.MaxItems == 0 {
		return `"[]"`
	}
	items := fmt.Sprintf(`%s (", " %s)%s`, item, item, w.repeats(s))
	if s.MinItems == 0 {
		items = "(" + items + ")?"
	}
	return w.add(`"[" ` + items + ` "]"`)
}

// object writes the required properties and the optional ones that the model chooses, in the order
// of the schema. A required property that the model may not choose may be null, if nobody said a
// value.
func (w *writer) object(s node, depth int) string {
	switch {
	case len(s.Properties.names) == 0 && string(s.Additional) == "false":
		return `"{}"`
	case len(s.Properties.names) == 0 || s.unknown() != "":
		return w.basic("object")
	}
	// Built from the end: what may follow after a property, and at the beginning.
	after, begin := `""`, `""`
	for _, name := range slices.Backward(s.Properties.names) {
		required := slices.Contains(s.Required, name)
		value := w.rule(s.Properties.values[name], depth+1)
		if required && !w.exact && !w.argument(name, s).Chosen() {
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

// argument describes a property of s.
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
	_ = json.Unmarshal(of.Type, &a.Type) // several types count as none
	if of.Const != nil {
		a.Enum = []json.RawMessage{of.Const}
	}
	return a
}
