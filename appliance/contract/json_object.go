package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// object parses the fields of one JSON object and notes problems with their
// paths. Unknown fields are ignored, and null is the same as absent.
type object struct {
	loc      []any
	fields   map[string]json.RawMessage
	problems *[]ValidationError
	// untyped is true for a query, where every scalar is a string and is
	// converted to the expected type.
	untyped bool
	// shape, if not nil, records what the readers expect of the object, which
	// then has no fields.
	shape *Shape
}

// readObject parses raw, and notes a problem if it is not an object.
func readObject(loc []any, raw []byte, problems *[]ValidationError, untyped bool) object {
	o := object{loc: loc, problems: problems, untyped: untyped}
	if k := kindOf(raw); k != "object" {
		o.wrongType("", "an object", raw)
		return o
	}
	if why := tooManyEntries(raw, "fields", maxFields); why != "" {
		o.note("", "wrong_value", why)
		return o
	}
	if err := json.Unmarshal(raw, &o.fields); err != nil {
		o.note("", "malformed", "not valid JSON: "+err.Error())
	}
	return o
}

func (o object) at(name any) []any {
	if name == "" {
		return o.loc
	}
	return append(o.loc[:len(o.loc):len(o.loc)], name)
}

func (o object) note(name any, kind, msg string) {
	p := ValidationError{Loc: o.at(name), Type: kind, Msg: msg}
	if last := len(*o.problems) - 1; last >= 0 && reflect.DeepEqual((*o.problems)[last], p) {
		return // a field that is read twice
	}
	*o.problems = append(*o.problems, p)
}

func (o object) wrongType(name, wanted string, raw []byte) {
	o.note(name, "wrong_type", fmt.Sprintf("expected %s, got %s", wanted, excerpt(raw)))
}

// get returns the field's JSON; ok is false if it is absent or null.
func (o object) get(name string) (json.RawMessage, bool) {
	raw, ok := o.fields[name]
	return raw, ok && kindOf(raw) != "null"
}

// isNull reports whether the field is present and null.
func (o object) isNull(name string) bool {
	raw, ok := o.fields[name]
	return ok && kindOf(raw) == "null"
}

// require notes a problem for each absent field.
func (o object) require(names ...string) {
	if o.shape != nil {
		o.shape.Required = append(o.shape.Required, names...)
	}
	for _, name := range names {
		if _, ok := o.get(name); !ok && o.fields != nil {
			o.note(name, "missing", "missing; it is required")
		}
	}
}

// text parses a string of at most so many characters.
func (o object) text(name string, most int) string {
	return deref(o.textOrNil(name, most))
}

func (o object) textOrNil(name string, most int) *string {
	o.expect(name, Shape{Kind: "string", High: bound(most)})
	raw, ok := o.get(name)
	if !ok {
		return nil
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		o.wrongType(name, "a string", raw)
		return nil
	}
	if n := utf8.RuneCountInString(s); n > most {
		o.note(name, "wrong_value", fmt.Sprintf("%d characters; at most %d are allowed", n, most))
	}
	return &s
}

// choice parses a string that is one of allowed.
func choice[T ~string](o object, name string, allowed ...T) T {
	o.expect(name, Shape{Kind: "string", Words: asStrings(allowed)})
	raw, ok := o.get(name)
	if !ok {
		return ""
	}
	v := T(o.text(name, math.MaxInt))
	if slices.Contains(allowed, v) {
		return v
	}
	if kindOf(raw) == "string" {
		o.note(name, "wrong_value", fmt.Sprintf("%q is not allowed; allowed: %s", Clip(string(v)), joinWords(allowed)))
	}
	return ""
}

// integer parses a whole number in [low, high]; 16000.0 is one.
func (o object) integer(name string, low, high int) int {
	o.expect(name, Shape{Kind: "integer", Low: bound(low), High: bound(high)})
	raw, ok := o.get(name)
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(o.scalar(raw), 64)
	if err != nil && kindOf(raw) != "number" || f != math.Trunc(f) {
		o.wrongType(name, "an integer", raw)
		return 0
	}
	if f < float64(low) || f > float64(high) {
		o.note(name, "wrong_value", fmt.Sprintf("%s is out of range; allowed: %d to %d", excerpt(raw), low, high))
		return 0
	}
	return int(f)
}

// boolean parses true or false; in a query also as other languages write them.
func (o object) boolean(name string) bool {
	o.expect(name, Shape{Kind: "boolean"})
	raw, ok := o.get(name)
	if !ok {
		return false
	}
	literal := o.scalar(raw)
	if b, err := strconv.ParseBool(literal); o.untyped && err == nil {
		return b
	}
	switch literal {
	case "true":
		return true
	case "false":
		return false
	}
	o.wrongType(name, "true or false", raw)
	return false
}

// scalar returns raw as a literal; in a query, the content of the string.
func (o object) scalar(raw []byte) string {
	var s string
	if o.untyped && json.Unmarshal(raw, &s) == nil {
		return strings.TrimSpace(s)
	}
	return string(raw)
}

// object parses a field that is an object; ok is false if there is none.
func (o object) object(name string) (object, bool) {
	if o.shape != nil {
		o.expect(name, Shape{Kind: "object"})
		return object{problems: o.problems, untyped: o.untyped, shape: o.shape.Fields[name]}, true
	}
	raw, ok := o.get(name)
	if !ok {
		return object{}, false
	}
	var text string
	if o.untyped && json.Unmarshal(raw, &text) == nil {
		if raw = []byte(text); kindOf(raw) != "object" {
			o.note(name, "wrong_type", fmt.Sprintf(
				"expected fields in brackets, as in session_settings[variables][name]=…, or an object as JSON text, "+
					"got %q", Clip(text)))
			return object{}, false
		}
	}
	inner := readObject(o.at(name), raw, o.problems, o.untyped)
	return inner, inner.fields != nil
}

// optional parses a field that is an object; nil if it is absent.
func optional[T any](o object, name string, read func(object) T) *T {
	in, ok := o.object(name)
	if !ok {
		return nil
	}
	v := read(in)
	return &v
}

// each parses a field that is a list of objects.
func each[T any](o object, name string, most int, read func(object) T) []T {
	given := o.list(name, most)
	if given == nil {
		return nil
	}
	all := make([]T, len(given))
	for i, in := range given {
		all[i] = read(in)
	}
	return all
}

// list parses a field that is a list of objects. It returns nil if the field is
// absent, and drops null entries.
func (o object) list(name string, most int) []object {
	if o.shape != nil {
		items := &Shape{Kind: "object"}
		o.expect(name, Shape{Kind: "array", Items: items, High: bound(most)})
		return []object{{problems: o.problems, untyped: o.untyped, shape: items}}
	}
	items := o.items(name, most)
	if items == nil {
		return nil
	}
	opened := make([]object, 0, len(items))
	for i, item := range items {
		if kindOf(item) == "null" {
			continue
		}
		loc := append(o.at(name), i)
		opened = append(opened, readObject(loc, item, o.problems, o.untyped))
	}
	return opened
}

// items parses a field that is a list. It returns nil if the field is absent or
// not a list.
func (o object) items(name string, most int) (items []json.RawMessage) {
	raw, ok := o.get(name)
	if !ok {
		return nil
	}
	if kindOf(raw) == "list" {
		if why := tooManyEntries(raw, "entries", most); why != "" {
			o.note(name, "wrong_value", why)
			return nil
		}
	}
	if json.Unmarshal(raw, &items) != nil {
		o.wrongType(name, "a list", raw)
		return nil
	}
	return items
}

// kindOf returns the kind of a JSON value, from its first character.
func kindOf(raw []byte) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "list"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// excerpt returns a value as errors repeat it.
func excerpt(raw []byte) string {
	switch k := kindOf(raw); k {
	case "object", "list":
		return map[string]string{"object": "an object", "list": "a list"}[k]
	default:
		return Clip(string(raw))
	}
}

func joinWords[T ~string](allowed []T) string { return strings.Join(asStrings(allowed), ", ") }
