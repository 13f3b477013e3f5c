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
	clock   map[int][]string
	rules   []ageRule
	hours   []hours
	offers  []offer
	subject map[string]bool // whose desk it is
}

// line is a sentence of the facts.
type line struct {
	text    string
	stems   map[string]bool
	clauses []line
}

// Read reads the facts of a prompt.
func Read(told string) *Desk {
	d := &Desk{
		numbers: text.Numbers(told),
		all:     strings.ToLower(told),
		money:   moneyIn(told),
		clock:   clockIn(told),
	}
	for _, s := range text.Sentences(told) {
		d.lines = append(d.lines, line{s, stems(s), clausesIn(s)})
	}
	if len(d.lines) > 0 {
		d.subject = d.lines[0].stems
	}
	for i, l := range d.lines {
		d.offers = append(d.offers, offersIn(i, l)...)
		d.rules = append(d.rules, ageRules(l)...)
		d.hours = append(d.hours, hoursIn(inFull(l.text), d.subject)...)
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
	Refused // the fact that is nearest says what is not so: probably no
	Untold  // it is not in the facts
	Granted // the fact that is nearest says that it may be: hardly no
	Errand  // something is to be done, which nobody here can
)

// longest is how many bytes of what somebody says are read: a minute of speech. What
// is longer is no question at a desk.
const longest = 1000

// Answers says which way the answer to a question goes. said is what else was said
// in the conversation.
func (d *Desk) Answers(asked, said string) Leaning {
	if d == nil || len(asked) > longest {
		return Open
	}
	if IsErrand(asked) {
		return Errand
	}
	if d.untold(asked, said) {
		return Untold
	}
	if l := d.isOpen(asked); l != Open {
		return l
	}
	if l := d.allowed(asked); l != Open {
		return l
	}
	return d.nearest(asked)
}

// Wonders reports whether somebody asks for a fact: "Where can I leave my coat?",
// and not "Could you send me a coat?".
func Wonders(asked string) bool {
	if len(asked) > longest {
		return false
	}
	all := text.Sentences(asked)
	if len(all) == 0 {
		return false
	}
	words := split(all[len(all)-1])
	if len(words) < 2 || in(words[0], "can could may might must should") && words[1] == "you" {
		return false
	}
	return in(words[0],
		"where what when how which who whose why is are do does did have has can could may might must should")
}
