package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema reads a text that is a JSON schema (https://json-schema.org; draft
// 2020-12 unless it names another): the parameters of a tool.
func (o object) schema(name string, most int) string {
	noted := len(*o.problems)
	text := o.textOrNil(name, most)
	if text == nil || len(*o.problems) > noted {
		return ""
	}
	if why := notASchema(*text); why != "" {
		o.note(name, "wrong_value", why)
	}
	return *text
}

// schemaURL names a schema while it is looked at; nothing lies there.
const schemaURL = "tool:parameters"

// notASchema says why text is no JSON schema, and where in it, or nothing.
func notASchema(text string) string {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return "not a JSON schema: its text is not valid JSON: " + err.Error()
	}
	if _, ok := document.(map[string]any); !ok {
		return fmt.Sprintf("not a JSON schema: expected an object as text, got %q", clip(text))
	}
	if why := unusable(document, 0); why != "" {
		return "not a JSON schema to use: " + why
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // a schema reads no files and asks no network
	c.UseRegexpEngine(compilePattern)
	err = c.AddResource(schemaURL, document)
	if err == nil {
		_, err = c.Compile(schemaURL)
	}
	if err == nil {
		return ""
	}
	return "not a JSON schema: " + schemaFault(err)
}

// maxSchemaDepth is far above what a model can fill in; the check recurses.
const maxSchemaDepth = 200

// unusable says what would keep the check busy for ever: a nest without end, or
// a number whose digits fill the memory, as those of 1e999999999 do.
func unusable(v any, depth int) (why string) {
	var inner []any
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err != nil || len(v) > maxDigits || f == 0 && strings.ContainsAny(v.String(), "123456789") {
			return fmt.Sprintf("the number %s is out of range", clip(v.String()))
		}
	case map[string]any:
		inner = slices.Collect(maps.Values(v))
	case []any:
		inner = v
	}
	if depth > maxSchemaDepth {
		return fmt.Sprintf("it is nested more than %d deep", maxSchemaDepth)
	}
	for _, in := range inner {
		if why := unusable(in, depth+1); why != "" {
			return why
		}
	}
	return ""
}

// maxDigits of a number are more than a float64 tells apart.
const maxDigits = 40

// schemaFault says what is wrong and the way to it: of a nest of causes those
// at its ends, one for each place.
func schemaFault(err error) string {
	if elsewhere, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return fmt.Sprintf("it refers to %q; all of it must be in the text", clip(elsewhere.URL))
	}
	broken, _ := errors.AsType[*jsonschema.SchemaValidationError](err)
	if broken == nil {
		return strings.ReplaceAll(err.Error(), schemaURL, "it")
	}
	root, ok := errors.AsType[*jsonschema.ValidationError](broken.Err)
	if !ok {
		return strings.ReplaceAll(broken.Err.Error(), schemaURL, "it")
	}
	causes := map[string]string{}
	gatherCauses(root, causes)
	said := slices.Sorted(maps.Keys(causes))
	for i, place := range said {
		said[i] = causes[place]
	}
	return strings.Join(said[:min(len(said), mostCauses)], "; ")
}

// mostCauses are said; what fits on a line is what gets read.
const mostCauses = 3

func gatherCauses(e *jsonschema.ValidationError, causes map[string]string) {
	for _, inner := range e.Causes {
		gatherCauses(inner, causes)
	}
	place := strings.Join(e.InstanceLocation, "/")
	if len(e.Causes) == 0 && causes[place] == "" {
		causes[place] = e.Error()
	}
}

// compilePattern takes the patterns of ECMA-262, which JSON schemas are written
// in. What Go's do not know of them (looking ahead, back references) is taken as
// it stands.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(pattern)
	if fault, ok := errors.AsType[*syntax.Error](err); ok {
		switch fault.Code {
		case syntax.ErrInvalidPerlOp, syntax.ErrInvalidEscape, syntax.ErrInvalidNamedCapture, syntax.ErrInvalidRepeatSize:
			return anyText(pattern), nil
		}
	}
	if err != nil {
		return nil, err
	}
	return re, nil
}

// anyText stands for a pattern that cannot be tried.
type anyText string

func (anyText) MatchString(string) bool { return true }
func (p anyText) String() string        { return string(p) }
