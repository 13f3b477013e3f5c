package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schema is as much of a JSON Schema as the description of the messages uses.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        string             `json:"type"`
	Description string             `json:"description"`
	Const       string             `json:"const"`
	Enum        []string           `json:"enum"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *schema            `json:"items"`
	OneOf       []*schema          `json:"oneOf"`
	// Additional is null where nothing is said of other properties.
	Additional json.RawMessage `json:"additionalProperties"`
}

type reference struct {
	Ref string `json:"$ref"`
}

// restTypes makes TypeScript of what the description of the paths says of bodies
// and answers.
func restTypes(openAPI []byte) ([]byte, error) {
	var d struct {
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(openAPI, &d); err != nil {
		return nil, fmt.Errorf("the description of the paths: %w", err)
	}
	return []byte("// Code generated from the description of the paths; DO NOT EDIT. See web/bundle.\n" +
		typesOf(d.Components.Schemas)), nil
}

// typesOf are the types of a description, by their names.
func typesOf(schemas map[string]*schema) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s := schemas[name]
		fmt.Fprintf(&b, "\n%sexport type %s = %s;\n", comment(s.Description, ""), name, s.typescript(""))
	}
	return b.String()
}

// wireTypes makes TypeScript of the description of the live chat's messages.
func wireTypes(asyncAPI []byte) ([]byte, error) {
	var d struct {
		Operations map[string]struct {
			Messages []reference `json:"messages"`
		} `json:"operations"`
		Components struct {
			Messages map[string]struct {
				Payload reference `json:"payload"`
			} `json:"messages"`
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(asyncAPI, &d); err != nil {
		return nil, fmt.Errorf("the description of the messages: %w", err)
	}
	var b strings.Builder
	b.WriteString("// Code generated from the description of the messages; DO NOT EDIT. See web/bundle.\n")
	b.WriteString(typesOf(d.Components.Schemas))
	for _, union := range [...]struct{ name, operation string }{{"ClientMessage", "chatReceive"},
		{"ServerMessage", "chatSend"}} {
		var payloads []string
		for _, m := range d.Operations[union.operation].Messages {
			payloads = append(payloads, last(d.Components.Messages[last(m.Ref)].Payload.Ref))
		}
		if len(payloads) == 0 {
			return nil, fmt.Errorf("the description of the messages has none for %s", union.operation)
		}
		fmt.Fprintf(&b, "\nexport type %s =\n  | %s;\n", union.name, strings.Join(payloads, "\n  | "))
	}
	return []byte(b.String()), nil
}

// last is the name at the end of a reference.
func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

func comment(text, indent string) string {
	if text == "" {
		return ""
	}
	return indent + "// " + strings.Join(strings.Fields(text), " ") + "\n"
}

// typescript is the schema as a type.
func (s *schema) typescript(indent string) string {
	switch {
	case s.Ref != "":
		return last(s.Ref)
	case s.Const != "":
		return fmt.Sprintf("%q", s.Const)
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, e := range s.Enum {
			words[i] = fmt.Sprintf("%q", e)
		}
		return strings.Join(words, " | ")
	case len(s.OneOf) > 0:
		kinds := make([]string, len(s.OneOf))
		for i, o := range s.OneOf {
			kinds[i] = o.typescript(indent)
		}
		return strings.Join(kinds, " | ")
	}
	switch s.Type {
	case "array":
		return "Array<" + s.Items.typescript(indent) + ">"
	case "object":
		return s.object(indent)
	case "string", "boolean":
		return s.Type
	case "number", "integer":
		return "number"
	}
	return "unknown"
}

func (s *schema) object(indent string) string {
	if len(s.Properties) == 0 {
		return "Record<string, unknown>"
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p, optional, key := s.Properties[name], "?", name
		if slices.Contains(s.Required, name) {
			optional = ""
		}
		if strings.ContainsAny(name, " -") {
			key = fmt.Sprintf("%q", name)
		}
		b.WriteString(comment(p.Description, indent+"  "))
		fmt.Fprintf(&b, "%s  %s%s: %s;\n", indent, key, optional, p.typescript(indent+"  "))
	}
	return b.String() + indent + "}"
}
