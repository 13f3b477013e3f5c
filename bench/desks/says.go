package desks

import (
	"strconv"
	"strings"
)

// says are what an answer can say, all in all.
var says = struct{ yes, no, unknown, cannot string }{"yes", "no", "unknown", "cannot"}

// ways to say that something is not known, is not so, or cannot be done.
const (
	unknowing = "not know|n't know|no information|not have information|n't have information|not have any " +
		"information|n't have any information|" +
		"not sure|not told|n't been told|not have that|n't have that|not been told|n't told|cannot say|ca n't " +
		"say|cannot tell|ca n't tell|" +
		"not mention*|n't mention*|not list*|n't list*|not specif*|n't specif*|not provided|no details|not have " +
		"details|n't have details|no record|no mention|not aware|" +
		"not in the facts|not stated|not have specific|n't have specific|not have the|n't have the|not have an " +
		"answer|n't have an answer"
	negating = "no|not|cannot|n't|never|closed|only|nothing|sorry|unfortunately"
	unable   = "cannot|can not|ca n't|not able|n't able|unable|do n't|not possible|n't possible"
)

// contradicts says in which way an answer does not say what it has to; empty:
// in none.
func contradicts(want, said string) string {
	said = strings.ReplaceAll(said, "n't ", " n't ")
	first, _, _ := strings.Cut(strings.TrimSpace(said), " ")
	ignorant := holdsAny(said, unknowing)
	switch want {
	case says.yes:
		if first == "no" || ignorant || first != "yes" && holdsAny(beforeBut(said), negating) {
			return "does not say yes"
		}
	case says.no:
		if first == "yes" || first == "certainly" || first == "sure" || first == "absolutely" {
			return "says yes"
		}
		if ignorant || !holdsAny(said, negating) {
			return "does not say no"
		}
	case says.unknown:
		if first == "yes" || !ignorant {
			return "does not say that it does not know"
		}
	case says.cannot:
		if first == "yes" || first == "sure" || first == "certainly" || !ignorant && !holdsAny(said, unable) {
			return "does not say that it cannot"
		}
	}
	return ""
}

// yesOrNo tells whether an answer begins with one of them, and what follows.
func yesOrNo(said string) (begun bool, rest string) {
	first, rest, _ := strings.Cut(strings.TrimSpace(said), " ")
	return first == "yes" || first == "no", " " + rest + " "
}

// beforeBut is what is said before an exception to it.
func beforeBut(said string) string {
	for _, word := range []string{" but ", " except ", " however "} {
		before, _, _ := strings.Cut(said, word)
		said = before + " "
	}
	return said
}

func holdsAny(said, ways string) bool { return holds(said, ways) }

func formatted(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
