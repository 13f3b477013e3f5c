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
	Validator
	grammar string
	gaps    string // the grammar with gaps
}

// Argument is one of a tool's parameters.
type Argument struct {
	Name        string
	Description string // as its schema has it; may be empty
	Required    bool
	Type        string            // "string", "integer" …; empty where there are several or none
	Format      string            // "date" …; of strings
	Enum        []json.RawMessage // the values that are allowed; nil: others too
	Default     json.RawMessage   // nil: there is none
	Schema      json.RawMessage
}

// Chosen reports whether whoever calls the tool chooses the value, also where nobody
// has said it: one of several, yes or no, or what the description says to infer.
func (a Argument) Chosen() bool {
	return len(a.Enum) > 0 || a.Type == "boolean" || Infers(a.Description)
}

// Infers reports whether a description says that a value follows from others.
func Infers(description string) bool { return infers.MatchString(description) }

var infers = regexp.MustCompile(`(?i)\b(?:infer|deduce|derive|guess|estimate)\b|\bdefaults? (?:to|is|value)\b`)

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
	var err error
	w := writer{whole: parameters, used: map[string]bool{}}
	if p.grammar, err = w.write(); err != nil {
		return fail(root, err)
	}
	gaps := writer{whole: parameters, used: map[string]bool{}, gaps: true}
	if p.gaps, err = gaps.write(); err != nil {
		return fail(root, err)
	}
	if p.Validator, err = Compile(parameters); err != nil {
		return fail(root, err)
	}
	p.Arguments = w.arguments
	return p, nil
}

// Grammar is what a call's arguments follow, in GBNF with the rule "root".
func (p *Parameters) Grammar() string { return p.grammar }

// GrammarWithGaps is the same with null for required arguments: a model writes it
// where it was not told a value.
func (p *Parameters) GrammarWithGaps() string { return p.gaps }
