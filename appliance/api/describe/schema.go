// Package describe generates the machine-readable descriptions of the API:
// JSON Schema for the wire format, OpenAPI for the routes and AsyncAPI for the
// sockets, and an HTML page of all three. They are made from the Go types that
// are written, the readers that check bodies, the table of routes and the
// comments in the source.
package describe

import (
	"bytes"
	"encoding/json"
)

// Schema is a JSON Schema (draft 2020-12), as far as it is used here.
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

// String returns the schema of a string.
func String() *Schema { return &Schema{Type: "string"} }

// Integer returns the schema of a whole number from low to high.
func Integer(low, high int) *Schema {
	return &Schema{Type: "integer", Minimum: float(low), Maximum: float(high)}
}

// Boolean returns the schema of a boolean.
func Boolean() *Schema { return &Schema{Type: "boolean"} }

// Enum returns the schema of a string with fixed values.
func Enum[T ~string](allowed ...T) *Schema {
	s := &Schema{Type: "string"}
	for _, w := range allowed {
		s.Enum = append(s.Enum, string(w))
	}
	return s
}

// WithDefault returns the schema with a default value.
func (s Schema) WithDefault(otherwise any) *Schema {
	s.Default = otherwise
	return &s
}

func float[N int | float64](n N) *float64 {
	f := float64(n)
	return &f
}

// Ordered is a JSON object that keeps the order of its members, for readers.
type Ordered[V any] []Member[V]

// Member is a member of an Ordered.
type Member[V any] struct {
	Name  string
	Value V
}

// Get returns the member with a name.
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
