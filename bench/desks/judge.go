package desks

import (
	"slices"
	"strings"

	"parley/appliance/text"
)

// Verdict is what an answer is worth.
type Verdict string

// Verdicts. Partly is an answer that is true as far as it goes and lacks a part,
// or begins with the wrong one of yes and no and then says what is so.
const (
	Right  Verdict = "right"
	Partly Verdict = "partly"
	Wrong  Verdict = "wrong"
)

// Judge says what an answer to q is worth, and why where it is not right.
func (d Desk) Judge(q Question, answer string) (Verdict, string) {
	said := " " + text.Digits(dollars(answer)) + " "
	if strings.TrimSpace(said) == "" {
		return Wrong, "says nothing"
	}
	for _, n := range q.Not {
		if holds(said, n) {
			return Wrong, "says " + n
		}
	}
	if n := d.invents(q, answer); n != "" {
		return Wrong, "invents " + n
	}
	if why := contradicts(q.Says, relevant(q.Says, answer, said)); why != "" {
		if begun, rest := yesOrNo(said); begun && contradicts(q.Says, rest) == "" && holdsBeyondYesNo(q, rest) {
			return Partly, why
		}
		return Wrong, why
	}
	var lacks []string
	for _, h := range q.Hold {
		if !holds(said, h) {
			lacks = append(lacks, h)
		}
	}
	switch {
	case len(lacks) == 0:
		return Right, ""
	case len(lacks) < len(q.Hold):
		return Partly, "lacks " + strings.Join(lacks, ", ")
	}
	return Wrong, "lacks " + strings.Join(lacks, ", ")
}

// relevant is the part of an answer that says yes or no: where yes is right, its
// first clause, for what follows may be an exception.
func relevant(want, answer, said string) string {
	if want != says.yes {
		return said
	}
	clause, _, _ := strings.Cut(answer, ";")
	clause, _, _ = strings.Cut(clause, ". ")
	return " " + text.Digits(clause) + " "
}

// dollars writes "$3" as "3 dollars".
func dollars(s string) string {
	for {
		before, after, found := strings.Cut(s, "$")
		if !found {
			return s
		}
		end := strings.IndexFunc(after, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' })
		if end < 0 {
			end = len(after)
		}
		number := strings.TrimRight(after[:end], ".,")
		s = before + number + " dollars" + after[len(number):]
	}
}

// holds tells whether said, in digits and with a space at either end, has one of
// the ways to say something.
func holds(said, ways string) bool {
	for way := range strings.SplitSeq(ways, "|") {
		word, open := strings.CutSuffix(way, "*")
		word = " " + text.Digits(word)
		if !open {
			word += " "
		}
		if strings.Contains(said, word) {
			return true
		}
	}
	return false
}

// holdsBeyondYesNo tells whether an answer holds what is asked for by more than
// the words yes and no.
func holdsBeyondYesNo(q Question, said string) bool {
	return slices.ContainsFunc(q.Hold, func(h string) bool {
		for way := range strings.SplitSeq(h, "|") {
			if way != "yes" && way != "no" && way != "not" && way != "can" && holds(said, way) {
				return true
			}
		}
		return false
	})
}

// invents returns a number of the answer that the desk was not told, that the
// visitor did not say, and that is not part of the right answer.
func (d Desk) invents(q Question, answer string) string {
	known := map[float64]bool{0: true, 1: true}
	for _, told := range append(append(append([]string{q.Ask}, d.Facts...), q.Hold...), d.Role) {
		for _, n := range text.Numbers(told) {
			known[n.Value] = true
			if n.Value > 12 && n.Value <= 24 {
				known[n.Value-12] = true // 17:45 is said "5:45"
			}
			if n.Value <= 12 {
				known[n.Value+12] = true
			}
		}
	}
	for _, n := range text.Numbers(answer) {
		if !known[n.Value] {
			return text.Digits(strings.TrimSpace(n.Before + " " + plainNumber(n) + " " + n.After))
		}
	}
	return ""
}

func plainNumber(n text.Number) string {
	if n.Spelt != "" {
		return n.Spelt
	}
	return strings.TrimRight(strings.TrimRight(formatted(n.Value), "0"), ".")
}
