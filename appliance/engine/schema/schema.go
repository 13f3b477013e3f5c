// Package schema makes of a tool's parameters, a JSON Schema, what a small
// language model needs to fill them in: a grammar of their names and kinds, and a
// check of all that the schema asks for.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
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
	return len(a.Enum) > 0 || a.Type == "boolean" || SaysToInfer(a.Description)
}

// SaysToInfer reports whether a description says that a value follows from others.
func SaysToInfer(description string) bool { return infers.MatchString(description) }

var infers = regexp.MustCompile(`(?i)\b(?:infer|deduce|derive|guess|estimate)\b|\bdefaults? (?:to|is|value)\b`)

// Error is what keeps a tool from being called.
type Error struct {
	Tool string
	At   string // the place in its parameters, such as "parameters.type"
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
	p := &Parameters{grammar: "root ::= \"{}\"\n"}
	if len(bytes.TrimSpace(parameters)) == 0 {
		return p, nil
	}
	fail := func(at, format string, args ...any) (*Parameters, error) {
		return nil, &Error{tool, at, fmt.Sprintf(format, args...)}
	}
	if len(parameters) > maxBytes {
		return fail("parameters", "it has %d bytes; at most %d are read", len(parameters), maxBytes)
	}
	var err error
	if p.Validator, err = Compile(parameters); err != nil {
		return fail("parameters", "%v", err)
	}
	w := newWriter(parameters)
	top := w.resolve(parameters)
	if types := top.types(); len(types) > 0 && !slices.Contains(types, "object") {
		return fail("parameters.type",
			"%q is not allowed at the top; \"object\" is, with the arguments as its properties",
			types[0])
	}
	if name := top.unknown(); name != "" {
		return fail("parameters.required", "%q is none of the properties", name)
	}
	for _, name := range top.Properties.names {
		p.Arguments = append(p.Arguments, w.argument(name, top))
	}
	if p.grammar = w.write(top); len(p.grammar) > maxGrammar {
		return fail("parameters", "it makes a grammar of more than %d bytes; allow fewer properties or values",
			maxGrammar)
	}
	return p, nil
}

// Grammar is what a call's arguments follow, in GBNF with the rule "root". It has null
// for required arguments: a model writes it where it was not told a value.
func (p *Parameters) Grammar() string { return p.grammar }
