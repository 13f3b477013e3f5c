package language

import "strings"

// An English sentence that begins with a determiner begins with its subject, and
// is not over before it has a verb of its own ("The party you are trying to
// reach"). Which word is one cannot be known from the word alone; where it may
// be one it is taken for one, so that few whole sentences are waited for.
var (
	englishDeterminers = wordSet(
		"the a an all each every both another any some no most many my your his her its our their these those")
	// englishVerbs are the commonest forms of verbs that have no ending of their own.
	englishVerbs = wordSet(
		"is are was were am be has have had do does did can could will would shall should may might must " +
			"isn aren wasn weren hasn haven hadn don doesn didn can couldn won wouldn shouldn cannot s re ve ll d m " +
			"go went come came get got make made take took give gave say said tell told see saw know knew think " +
			"thought " +
			"find found want need like " +
			"let put keep kept leave left lose lost break broke fall fell run ran feel felt meet met pay paid send " +
			"sent " +
			"stand stood win write wrote " +
			"begin began become became bring brought buy bought sell sold speak spoke start stop work look seem help " +
			"call close open cost hurt read " +
			"eat ate drink drank sit sat sleep slept show hear heard hold held lead led mean meant grow grew drive " +
			"drove " +
			"build built try play live turn move happen")
	// englishSubjects are who may have a verb within a clause that only says more
	// of a noun.
	englishSubjects = wordSet("i you he she we they it who that which")
)

func wordSet(words string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
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
