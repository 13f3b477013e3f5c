package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// node is the part of JSON Schema that a grammar can follow, at one place. What
// else there is is checked when the JSON is there.
type node struct {
	Type       json.RawMessage   `json:"type"` // a name or several
	Properties orderedMap        `json:"properties"`
	Required   []string          `json:"required"`
	Items      json.RawMessage   `json:"items"`
	Prefix     []json.RawMessage `json:"prefixItems"`
	MinItems   int               `json:"minItems"`
	MaxItems   *int              `json:"maxItems"`
	MinLength  int               `json:"minLength"`
	MaxLength  *int              `json:"maxLength"`
	Pattern    string            `json:"pattern"`
	Format     string            `json:"format"`
	Enum       []json.RawMessage `json:"enum"`
	Const      json.RawMessage   `json:"const"`
	AnyOf      []json.RawMessage `json:"anyOf"`
	OneOf      []json.RawMessage `json:"oneOf"`
	AllOf      []json.RawMessage `json:"allOf"`
	Ref        string            `json:"$ref"`
	Additional json.RawMessage   `json:"additionalProperties"`
	Says       string            `json:"description"`

	other map[string]json.RawMessage // all keywords
}

// orderedMap keeps the properties in the order in which they were written: the
// model writes them so.
type orderedMap struct {
	names []string
	of    map[string]json.RawMessage
}

func (o *orderedMap) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &o.of); err != nil {
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

// fault is what is wrong at a place.
func fault(at, format string, args ...any) error {
	return &Error{At: at, Why: fmt.Sprintf(format, args...)}
}

// read reads the schema at a place; open: it allows every value.
func read(raw json.RawMessage, at string) (s node, open bool, err error) {
	switch string(bytes.TrimSpace(raw)) {
	case "true", "{}":
		return s, true, nil
	case "false":
		return s, false, fault(at, "false allows no value")
	}
	for _, into := range []any{&s.other, &s} {
		if err := json.Unmarshal(raw, into); err != nil {
			return s, false, fault(at, "it is no JSON Schema: %v", err)
		}
	}
	if s.other["$dynamicRef"] != nil {
		return s, false, fault(at+".$dynamicRef", "only $ref is followed, into the same schema")
	}
	return s, false, nil
}

// find is the schema that a reference names.
func (w *writer) find(ref, at string) (json.RawMessage, error) {
	path, here := strings.CutPrefix(ref, "#")
	if !here || path != "" && path[0] != '/' {
		return nil, fault(at, "%.80q is not followed; references into the same schema are, such as \"#/$defs/name\"",
			ref)
	}
	found := json.RawMessage(w.whole)
	for _, step := range strings.Split(path, "/")[1:] {
		if plain, err := url.PathUnescape(step); err == nil {
			step = plain
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		var in map[string]json.RawMessage
		var list []json.RawMessage
		if json.Unmarshal(found, &in) == nil {
			found = in[step]
		} else if i, err := strconv.Atoi(step); err == nil && json.Unmarshal(found, &list) == nil && i >= 0 &&
			i < len(list) {
			found = list[i]
		} else {
			found = nil
		}
		if found == nil {
			return nil, fault(at, "%.80q is not there", ref)
		}
	}
	return found, nil
}

// merge is a schema with those of its allOf: the properties of all, and what
// else they say, the later before the earlier.
func (w *writer) merge(s node, at string, depth int) (node, error) {
	all := s.AllOf
	s.AllOf = nil
	for i, raw := range all {
		place := fmt.Sprintf("%s.allOf[%d]", at, i)
		part, open, err := read(raw, place)
		if err != nil {
			return s, err
		}
		if open {
			continue
		}
		if part.Ref != "" {
			target, err := w.follow(part.Ref, place+".$ref")
			if err != nil {
				return s, err
			}
			part, open, err = read(target, place)
			w.leave(part.Ref)
			if err != nil || open {
				return s, err
			}
		}
		if depth > maxDepth {
			return s, fault(place, "schemas nest deeper than %d", maxDepth)
		}
		if part, err = w.merge(part, place, depth+1); err != nil {
			return s, err
		}
		s = s.with(part)
	}
	return s, nil
}

func (s node) with(part node) node {
	whole := map[string]json.RawMessage{}
	for _, from := range []node{s, part} {
		for k, v := range from.other {
			whole[k] = v
		}
	}
	merged := node{Properties: orderedMap{of: map[string]json.RawMessage{}}}
	delete(whole, "allOf")
	raw, _ := json.Marshal(whole) // of raw messages, which were read before
	_ = json.Unmarshal(raw, &merged)
	merged.other, merged.AllOf = whole, nil
	merged.Properties = orderedMap{of: map[string]json.RawMessage{}}
	merged.Required = nil
	for _, from := range []node{s, part} {
		for _, name := range from.Properties.names {
			if merged.Properties.of[name] == nil {
				merged.Properties.names = append(merged.Properties.names, name)
			}
			merged.Properties.of[name] = from.Properties.of[name]
		}
		merged.Required = append(merged.Required, from.Required...)
	}
	if len(merged.Properties.names) == 0 {
		merged.Properties.of = nil
	}
	return merged
}
