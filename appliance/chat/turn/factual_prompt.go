package turn

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minSigns is how many signs of facts a prompt has if it states facts. Many prompts that only say who
	// speaks and how have one or two ("You are Mia, 30 years old").
	minSigns = 3
	// minListed is how many list items make a prompt factual, with or without signs.
	minListed = 3
	// maxScanned is how many bytes of a prompt are scanned for facts.
	maxScanned = 20_000
)

// signWords are words that are signs of facts: numbers in hours, prices and ages (not one, two and three,
// which count the sentences of an answer), words for opening hours and costs, and the word fact itself.
const signWords = " four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen " +
	"eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand noon midnight " +
	"fact facts open opens opening close closed closes free cost costs euro euros dollar dollars pound pounds cent " +
	"cents franc francs " +
	"monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays " +
	"saturdays sundays "

var (
	// states matches a sentence that says how something is, rather than how to be or to speak.
	states = regexp.MustCompile(`(?i)^(?:the|our|we|there|all|every|each|no)\b.*\b(?:is|are|has|have|costs?|opens?|` +
		`closes?|takes?|can|cannot|must|may|offers?|sells?|allowed)\b`)
	// listener matches a sentence that is about the conversation after all.
	listener = regexp.MustCompile(`(?i)^(?:the|our|all|every|each|no)\s+(?:\w+\s+)?(?:users?|callers?|customers?|` +
		`visitors?|guests?|clients?|persons?|people|conversations?|answers?|repl(?:y|ies)|assistants?|tone|names?)\b`)
	sentence = regexp.MustCompile(`[.!?;:]\s+|\n`)
)

// factual reports whether a prompt states facts: it has a list, or several signs of facts, which are numbers,
// currencies, days, words such as "open", and sentences that say how something is. A small model that is not
// bound to facts makes things up, and one that is bound to facts that are not there knows nothing. In doubt,
// a prompt is factual.
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

// signs counts the signs of facts in a prompt, up to about minSigns.
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
