package schema

import (
	"maps"
	"math"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSteps limits how many times schemas are applied to a value during validation: a second's work.
// Ordinary schemas need some hundred; a page of schemas that reference each other twice would take
// days, and validation cannot be interrupted.
const maxSteps = 200_000

// affordable reports whether validation takes at most maxSteps.
func affordable(s *jsonschema.Schema, v any) bool {
	deep, values := extent(v)
	c := cost{}
	return float64(values)*c.of(s, deep) <= maxSteps
}

// extent returns how deep a value is, 0 if it contains no others, and how many values it consists
// of.
func extent(v any) (deep, values int) {
	values = 1
	within := func(v any) {
		d, n := extent(v)
		deep, values = max(deep, d+1), values+n
	}
	switch v := v.(type) {
	case map[string]any:
		for _, in := range v {
			within(in)
		}
	case []any:
		for _, in := range v {
			within(in)
		}
	}
	return deep, values
}

// cost maps a schema and the depth of a value to the number of schema applications for one value.
type cost map[step]float64

type step struct {
	schema *jsonschema.Schema
	deep   int
}

// of returns the cost of a schema.
func (c cost) of(s *jsonschema.Schema, deep int) float64 {
	if s == nil {
		return 0
	}
	at := step{s, deep}
	if known, ok := c[at]; ok {
		return known
	}
	c[at] = math.Inf(1) // for schemas that lead back to themselves, as dynamic references may
	if s.DynamicRef != nil || s.RecursiveRef != nil {
		return c[at]
	}
	same, inner := parts(s)
	sum := 1.0
	for _, on := range same {
		sum += c.of(on, deep)
	}
	if deep > 0 {
		for _, in := range inner {
			sum += c.of(in, deep-1)
		}
		var most float64 // a value has only one name
		for _, in := range s.Properties {
			most = max(most, c.of(in, deep-1))
		}
		sum += most
	}
	c[at] = sum
	return sum
}

// parts returns the schemas that s applies to its own value, and those that it applies to the
// elements of its value, except properties.
func parts(s *jsonschema.Schema) (same, inner []*jsonschema.Schema) {
	same = slices.Concat(s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.DependentSchemas)),
		[]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else, s.ContentSchema})
	for _, d := range s.Dependencies {
		same = append(same, schemas(d)...)
	}
	inner = slices.Concat(s.PrefixItems, slices.Collect(maps.Values(s.PatternProperties)),
		schemas(s.AdditionalProperties), schemas(s.AdditionalItems), schemas(s.Items),
		[]*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems})
	return same, inner
}

// schemas returns the schemas in a keyword, which may be a schema, several, or something else.
func schemas(part any) []*jsonschema.Schema {
	switch part := part.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{part}
	case []*jsonschema.Schema:
		return part
	}
	return nil
}
