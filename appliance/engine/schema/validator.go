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

// Validator tells whether the arguments of a call fit the parameters of a tool,
// whoever's model wrote them: it takes schemas too of which no grammar is made.
// It may be used from many goroutines; the zero Validator is of a tool without
// parameters.
type Validator struct{ compiled *jsonschema.Schema }

// Compile makes a Validator of a JSON Schema. What the schema refers to has to be
// in it.
func Compile(parameters []byte) (Validator, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(parameters))
	if err != nil {
		return Validator{}, fmt.Errorf("it is no JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // it reads no files and asks no network
	c.UseRegexpEngine(pattern)
	c.AssertFormat()
	err = c.AddResource(schemaURL, document)
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = c.Compile(schemaURL)
	}
	if err != nil {
		return Validator{}, fmt.Errorf("it is no JSON Schema: %.300s", oneLine(err))
	}
	return Validator{compiled}, nil
}

// schemaURL names a schema while it is read; nothing lies there.
const schemaURL = "tool:///parameters"

// Validate says what is wrong with the arguments of a call, or nil: they are a JSON
// object that fits the schema, with the formats that it names. Where finding that
// out would take very long, they fit: whoever runs the tool looks again.
func (v Validator) Validate(arguments string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
	if err != nil {
		return fmt.Errorf("they are no JSON: %w", err)
	}
	object, ok := value.(map[string]any)
	switch {
	case !ok:
		return errors.New("they are no JSON object")
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

// maxFaults are said of one call; a model makes no use of more.
const maxFaults = 3

// faults are the ends of a nest of faults, each with its place.
func faults(e *jsonschema.ValidationError) string {
	var said []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, inner := range e.Causes {
			walk(inner)
		}
		if text := oneLine(e); len(e.Causes) == 0 && !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	walk(e)
	return strings.Join(said[:min(len(said), maxFaults)], "; ")
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// maxPattern is the longest pattern that is tried; the program of a longer one
// may take megabytes.
const maxPattern = 500

// pattern takes those that Go knows; others (looking ahead, back references)
// allow everything: whoever runs the tool looks again.
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
