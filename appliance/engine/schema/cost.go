package schema

import (
	"maps"
	"math"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSteps is how many times at most a schema is tried on a value while arguments
// are checked: a second's work. Schemas that people write take some hundred; a page
// of those that name one another twice each would take days, and nothing ends a
// check that has begun.
const maxSteps = 200_000

// affordable tells whether a check takes fewer steps than that.
func affordable(s *jsonschema.Schema, v any) bool {
	deep, values := extent(v)
	c := cost{}
	return float64(values)*c.of(s, deep) <= maxSteps
}

// extent is how deep a value is, 0 where it holds no others, and how many values
// it is made of.
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

// cost is how often schemas are tried on the way to one value, by the schema where
// the way begins and how deep that value may lie.
type cost map[step]float64

type step struct {
	schema *jsonschema.Schema
	deep   int
}

func (c cost) of(s *jsonschema.Schema, deep int) float64 {
	if s == nil {
		return 0
	}
	at := step{s, deep}
	if known, ok := c[at]; ok {
		return known
	}
	c[at] = math.Inf(1) // for those that lead back to themselves, as dynamic references may
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
		var most float64 // a value has one name
		for _, in := range s.Properties {
			most = max(most, c.of(in, deep-1))
		}
		sum += most
	}
	c[at] = sum
	return sum
}

// parts are the schemas that one has tried on its own value, and those that it has tried
// on what its value is made of, but for the properties.
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

// schemas are those in a part that may be a schema, several, or something else.
func schemas(part any) []*jsonschema.Schema {
	switch part := part.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{part}
	case []*jsonschema.Schema:
		return part
	}
	return nil
}
