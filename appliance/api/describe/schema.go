// Package describe says in words that other software reads what the box
// serves: JSON Schema for what is on the wire, OpenAPI for the paths and
// AsyncAPI for the sockets. All of it comes from the types that are written,
// the readers that check and the rows that route; nothing is said twice.
package describe

import (
	"bytes"
	"encoding/json"
)

// Schema is a JSON Schema (draft 2020-12) as far as the wire needs it.
type Schema struct {
	Ref                  string           `json:"$ref,omitempty"`
	Description          string           `json:"description,omitempty"`
	Type                 string           `json:"type,omitempty"`
	Const                string           `json:"const,omitempty"`
	Enum                 []string         `json:"enum,omitempty"`
	Format               string           `json:"format,omitempty"`
	ContentEncoding      string           `json:"contentEncoding,omitempty"`
	MinLength            *int             `json:"minLength,omitempty"`
	MaxLength            *int             `json:"maxLength,omitempty"`
	Minimum              *float64         `json:"minimum,omitempty"`
	Maximum              *float64         `json:"maximum,omitempty"`
	MaxItems             *int             `json:"maxItems,omitempty"`
	Default              any              `json:"default,omitempty"`
	Items                *Schema          `json:"items,omitempty"`
	Properties           Ordered[*Schema] `json:"properties,omitempty"`
	Required             []string         `json:"required,omitempty"`
	AdditionalProperties *Schema          `json:"additionalProperties,omitempty"`
	OneOf                []*Schema        `json:"oneOf,omitempty"`
}

// String is the schema of any text.
func String() *Schema { return &Schema{Type: "string"} }

// Integer is the schema of a whole number from low to high.
func Integer(low, high int) *Schema {
	return &Schema{Type: "integer", Minimum: float(low), Maximum: float(high)}
}

// Boolean is the schema of true or false.
func Boolean() *Schema { return &Schema{Type: "boolean"} }

// Enum is the schema of one of some words.
func Enum[T ~string](allowed ...T) *Schema {
	s := &Schema{Type: "string"}
	for _, w := range allowed {
		s.Enum = append(s.Enum, string(w))
	}
	return s
}

// WithDefault returns the schema with what holds where nothing is given.
func (s Schema) WithDefault(otherwise any) *Schema {
	s.Default = otherwise
	return &s
}

func float[N int | float64](n N) *float64 {
	f := float64(n)
	return &f
}

// Ordered is a JSON object whose members keep their order: people read it.
type Ordered[V any] []Member[V]

// Member is one of an Ordered.
type Member[V any] struct {
	Name  string
	Value V
}

// Get returns the member of that name.
func (o Ordered[V]) Get(name string) (value V, ok bool) {
	for _, m := range o {
		if m.Name == name {
			return m.Value, true
		}
	}
	return value, false
}

// MarshalJSON writes the members in order.
func (o Ordered[V]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
