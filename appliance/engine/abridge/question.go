package abridge

import (
	_ "embed"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// query is a Question in the form that results are compared with.
type query struct {
	words         []string // significant words, in lower case
	synonyms      []string // field names that mean the same as some of them
	argumentWords []string // words of the argument names
	wantsLink     bool     // it asks for a link
	wantsID       bool     // it asks for a number, a code or the like
	wantsCount    bool     // it asks how many there are
}

// maxQueryWords is how many words of a question count, the last ones of a long speech.
const maxQueryWords = 24

var (
	linkQuestion = regexp.MustCompile(`(?i)\b(links?|urls?|web ?(site|page|address)(e?s)?|homepage)\b`)
	idQuestion   = regexp.MustCompile(
		`(?i)\b(ids?|identifiers?|numbers?|codes?|reference|sku|uuid|hash|serial|token|key|` +
			`nummer|kennung|numéro|número|numero)\b`)
	countQuestion = regexp.MustCompile(
		`(?i)\b(how many|number of|wie ?viele?|combien|cuántos|cuántas|quanti|quante|ile)\b`)
)

// stopWordFile lists words that say nothing about what is asked for.
//
//go:embed stop_words.txt
var stopWordFile string

var stopWords = set(stopWordFile)

// synonymFile lists groups of words that ask for the same thing, with the field names for it.
//
//go:embed synonyms.txt
var synonymFile string

var synonyms = groups(synonymFile)

// groups parses lists of words, one word a line, separated by empty lines.
func groups(text string) (all [][]string) {
	for group := range strings.SplitSeq(text, "\n\n") {
		all = append(all, strings.Fields(group))
	}
	return all
}

// query extracts the words of a question.
func (q Question) query() query {
	a := query{
		wantsLink:  linkQuestion.MatchString(q.Words),
		wantsID:    idQuestion.MatchString(q.Words),
		wantsCount: countQuestion.MatchString(q.Words),
	}
	take := func(text string) {
		for _, w := range wordsOf(text) {
			if !stopWords[w] && !slices.Contains(a.words, w) {
				a.words = append(a.words, w)
			}
		}
	}
	take(q.Words)
	var arguments map[string]any
	if json.Unmarshal([]byte(q.Arguments), &arguments) == nil {
		for _, name := range slices.Sorted(maps.Keys(arguments)) {
			a.argumentWords = append(a.argumentWords, wordsOf(name)...)
			if value, ok := arguments[name].(string); ok {
				take(value)
			}
		}
	}
	a.words = a.words[max(0, len(a.words)-maxQueryWords):]
	spoken := wordsOf(q.Words)
	for i := max(1, len(spoken)-maxQueryWords); i < len(spoken); i++ {
		a.synonyms = append(a.synonyms, spoken[i-1]+spoken[i]) // fields have names such as "headroom" and "zipcode"
	}
	if a.wantsCount {
		a.synonyms = append(a.synonyms, "count", "total", "quantity")
	}
	for _, row := range synonyms {
		if slices.ContainsFunc(row, func(w string) bool { return slices.Contains(spoken, w) }) {
			a.synonyms = append(a.synonyms, row...)
		}
	}
	return a
}

// match returns the index of the question's word of which w is a form; -1: none.
func (q query) match(w string) int {
	return slices.IndexFunc(q.words, func(asked string) bool { return sameWord(asked, w) })
}

const (
	// stem is how many letters two forms of a word share, and ending is how many more one of them
	// may have: "open" and "opening".
	stem   = 4
	ending = 3
)

// sameWord reports whether two words are forms of one word.
func sameWord(a, b string) bool {
	if len(a) == 0 || len(b) == 0 || a[0] != b[0] {
		return false
	}
	if a == b {
		return true
	}
	n, short, long := 0, min(len(a), len(b)), max(len(a), len(b))
	for n < short && a[n] == b[n] {
		n++
	}
	return n >= stem && n >= short-1 && long-n <= ending && !strings.ContainsAny(a+b, "0123456789")
}

// wordsOf returns the words and numbers of a text in lower case. It splits the parts of field names
// ("openSunday", "order_id").
func wordsOf(text string) (out []string) {
	from, before := -1, rune(0)
	for i, r := range text {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		if from >= 0 && (!letter || unicode.IsUpper(r) && unicode.IsLower(before)) {
			out = append(out, strings.ToLower(text[from:i]))
			from = -1
		}
		if letter && from < 0 {
			from = i
		}
		before = r
	}
	if from >= 0 {
		out = append(out, strings.ToLower(text[from:]))
	}
	return out
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}
