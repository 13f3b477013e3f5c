package language

import "strings"

// An English sentence that begins with a determiner begins with its subject, and is not complete before it
// has a verb ("The party you are trying to reach"). A single word does not show whether it is a verb. A word
// that may be one counts as one, so that few complete sentences are waited for.
var (
	englishDeterminers = setOf(languages["en"].determiners)
	// englishVerbs are the most common forms of verbs that have no ending of their own.
	englishVerbs = setOf(languages["en"].verbs)
	// englishSubjects are words that may be the subject of a relative clause.
	englishSubjects = setOf(languages["en"].subjects)
)

func setOf(words []string) map[string]bool {
	all := map[string]bool{}
	for _, w := range words {
		all[w] = true
	}
	return all
}

// englishLacksVerb reports whether a normalised sentence begins with its subject and has no verb for it yet.
func englishLacksVerb(sentence string) bool {
	words := strings.Fields(sentence)
	if len(words) < 3 || len(words) > longestClause || !englishDeterminers[words[0]] {
		return false
	}
	verbs, last := 0, noVerb
	for i, w := range words[2:] { // the word after a determiner is a noun, or qualifies one
		before, kind := words[i+1], noVerb
		switch {
		case englishSubjects[w]:
			verbs-- // its verb belongs to a relative clause
		case englishDeterminers[before] || before == "of":
		case englishVerbs[w]:
			kind = finite
		case strings.HasSuffix(w, "ed"):
			kind = participle
		case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && w != "this":
			kind = finite
		}
		if kind != noVerb && (last == noVerb || last == participle && kind == finite) { // "have called" counts as one
			verbs++
		}
		last = kind
	}
	return verbs <= 0
}

// What a word may be as part of a verb.
const (
	noVerb = iota
	finite
	participle
)
