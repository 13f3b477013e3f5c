package language

import "strings"

// An English sentence that begins with a determiner begins with its subject, and
// is not over before it has a verb of its own ("The party you are trying to
// reach"). Which word is one cannot be known from the word alone; where it may
// be one it is taken for one, so that few whole sentences are waited for.
var (
	englishDeterminers = setOf(languages["en"].determiners)
	// englishVerbs are the commonest forms of verbs that have no ending of their own.
	englishVerbs = setOf(languages["en"].verbs)
	// englishSubjects are who may have a verb within a clause that only says more
	// of a noun.
	englishSubjects = setOf(languages["en"].subjects)
)

func setOf(words []string) map[string]bool {
	all := map[string]bool{}
	for _, w := range words {
		all[w] = true
	}
	return all
}

// englishLacksVerb reports whether a sentence, as normal writes it, begins with
// its subject and has no verb for that yet.
func englishLacksVerb(sentence string) bool {
	words := strings.Fields(sentence)
	if len(words) < 3 || len(words) > longestClause || !englishDeterminers[words[0]] {
		return false
	}
	verbs, last := 0, noVerb
	for i, w := range words[2:] { // a determiner's neighbour is a noun, or says which
		before, kind := words[i+1], noVerb
		switch {
		case englishSubjects[w]:
			verbs-- // its verb is not the sentence's
		case englishDeterminers[before] || before == "of":
		case englishVerbs[w]:
			kind = finite
		case strings.HasSuffix(w, "ed"):
			kind = participle
		case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && w != "this":
			kind = finite
		}
		if kind != noVerb && (last == noVerb || last == participle && kind == finite) { // "have called" is one
			verbs++
		}
		last = kind
	}
	return verbs <= 0
}

// What a word may be of a verb.
const (
	noVerb = iota
	finite
	participle
)
