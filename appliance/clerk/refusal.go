package clerk

import (
	"regexp"
	"slices"
	"sync"

	"parley/appliance/text"
)

// negative are words by which a clause refuses something.
const negative = "no not cannot never none nowhere nobody only closed without n't don't doesn't isn't aren't can't " +
	"won't mustn't"

var clauseEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[,;:]| but | though | except `) })

// clausesIn are the clauses of a line, each with what it is about.
func clausesIn(s string) []line {
	var out []line
	for _, c := range clauseEnd().Split(s, -1) {
		out = append(out, line{text: c, stems: stems(c)})
	}
	return out
}

// grants are words by which a clause says that something may be.
const grants = "may can allowed welcome permitted possible free"

// leastGranted is how many words of a question a clause has that grants it: "dogs may
// come into the cafe" says nothing of the dog alone.
const leastGranted = 2

// nearest is what the clause says that has most of a question's words, if no other
// line has one with as many. Of two clauses of a line the question is about both:
// "May my dog run on the lawn?" where dogs are welcome, but not on the lawn.
func (d *Desk) nearest(asked string) Leaning {
	all := text.Sentences(asked)
	if !yesOrNo(asked) || slices.ContainsFunc(split(all[len(all)-1]), func(w string) bool {
		return in(w, negative+" close closes closing shut")
	}) {
		return Open
	}
	about := stems(all[len(all)-1])
	most, of, refuses, granted := 0, 0, false, false
	for i, l := range d.lines {
		for _, c := range l.clauses {
			n, words := shared(c.stems, about), split(c.text)
			no := slices.ContainsFunc(words, func(w string) bool { return in(w, negative) })
			yes := !no && slices.ContainsFunc(words, func(w string) bool { return in(w, grants) })
			switch {
			case n > most:
				most, of, refuses, granted = n, i, no, yes
			case n == most && of != i:
				refuses, granted = false, false
			case n == most:
				refuses, granted = refuses || no, granted && yes
			}
		}
	}
	switch {
	case most > 0 && refuses:
		return Refused
	case most >= leastGranted && granted:
		return Granted
	}
	return Open
}
