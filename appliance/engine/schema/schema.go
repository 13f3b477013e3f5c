// Package schema prepares a tool's parameters, a JSON Schema, for a small language model: a grammar
// of their names and types, and full validation against the schema.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// maxBytes limits the text of a schema, and maxGrammar the grammar made of it: the library parses
// 128 kB of grammar in some 20 ms, for each call that is generated.
const (
	maxBytes   = 64 << 10
	maxGrammar = 128 << 10
)

// Parameters are the parameters of one tool. They are safe for concurrent use.
type Parameters struct {
	// Arguments are the properties that a call may have, in the order of the schema.
	Arguments []Argument
	Validator
	grammar string
}

// Argument is one of a tool's parameters.
type Argument struct {
	Name        string
	Description string // from its schema; may be empty
	Required    bool
	Type        string            // "string", "integer" …; empty if there are several or none
	Format      string            // of strings: "date" …
	Enum        []json.RawMessage // the allowed values; nil: any
	Default     json.RawMessage   // nil: none
	Schema      json.RawMessage
}

// Chosen reports whether the model chooses the value, even if nobody has said it: an enum, a
// boolean, or a value that the description says to infer.
func (a Argument) Chosen() bool {
	return len(a.Enum) > 0 || a.Type == "boolean" || SaysToInfer(a.Description)
}

// SaysToInfer reports whether a description says that the value follows from others.
func SaysToInfer(description string) bool { return infers.MatchString(description) }

var infers = regexp.MustCompile(`(?i)\b(?:infer|deduce|derive|guess|estimate)\b|\bdefaults? (?:to|is|value)\b`)

// Error is the reason why a tool cannot be called.
type Error struct {
	Tool string
	At   string // position in its parameters, such as "parameters.type"
	Why  string
}

func (e *Error) Error() string {
	return fmt.Sprintf("the tool %q cannot be called: %s: %s", e.Tool, e.At, e.Why)
}

// Check returns why a model on the box cannot call a tool with these parameters (an *Error), or
// nil. Models on other servers may be able to.
func Check(tool string, parameters []byte) error {
	_, err := Read(tool, parameters)
	return err
}

// Read parses the JSON Schema of an object; an empty one is a tool without parameters. The error is
// an *Error.
func Read(tool string, parameters []byte) (*Parameters, error) {
	p := &Parameters{grammar: "root ::= \"{}\"\n"}
	if len(bytes.TrimSpace(parameters)) == 0 {
		return p, nil
	}
	fail := func(at, format string, args ...any) (*Parameters, error) {
		return nil, &Error{tool, at, fmt.Sprintf(format, args...)}
	}
	if len(parameters) > maxBytes {
		return fail("parameters", "it has %d bytes: at most %d are allowed", len(parameters), maxBytes)
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

// Grammar returns the grammar of a call's arguments, in GBNF with the rule "root". It allows null
// for required arguments, which a model writes if nobody said a value.
func (p *Parameters) Grammar() string { return p.grammar }
