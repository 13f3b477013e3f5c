package llama

import (
	"encoding/json"
	"slices"

	"parley/appliance/engine/schema"
)

// schemaNode is the part of a JSON Schema that describes what a value may be.
type schemaNode struct {
	Type        any                        `json:"type"`
	Description string                     `json:"description"`
	Enum        []json.RawMessage          `json:"enum"`
	Items       json.RawMessage            `json:"items"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Required    []string                   `json:"required"`
}

// schemaArgument returns a part of an argument as an argument of its own. If its schema says
// nothing, any value is allowed.
func schemaArgument(of json.RawMessage) schema.Argument {
	var p schemaNode
	if json.Unmarshal(of, &p) != nil {
		return schema.Argument{}
	}
	kind, _ := p.Type.(string)
	return schema.Argument{
		Enum:        p.Enum,
		Type:        kind,
		Description: p.Description,
		Schema:      of,
	}
}

// itemArgument describes the items of an argument that is a list.
func itemArgument(a schema.Argument) schema.Argument {
	var p schemaNode
	if json.Unmarshal(a.Schema, &p) != nil {
		return schema.Argument{}
	}
	return schemaArgument(p.Items)
}

// propertyArgument describes a property of an argument that is an object.
func propertyArgument(a schema.Argument, name string) schema.Argument {
	var p schemaNode
	if json.Unmarshal(a.Schema, &p) != nil {
		return schema.Argument{}
	}
	part := schemaArgument(p.Properties[name])
	part.Required = slices.Contains(p.Required, name)
	return part
}

// prune returns a value without the items and properties that nobody said; its schema decides
// whether the rest is enough. A value of which everything was said is returned unchanged.
func (s source) prune(a schema.Argument, raw json.RawMessage) json.RawMessage {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return raw
	}
	left, cut := s.pruneValue(a, value)
	if !cut {
		return raw
	}
	encoded, err := json.Marshal(left)
	if err != nil {
		return raw
	}
	return encoded
}

func (s source) pruneValue(a schema.Argument, value any) (left any, cut bool) {
	switch v := value.(type) {
	case []any:
		out := []any{}
		for _, item := range v {
			if !s.hasValue(itemArgument(a), item) {
				cut = true
				continue
			}
			item, less := s.pruneValue(itemArgument(a), item)
			out, cut = append(out, item), cut || less
		}
		return out, cut
	case map[string]any:
		out := map[string]any{}
		for name, item := range v {
			if !s.hasPart(propertyArgument(a, name), item) {
				cut = true
				continue
			}
			item, less := s.pruneValue(propertyArgument(a, name), item)
			out[name], cut = item, cut || less
		}
		return out, cut
	}
	return value, false
}
