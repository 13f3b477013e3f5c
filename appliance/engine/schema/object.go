package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// object writes the required properties, and of the others those that the model
// wants, in the order of the schema.
func (w *writer) object(s node, at string, depth int) (string, error) {
	for _, name := range s.Required {
		if s.Properties.of[name] == nil {
			return "", fault(at+".required", "%q is none of the properties", name)
		}
	}
	if len(s.Properties.names) == 0 {
		return w.openObject(s, at, depth)
	}
	// From the end: what may follow where something was written before, and
	// where nothing was.
	after, begin := "", ""
	for _, name := range slices.Backward(s.Properties.names) {
		required := slices.Contains(s.Required, name)
		if string(s.Properties.of[name]) == "false" && !required {
			continue // it must not be there
		}
		value, err := w.rule(s.Properties.of[name], at+".properties."+name, depth+1)
		if err != nil {
			return "", err
		}
		a := w.argument(name, s.Properties.of[name], required)
		if depth == 0 {
			w.arguments = append([]Argument{a}, w.arguments...)
		}
		if required && w.gaps && !a.Chosen() {
			value = w.either([]string{value, w.basic("null")})
		}
		key, _ := json.Marshal(name)
		pair := w.add(Literal(string(key)+": ") + " " + value)
		first := strings.TrimSpace(pair + " " + after)
		next := strings.TrimSpace(`", " ` + pair + " " + after)
		if required {
			begin, after = w.add(first), w.add(next)
			continue
		}
		if begin == "" {
			begin = `""`
		}
		if after == "" {
			after = `""`
		}
		begin, after = w.add(first+" | "+begin), w.add(next+" | "+after)
	}
	return w.add(`"{" ` + begin + ` "}"`), nil
}

// openObject is one whose properties have no names: what they are is said, or
// there are none.
func (w *writer) openObject(s node, at string, depth int) (string, error) {
	switch string(s.Additional) {
	case "false":
		return `"{}"`, nil
	case "", "true", "{}":
		return w.basic("object"), nil
	}
	value, err := w.rule(s.Additional, at+".additionalProperties", depth+1)
	if err != nil {
		return "", err
	}
	pair := w.basic("string") + ` ": " ` + value
	return w.add(fmt.Sprintf(`"{" (%s (", " %s){0,15})? "}"`, pair, pair)), nil
}

func (w *writer) array(s node, at string, depth int) (string, error) {
	items := s.Items
	if items == nil {
		items = json.RawMessage("true")
	}
	if len(s.Prefix) > 0 {
		return w.tuple(s, at, depth)
	}
	if s.MaxItems != nil && *s.MaxItems == 0 {
		return `"[]"`, nil
	}
	item, err := w.rule(items, at+".items", depth+1)
	if err != nil {
		return "", err
	}
	var rest *int
	if s.MaxItems != nil {
		n := *s.MaxItems - 1
		rest = &n
	}
	if s.MaxItems != nil && *s.MaxItems < s.MinItems || s.MinItems < 0 {
		return "", fault(at+".maxItems", "the least is not more than the most, and neither below 0")
	}
	times, err := repeat(max(s.MinItems-1, 0), rest, at+".maxItems")
	if err != nil {
		return "", err
	}
	body := item
	if rest == nil || *rest > 0 {
		body = fmt.Sprintf(`%s (", " %s)%s`, item, item, times)
	}
	if s.MinItems == 0 {
		body = "(" + body + ")?"
	}
	return w.add(`"[" ` + body + ` "]"`), nil
}

// tuple is an array whose first items each have a schema; it has these and no
// more.
func (w *writer) tuple(s node, at string, depth int) (string, error) {
	var body []string
	for i, raw := range s.Prefix {
		item, err := w.rule(raw, fmt.Sprintf("%s.prefixItems[%d]", at, i), depth+1)
		if err != nil {
			return "", err
		}
		body = append(body, item)
	}
	return w.add(`"[" ` + strings.Join(body, ` ", " `) + ` "]"`), nil
}

// argument is what is said of one at the top.
func (w *writer) argument(name string, raw json.RawMessage, required bool) Argument {
	a := Argument{Name: name, Required: required, Schema: raw}
	s, open, err := read(raw, name)
	if open || err != nil {
		return a
	}
	a.Description = s.Says
	for range maxDepth {
		if s.Ref == "" {
			break
		}
		target, err := w.find(s.Ref, name)
		if err != nil {
			return a
		}
		if s, open, err = read(target, name); open || err != nil {
			return a
		}
		if a.Description == "" {
			a.Description = s.Says
		}
	}
	_ = json.Unmarshal(s.Type, &a.Type) // several types are none
	a.Format, a.Enum, a.Default = s.Format, s.Enum, s.other["default"]
	if len(s.Const) > 0 {
		a.Enum = []json.RawMessage{s.Const}
	}
	return a
}
