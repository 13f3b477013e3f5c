package text

import (
	"regexp"
	"strings"
	"sync"
)

// homographUse is the part of speech of a homograph.
type homographUse int

const (
	unknown homographUse = iota
	verb
	other
)

// contextRule is a pattern of a clause, and the use of the homograph in it.
type contextRule struct {
	clause *regexp.Regexp
	use    homographUse
}

var (
	wordClass = regexp.MustCompile(`<([a-z-]+)>`)

	// contextRules are the rules by list: "_" stands for the homograph in a clause, "~" for
	// adverbs before it, "<be>" for a word of a class, and "+" follows what looks like a
	// plural noun.
	contextRules = sync.OnceValue(func() map[string][]contextRule {
		all := map[string][]contextRule{}
		for _, name := range [...]string{"uses", "uses with s", "uses of read", "uses of lead"} {
			rules := listed("homographs", name)
			for _, pattern := range rules.words {
				expanded := strings.ReplaceAll(pattern, "~", "(?:<adverb> )*")
				if !strings.HasSuffix(pattern, "_") {
					expanded += `\+?(?: |$)`
				}
				expanded = wordClass.ReplaceAllStringFunc(expanded, func(class string) string {
					return listed("homographs", class[1:len(class)-1]).pattern() + `\+?`
				})
				how := map[string]homographUse{"verb": verb, "other": other}[rules.spoken[pattern]]
				all[name] = append(all[name], contextRule{regexp.MustCompile(`(?:^| )(?:` + expanded + `)`), how})
			}
		}
		return all
	})
)

// is reports whether a word belongs to a class.
func is(word, class string) bool { return listed("homographs", class).has(word) }

// use returns the use of homograph i. Its stem is the word without the ending "s".
func (ws positionedWords) use(i int, stem string) homographUse {
	rules := "uses"
	switch {
	case ws[i].lower == "read" || stem == "lead":
		rules = "uses of " + stem
	case stem != ws[i].lower:
		rules = "uses with s"
	}
	clause := ws.clause(i, stem)
	for _, r := range contextRules()[rules] {
		if r.clause.MatchString(clause) {
			return r.use
		}
	}
	return unknown
}

// clause returns the clause of word i in the form that the patterns match; for "lead", the
// whole sentence.
func (ws positionedWords) clause(i int, stem string) string {
	var words []string
	for j := range ws {
		word := ws.at(j, i)
		if stem == "lead" {
			word = ws[j].lower
		}
		several := strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "'s") &&
			!is(word, "compound") && !is(word, "determiner") && !is(word, "be")
		switch {
		case word == "":
			continue
		case j == i:
			word = "_" + stem
		case several:
			word += "+"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
