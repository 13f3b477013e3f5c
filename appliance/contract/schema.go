package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// schema parses a text that is a JSON schema (https://json-schema.org; draft
// 2020-12 unless it names another): the parameters of a tool.
func (o object) schema(name string, most int) string {
	noted := len(*o.problems)
	text := o.textOrNil(name, most)
	if text == nil || len(*o.problems) > noted {
		return ""
	}
	if why := schemaProblem(*text); why != "" {
		o.note(name, "wrong_value", why)
	}
	return *text
}

// schemaURL is the URL of a schema while it is checked; nothing is loaded from
// it. It has a folder, to distinguish the schema from a file that it refers to.
const (
	schemaURL    = schemaFolder + "parameters"
	schemaFolder = "tool:///"
)

// schemaProblem returns why text is not a JSON schema, and where, or "".
func schemaProblem(text string) string {
	if strings.TrimSpace(text) == "" {
		return `not a JSON schema: it is empty; a tool without parameters has {"type":"object"}`
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return "not a JSON schema: its text is not valid JSON: " + err.Error()
	}
	if _, ok := document.(map[string]any); !ok {
		return fmt.Sprintf("not a JSON schema: expected an object as text, got %q", Clip(text))
	}
	if why := tooComplex(document, 0, new(int)); why != "" {
		return "not a usable JSON schema: " + why
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // a schema loads no files and no URLs
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

// Both limits are far above what a model can fill in. The check recurses, and
// its time grows with the square of the parts.
const (
	maxSchemaDepth = 200
	maxSchemaParts = 5000 // objects and booleans, each of which may be a schema
)

// tooComplex returns what would keep the check busy forever: endless nesting, too
// many parts, or a number such as 1e999999999, whose digits would exhaust memory.
func tooComplex(v any, depth int, parts *int) (why string) {
	var inner []any
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err != nil || len(v) > maxDigits ||
			f == 0 && strings.ContainsAny(v.String(), "123456789") {
			return fmt.Sprintf("the number %s is out of range", Clip(v.String()))
		}
	case bool:
		*parts++
	case map[string]any:
		*parts++
		inner = slices.Collect(maps.Values(v))
	case []any:
		inner = v
	}
	if depth > maxSchemaDepth {
		return fmt.Sprintf("it is nested more than %d deep", maxSchemaDepth)
	}
	if *parts > maxSchemaParts {
		return fmt.Sprintf("it has more than %d parts", maxSchemaParts)
	}
	for _, in := range inner {
		if why := tooComplex(in, depth+1, parts); why != "" {
			return why
		}
	}
	return ""
}

// maxDigits is more than a float64 distinguishes.
const maxDigits = 40

// schemaFault returns what is wrong and its path: of a tree of causes the leaves,
// one for each path.
func schemaFault(err error) string {
	if elsewhere, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return fmt.Sprintf("it refers to %q; all of it must be in the text",
			Clip(strings.TrimPrefix(elsewhere.URL, schemaFolder)))
	}
	broken, _ := errors.AsType[*jsonschema.SchemaValidationError](err)
	if broken == nil {
		return clipTo(maxCauseChars, strings.ReplaceAll(err.Error(), schemaURL, "it"))
	}
	root, ok := errors.AsType[*jsonschema.ValidationError](broken.Err)
	if !ok {
		return clipTo(maxCauseChars, strings.ReplaceAll(broken.Err.Error(), schemaURL, "it"))
	}
	causes := map[string]string{}
	gatherCauses(root, nil, causes)
	said := slices.Sorted(maps.Keys(causes))
	for i, place := range said {
		said[i] = causes[place]
	}
	return strings.Join(said[:min(len(said), maxCauses)], "; ")
}

const (
	maxCauses     = 3   // one line is read, several are not
	maxCauseChars = 240 // of one cause, which may repeat a pattern
)

// gatherCauses collects the leaves of e, one for each path. The paths of causes
// within a field's name start at that name, so they are relative to at.
func gatherCauses(e *jsonschema.ValidationError, at []string, causes map[string]string) {
	where := slices.Concat(at, e.InstanceLocation)
	if _, name := e.ErrorKind.(*kind.PropertyNames); name {
		at = where
	}
	for _, inner := range e.Causes {
		gatherCauses(inner, at, causes)
	}
	place := strings.Join(where, "/")
	if len(e.Causes) == 0 && causes[place] == "" {
		said := *e
		said.InstanceLocation = where
		causes[place] = clipTo(maxCauseChars, said.Error())
	}
}

// compilePattern parses the pattern of a schema (ECMA-262). It does not compile
// it, because nothing is matched here, and the program of a pattern such as
// a{999} is a thousand times as long as the pattern. Constructs that Go does not
// support (lookahead, back references) are accepted.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	if len(pattern) > maxPattern {
		return unmatched(pattern), nil
	}
	_, err := syntax.Parse(pattern, syntax.Perl)
	if fault, ok := errors.AsType[*syntax.Error](err); ok {
		switch fault.Code {
		case syntax.ErrInvalidPerlOp, syntax.ErrInvalidEscape, syntax.ErrInvalidNamedCapture,
			syntax.ErrInvalidRepeatSize:
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	return unmatched(pattern), nil
}

// maxPattern is the length in bytes of the longest pattern that is parsed: each
// \pL in it takes kilobytes then.
const maxPattern = 2000

// unmatched is a pattern that is never matched.
type unmatched string

func (unmatched) MatchString(string) bool { return true }
func (p unmatched) String() string        { return string(p) }
