// Package clerk reads the facts of a prompt as somebody at a desk does who has a
// calculator, a calendar and no imagination: what is asked together and what that
// makes, for which ages a rule holds, whether a place is open at an hour. It is
// what small language models get wrong, and costs no time. Where it is not sure it
// says nothing. It reads English.
package clerk

import (
	"strings"

	"parley/appliance/text"
)

// Desk is what is known at a desk.
type Desk struct {
	lines   []line
	numbers []text.Number
	money   money
	all     string // in small letters
	rules   []ageRule
	hours   []hours
	subject map[string]bool // whose desk it is
}

// line is a sentence of the facts.
type line struct {
	text  string
	stems map[string]bool
}

// Read reads the facts of a prompt.
func Read(told string) *Desk {
	d := &Desk{numbers: text.Numbers(told), all: strings.ToLower(told), money: moneyIn(told)}
	for _, s := range text.Sentences(told) {
		d.lines = append(d.lines, line{s, stems(s)})
	}
	if len(d.lines) > 0 {
		d.subject = d.lines[0].stems
	}
	for _, l := range d.lines {
		d.rules = append(d.rules, ageRules(l)...)
		d.hours = append(d.hours, hoursIn(l.text, d.subject)...)
	}
	return d
}

// Leaning is which way an answer goes, as far as that is sure.
type Leaning int

// Leanings.
const (
	Open Leaning = iota // it is not known here
	Yes
	No
	Untold // it is not in the facts
)

// Answers says which way the answer to a question goes. said is what else was said
// in the conversation.
func (d *Desk) Answers(asked, said string) Leaning {
	if d == nil {
		return Open
	}
	if d.untold(asked, said) {
		return Untold
	}
	return d.isOpen(asked)
}
