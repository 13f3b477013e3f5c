package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schema is the part of JSON Schema that the descriptions use.
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
	// Additional is null when the schema does not mention other properties.
	Additional json.RawMessage `json:"additionalProperties"`
}

type reference struct {
	Ref string `json:"$ref"`
}

// restTypes generates TypeScript types for the request and response bodies of the OpenAPI description.
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

// typesOf returns the types of a description, sorted by name.
func typesOf(schemas map[string]*schema) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s := schemas[name]
		fmt.Fprintf(&b, "\n%sexport type %s = %s;\n", comment(s.Description, ""), name, s.typescript(""))
	}
	return b.String()
}

// wireTypes generates TypeScript types for the messages of a chat from the AsyncAPI description.
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

// last returns the name at the end of a reference.
func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// mostColumns is the longest line of the generated files.
const mostColumns = 120

// comment renders a text as line comments, or returns nothing for an empty text.
func comment(text, indent string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	line := indent + "//"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > mostColumns {
			b.WriteString(line + "\n")
			line = indent + "//"
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

// typescript returns the TypeScript type of the schema.
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
	case "string", "boolean", "null":
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
		kind := " " + p.typescript(indent+"  ")
		if len(indent)+len(key)+len(kind)+5 > mostColumns && !strings.Contains(kind, "\n") {
			or := "\n" + indent + "    | "
			kind = or + strings.ReplaceAll(kind[1:], " | ", or)
		}
		fmt.Fprintf(&b, "%s  %s%s:%s;\n", indent, key, optional, kind)
	}
	return b.String() + indent + "}"
}
