package contract

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
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
	if depth(document) > maxSchemaDepth {
		return fmt.Sprintf("not a JSON schema to use: it is nested more than %d deep", maxSchemaDepth)
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

func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			deepest = max(deepest, depth(inner))
		}
	case []any:
		for _, inner := range v {
			deepest = max(deepest, depth(inner))
		}
	}
	return deepest + 1
}

// schemaFault says what is wrong and the way to it. The library puts each cause
// on a line "- at '/way': what".
func schemaFault(err error) string {
	if broken, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		err = broken.Err
	}
	var causes []string
	for line := range strings.Lines(err.Error()) {
		if cause, ok := strings.CutPrefix(strings.TrimSpace(line), "- at "); ok && len(causes) < mostCauses {
			causes = append(causes, strings.Replace(cause, "'': ", "", 1))
		}
	}
	if len(causes) == 0 {
		return strings.ReplaceAll(err.Error(), schemaURL, "")
	}
	return strings.Join(causes, "; ")
}

// mostCauses are said; one wrong value often has several.
const mostCauses = 3

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
