package clerk

import (
	"regexp"
	"slices"
	"sync"

	"parley/appliance/text"
)

// negative are words by which a clause refuses something.
const negative = "no not cannot never none nowhere nobody only closed without n't don't doesn't isn't aren't can't won't mustn't"

var clauseEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[,;:]| but | though | except `) })

// clausesIn are the clauses of a line, each with what it is about.
func clausesIn(s string) []line {
	var out []line
	for _, c := range clauseEnd().Split(s, -1) {
		out = append(out, line{text: c, stems: stems(c)})
	}
	return out
}

// refused reports whether the clause that has most of a question's words refuses
// something, and no other line has one with as many. Of two clauses of a line the
// question is about both: "May my dog run on the lawn?" where dogs are welcome, but
// not on the lawn.
func (d *Desk) refused(asked string) bool {
	all := text.Sentences(asked)
	if !yesOrNo(asked) || slices.ContainsFunc(split(all[len(all)-1]), func(w string) bool { return in(w, negative+" close closes closing shut") }) {
		return false
	}
	about := stems(all[len(all)-1])
	most, of, refuses := 0, 0, false
	for i, l := range d.lines {
		for _, c := range l.clauses {
			n, no := shared(c.stems, about), slices.ContainsFunc(split(c.text), func(w string) bool { return in(w, negative) })
			switch {
			case n > most:
				most, of, refuses = n, i, no
			case n == most && of != i:
				refuses = false
			case n == most:
				refuses = refuses || no
			}
		}
	}
	return most > 0 && refuses
}
