package turn

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minSigns is how many signs of facts a prompt has that holds some. One or two
	// are in many that say who speaks and how ("You are Mia, 30 years old").
	minSigns = 3
	// minListed is how many lines of a list a prompt has that holds facts, with
	// signs of them or without.
	minListed = 3
	// maxScanned is how many bytes of a prompt are looked through for facts.
	maxScanned = 20_000
)

// signWords are words that are signs of facts: in which a prompt gives hours, prices
// and ages (one, two and three are not among them: they count the sentences of an
// answer), of what is open when and what it costs, and what somebody calls facts who
// writes them.
const signWords = " four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen " +
	"eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand noon midnight " +
	"fact facts open opens opening close closed closes free cost costs euro euros dollar dollars pound pounds cent " +
	"cents franc francs " +
	"monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays " +
	"saturdays sundays "

var (
	// states begins a sentence that says how something is, and not how one is to be or
	// to speak.
	states = regexp.MustCompile(`(?i)^(?:the|our|we|there|all|every|each|no)\b.*\b(?:is|are|has|have|costs?|opens?|` +
		`closes?|takes?|can|cannot|must|may|offers?|sells?|allowed)\b`)
	// listener begins one that speaks of the conversation after all.
	listener = regexp.MustCompile(`(?i)^(?:the|our|all|every|each|no)\s+(?:\w+\s+)?(?:users?|callers?|customers?|` +
		`visitors?|guests?|clients?|persons?|people|conversations?|answers?|repl(?:y|ies)|assistants?|tone|names?)\b`)
	sentence = regexp.MustCompile(`[.!?;:]\s+|\n`)
)

// factual reports whether a prompt holds facts: it has a list, or several signs of
// them, which are numbers, currencies, days, words like "open", and sentences that say
// how something is. Held to no facts a small model makes things up, and held to facts
// that are not there it knows nothing, so in doubt there are some.
func factual(prompt string) bool {
	if len(prompt) > maxScanned {
		prompt = strings.ToValidUTF8(prompt[:maxScanned], "")
	}
	listed := 0
	for line := range strings.Lines(prompt) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") ||
			strings.HasPrefix(line, "• ") {
			listed++
		}
	}
	return listed >= minListed || signs(prompt) >= minSigns
}

// signs are the signs of facts that a prompt has, as far as they matter.
func signs(prompt string) (n int) {
	n = strings.Count(prompt, "€") + strings.Count(prompt, "$") + strings.Count(prompt, "£")
	for w := range strings.FieldsFuncSeq(prompt, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if n >= minSigns {
			return n
		}
		first, _ := utf8.DecodeRuneInString(w)
		if unicode.IsDigit(first) || strings.Contains(signWords, " "+strings.ToLower(w)+" ") {
			n++
		}
	}
	for _, s := range sentence.Split(prompt, -1) {
		if s = strings.TrimSpace(s); states.MatchString(s) && !listener.MatchString(s) {
			n++
		}
	}
	return n
}
