package schema

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validator checks whether the arguments of a call match the parameters of a tool, for models of
// any kind: it also accepts schemas of which no grammar can be made. It is safe for concurrent use;
// the zero Validator is for a tool without parameters.
type Validator struct{ compiled *jsonschema.Schema }

// Compile returns a Validator for a JSON Schema. References must stay within the schema.
func Compile(parameters []byte) (Validator, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(parameters))
	if err != nil {
		return Validator{}, fmt.Errorf("it is not JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // no files and no network
	c.UseRegexpEngine(pattern)
	c.AssertFormat()
	err = c.AddResource(schemaURL, document)
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = c.Compile(schemaURL)
	}
	if err != nil {
		return Validator{}, fmt.Errorf("it is not a JSON Schema: %.300s", oneLine(err))
	}
	return Validator{compiled}, nil
}

// schemaURL names a schema while it is compiled; it is never fetched.
const schemaURL = "tool:///parameters"

// Validate returns why the arguments of a call are invalid, or nil: they must be a JSON object that
// matches the schema, including its formats. If checking would take very long, they are accepted;
// the provider of the tool checks again.
func (v Validator) Validate(arguments string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
	if err != nil {
		return fmt.Errorf("they are not JSON: %w", err)
	}
	object, ok := value.(map[string]any)
	switch {
	case !ok:
		return errors.New("they are not a JSON object")
	case v.compiled == nil && len(object) > 0:
		return errors.New("the tool has no parameters; {} is allowed")
	case v.compiled == nil:
		return nil
	}
	if !affordable(v.compiled, value) {
		return nil
	}
	err = v.compiled.Validate(value)
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return errors.New(faults(invalid))
	}
	return err
}

// maxFaults is how many faults of one call are reported; a model makes no use of more.
const maxFaults = 3

// faults joins the innermost faults with their positions.
func faults(e *jsonschema.ValidationError) string {
	var texts []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, inner := range e.Causes {
			walk(inner)
		}
		if text := oneLine(e); len(e.Causes) == 0 && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	walk(e)
	return strings.Join(texts[:min(len(texts), maxFaults)], "; ")
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// maxPattern is the longest pattern that is checked; the program of a longer one may take
// megabytes.
const maxPattern = 500

// pattern compiles patterns that Go supports. Others (lookahead, back references) match everything;
// the provider of the tool checks again.
func pattern(text string) (jsonschema.Regexp, error) {
	if len(text) <= maxPattern {
		if r, err := regexp.Compile(text); err == nil {
			return r, nil
		}
	}
	return anyPattern(text), nil
}

type anyPattern string

func (anyPattern) MatchString(string) bool { return true }
func (p anyPattern) String() string        { return string(p) }
