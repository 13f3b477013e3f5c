package llama

import (
	"encoding/json"
	"slices"

	"parley/appliance/engine/schema"
)

// kinds is what of a schema says what its parts may be.
type kinds struct {
	Type       any                        `json:"type"`
	Says       string                     `json:"description"`
	Enum       []json.RawMessage          `json:"enum"`
	Items      json.RawMessage            `json:"items"`
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

// ofSchema is a part of an argument as an argument of its own; where its schema says
// nothing of it, anything may be.
func ofSchema(of json.RawMessage) schema.Argument {
	var p kinds
	if json.Unmarshal(of, &p) != nil {
		return schema.Argument{}
	}
	kind, _ := p.Type.(string)
	return schema.Argument{
		Enum:        p.Enum,
		Type:        kind,
		Description: p.Says,
		Schema:      of,
	}
}

// itemOf is an item of an argument that is a list.
func itemOf(a schema.Argument) schema.Argument {
	var p kinds
	if json.Unmarshal(a.Schema, &p) != nil {
		return schema.Argument{}
	}
	return ofSchema(p.Items)
}

// partOf is a property of an argument that is an object.
func partOf(a schema.Argument, name string) schema.Argument {
	var p kinds
	if json.Unmarshal(a.Schema, &p) != nil {
		return schema.Argument{}
	}
	part := ofSchema(p.Properties[name])
	part.Required = slices.Contains(p.Required, name)
	return part
}

// pruned is a value without the items and properties in it that nobody said; whether
// the rest is enough its schema says. Where nothing was, it is as it was written.
func (s said) pruned(a schema.Argument, raw json.RawMessage) json.RawMessage {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return raw
	}
	left, cut := s.prune(a, value)
	if !cut {
		return raw
	}
	out, err := json.Marshal(left)
	if err != nil {
		return raw
	}
	return out
}

func (s said) prune(a schema.Argument, value any) (left any, cut bool) {
	switch v := value.(type) {
	case []any:
		kept := []any{}
		for _, item := range v {
			if !s.hasValue(itemOf(a), item) {
				cut = true
				continue
			}
			item, less := s.prune(itemOf(a), item)
			kept, cut = append(kept, item), cut || less
		}
		return kept, cut
	case map[string]any:
		kept := map[string]any{}
		for name, item := range v {
			if !s.hasPart(partOf(a, name), item) {
				cut = true
				continue
			}
			item, less := s.prune(partOf(a, name), item)
			kept[name], cut = item, cut || less
		}
		return kept, cut
	}
	return value, false
}
