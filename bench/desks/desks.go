// Package desks holds the questions that visitors and callers ask at twelve
// invented desks, and of the box itself, the facts that each desk was told, and what a right answer
// holds; and it judges answers by that.
package desks

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.json
var invented embed.FS

// Kinds of questions.
const (
	Plain     = "plain"     // a time, a price or a place, in the fact's own words
	Words     = "words"     // the same in other words than the fact's
	Exception = "exception" // where the exception holds, not the rule
	Yes       = "yes"       // yes or no, and yes is right
	No        = "no"        // yes or no, and no is right
	Unknown   = "unknown"   // not in the facts
	Sum       = "sum"       // several prices together
	Way       = "way"       // where, who and when
	Edge      = "edge"      // yes or no, at the edge of a rule
	Asked     = "asked"     // for something that the desk cannot do or was not told of
	Self      = "self"      // who the assistant is: of the box itself, which is no desk
)

var Kinds = []string{Plain, Words, Exception, Yes, No, Unknown, Sum, Way, Edge, Asked, Self}

// A Desk is a place where questions are asked.
type Desk struct {
	Name string `json:"name"`
	// Role says who speaks, as the first words of a prompt.
	Role  string   `json:"role"`
	Facts []string `json:"facts"`
	// Own is the box itself, with its own prompt: it has neither role nor facts.
	Own bool `json:"own"`
	// Prose has the facts stand in one paragraph, as people write who have read no
	// advice, in place of one a line.
	Prose     bool       `json:"prose"`
	Examples  []Example  `json:"examples"`
	Questions []Question `json:"questions"`
}

// Example is a question with the answer that the desk's owner would give.
type Example struct {
	User      string `json:"user"`
	Assistant string `json:"assistant"`
}

// A Question is one that is asked at a desk.
type Question struct {
	Kind string `json:"kind"`
	Ask  string `json:"ask"`
	// Says is what the answer has to say, all in all: yes, no, unknown (that the
	// desk was not told), cannot (that it does no such thing); empty: no matter.
	Says string `json:"says"`
	// Hold is what a right answer has to hold, each of several ways to say it
	// with | between; numbers in digits, and a * for how a word may go on. Not is
	// what makes it wrong.
	Hold []string `json:"hold"`
	Not  []string `json:"not"`

	// Held is kept out of all tuning: prompts, examples and rules were made
	// without looking at what was answered to it.
	Held bool `json:"held"`
}

// All are the invented desks, in order.
func All() ([]Desk, error) { return read(invented) }

// read reads the desks in a folder.
func read(from fs.FS) ([]Desk, error) {
	names, err := fs.Glob(from, "*.json")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var all []Desk
	for _, name := range names {
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, err
		}
		d, err := parse(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, d)
	}
	return all, nil
}

func parse(data []byte) (d Desk, err error) {
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&d); err != nil {
		return d, err
	}
	if !d.Own && (d.Role == "" || len(d.Facts) == 0) || len(d.Questions) == 0 {
		return d, fmt.Errorf("a desk has a role, facts and questions; the box itself has questions")
	}
	for _, q := range d.Questions {
		if q.Ask == "" || !slices.Contains(Kinds, q.Kind) || len(q.Hold) == 0 && q.Says == "" {
			return d, fmt.Errorf("question %q: it has a kind (%s), words, and what a right answer says or holds", q.Ask,
				strings.Join(Kinds, ", "))
		}
	}
	return d, nil
}

// Prompt is what the desk's owner writes for the assistant: who it is, and the
// facts, one a line or as prose.
func (d Desk) Prompt() string {
	if d.Prose {
		return d.Role + " " + strings.Join(d.Facts, " ")
	}
	return d.Role + "\n\nFacts:\n- " + strings.Join(d.Facts, "\n- ")
}
