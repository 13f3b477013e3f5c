// Package schema makes of a tool's parameters, a JSON Schema, what a small
// language model needs to fill them in: a grammar that allows only such JSON,
// and a check of what no grammar can say.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxBytes bounds the text of a schema, and maxGrammar what is made of it: the
// library reads 128 kB of grammar in some 20 ms, for each call that is written.
const (
	maxBytes   = 64 << 10
	maxGrammar = 128 << 10
)

// Parameters are those of one tool. They may be used from many goroutines.
type Parameters struct {
	// Arguments are the properties that a call may have, in the order in which
	// they are written down and said.
	Arguments []Argument
	grammar   string
	gaps      string             // the grammar with gaps
	compiled  *jsonschema.Schema // nil: there are no parameters
}

// Argument is one of a tool's parameters.
type Argument struct {
	Name        string
	Description string // as its schema has it; may be empty
	Required    bool
	Type        string            // "string", "integer" …; empty where there are several or none
	Format      string            // "date" …; of strings
	Enum        []json.RawMessage // the values that are allowed; nil: others too
	Schema      json.RawMessage
}

// Error is what keeps a tool from being called.
type Error struct {
	Tool string
	At   string // the place in its parameters, such as "parameters.properties.a.$ref"
	Why  string
}

func (e *Error) Error() string {
	return fmt.Sprintf("the tool %q cannot be called: %s: %s", e.Tool, e.At, e.Why)
}

// Check says why a model on the box could not call a tool with these parameters
// (an *Error), or nil. Other servers' models may be able to.
func Check(tool string, parameters []byte) error {
	_, err := Read(tool, parameters)
	return err
}

// Read makes Parameters of a JSON Schema of an object; none at all is a tool
// without parameters. The error is an *Error.
func Read(tool string, parameters []byte) (*Parameters, error) {
	p := &Parameters{grammar: "root ::= \"{}\"\n", gaps: "root ::= \"{}\"\n"}
	if len(bytes.TrimSpace(parameters)) == 0 {
		return p, nil
	}
	fail := func(at string, why error) (*Parameters, error) {
		if in, ok := errors.AsType[*Error](why); ok {
			in.Tool = tool
			return nil, in
		}
		return nil, &Error{tool, at, why.Error()}
	}
	if len(parameters) > maxBytes {
		return fail(root, fmt.Errorf("it has %d bytes; at most %d are read", len(parameters), maxBytes))
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(parameters))
	if err != nil {
		return fail(root, fmt.Errorf("it is no JSON: %w", err))
	}
	w := writer{whole: parameters, used: map[string]bool{}}
	if p.grammar, err = w.write(); err != nil {
		return fail(root, err)
	}
	gaps := writer{whole: parameters, used: map[string]bool{}, gaps: true}
	if p.gaps, err = gaps.write(); err != nil {
		return fail(root, err)
	}
	if p.compiled, err = compile(document); err != nil {
		return fail(root, fmt.Errorf("it is no JSON Schema: %w", err))
	}
	p.Arguments = w.arguments
	return p, nil
}

// Grammar is what a call's arguments follow, in GBNF with the rule "root".
func (p *Parameters) Grammar() string { return p.grammar }

// GrammarWithGaps is the same with null for required arguments: a model writes it
// where it was not told a value.
func (p *Parameters) GrammarWithGaps() string { return p.gaps }

// Validate says what is wrong with the arguments of a call, or nil: they are a JSON
// object that fits the schema, with the formats that it names.
func (p *Parameters) Validate(arguments string) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments))
	if err != nil {
		return fmt.Errorf("they are no JSON: %w", err)
	}
	object, ok := v.(map[string]any)
	switch {
	case !ok:
		return errors.New("they are no JSON object")
	case p.compiled == nil && len(object) > 0:
		return errors.New("the tool has no parameters; {} is allowed")
	case p.compiled == nil:
		return nil
	}
	err = p.compiled.Validate(v)
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return errors.New(faults(invalid))
	}
	return err
}

// mostFaults are said of one call; a model makes no use of more.
const mostFaults = 3

// faults are the ends of a nest of faults, each with its place.
func faults(e *jsonschema.ValidationError) string {
	var said []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, inner := range e.Causes {
			walk(inner)
		}
		if text := strings.Join(strings.Fields(e.Error()), " "); len(e.Causes) == 0 && !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	walk(e)
	return strings.Join(said[:min(len(said), mostFaults)], "; ")
}

// schemaURL names a schema while it is read; nothing lies there.
const schemaURL = "tool:///parameters"

func compile(document any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // it reads no files and asks no network
	c.UseRegexpEngine(pattern)
	c.AssertFormat()
	if err := c.AddResource(schemaURL, document); err != nil {
		return nil, err
	}
	return c.Compile(schemaURL)
}

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
	return untried(text), nil
}

type untried string

func (untried) MatchString(string) bool { return true }
func (p untried) String() string        { return string(p) }
