package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// node is the part of a JSON Schema that a grammar follows. Validation checks everything else.
type node struct {
	Type        json.RawMessage   `json:"type"` // a name or several
	Properties  orderedMap        `json:"properties"`
	Required    []string          `json:"required"`
	Items       json.RawMessage   `json:"items"`
	MinItems    int               `json:"minItems"`
	MaxItems    *int              `json:"maxItems"`
	Format      string            `json:"format"`
	Enum        []json.RawMessage `json:"enum"`
	Const       json.RawMessage   `json:"const"`
	AnyOf       []json.RawMessage `json:"anyOf"`
	OneOf       []json.RawMessage `json:"oneOf"`
	AllOf       []json.RawMessage `json:"allOf"`
	Ref         string            `json:"$ref"`
	Additional  json.RawMessage   `json:"additionalProperties"`
	Description string            `json:"description"`
	Default     json.RawMessage   `json:"default"`
}

// orderedMap keeps properties in the order in which they are written, which is the order in which
// the model writes them.
type orderedMap struct {
	names  []string
	values map[string]json.RawMessage
}

func (o *orderedMap) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &o.values); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return err
		}
		if text, ok := name.(string); ok && !slices.Contains(o.names, text) {
			o.names = append(o.names, text)
		}
	}
	return nil
}

// types returns the allowed types; if s names none, the type that its keywords imply.
func (n node) types() []string {
	var types []string
	var one string
	switch {
	case json.Unmarshal(n.Type, &one) == nil:
		types = []string{one}
	case json.Unmarshal(n.Type, &types) == nil:
	case n.Properties.values != nil:
		types = []string{"object"}
	case n.Items != nil:
		types = []string{"array"}
	}
	return types
}

// unknown returns a required property that is not defined, or "".
func (n node) unknown() string {
	for _, name := range n.Required {
		if n.Properties.values[name] == nil {
			return name
		}
	}
	return ""
}

// resolve parses a schema and follows a reference or a single allOf. A description beside a
// reference takes precedence.
func (w *writer) resolve(raw json.RawMessage) node {
	var s node
	if json.Unmarshal(raw, &s) != nil { // true, false, or a schema that only validation understands
		return node{}
	}
	var of node
	switch {
	case s.Ref != "":
		known := false
		if of, known = w.refs[s.Ref]; !known {
			w.refs[s.Ref] = node{} // for references that lead back to themselves
			of = w.resolve(w.find(s.Ref))
			w.refs[s.Ref] = of
		}
	case len(s.AllOf) == 1 && s.Properties.values == nil:
		of = w.resolve(s.AllOf[0])
	default:
		return s
	}
	of.Description = cmp.Or(s.Description, of.Description)
	return of
}

// find returns the schema that a reference names; nil if the reference leads outside the schema or
// through anything but objects.
func (w *writer) find(ref string) json.RawMessage {
	path, here := strings.CutPrefix(ref, "#")
	if !here || path != "" && path[0] != '/' {
		return nil
	}
	found, at := w.whole, ""
	for _, step := range strings.Split(path, "/")[1:] {
		in, known := w.objects[at]
		if !known {
			_ = json.Unmarshal(found, &in)
			w.objects[at] = in
		}
		at += "/" + step
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		found = in[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return found
}
