package answers

import (
	"slices"
	"strings"
)

const (
	// maxDependentWords is the most content words of a question that may need the question before it.
	maxDependentWords = 3

	// pronouns stand for something that was said before: "how much is it?"
	pronouns = " it its that this they them there those these one ones he she him her his their "
	// complete begins a question that makes sense alone: "who was Bach?"
	complete = " who what when where which why how whose is are was were do does did can could will would may should " +
		"have has i tell give show please "
)

// dependent reports whether the words of a question may only make sense with the question before, in English: they
// refer to something ("how much is it?"), ask about something else ("what about Sundays?"), or are no whole question
// ("and on Sundays?").
func dependent(q Question) bool {
	words := strings.Fields(Normal(q.Text))
	if q.BeforeUser == "" || len(words) == 0 || len(contentWords(q.Text)) > maxDependentWords {
		return false
	}
	is := func(list string) func(string) bool {
		return func(w string) bool { return strings.Contains(list, " "+w+" ") }
	}
	if slices.ContainsFunc(words, is(pronouns)) || !is(complete)(words[0]) {
		return true
	}
	return len(words) > 2 && (words[0] == "what" || words[0] == "how") && words[1] == "about"
}
