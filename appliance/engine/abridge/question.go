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

// asked is a Question as it is compared with what a tool answered.
type asked struct {
	words     []string // that say what is wanted, in small letters
	kin       []string // names of fields that mean the same as some of them
	arguments []string // the words of the names of arguments
	links     bool     // it wants a link
	ids       bool     // it wants a number, a code or the like
	many      bool     // it wants to know how many there are
}

// mostAsked is how many words of a question count: the last ones of a long speech.
const mostAsked = 24

var (
	wantsLink = regexp.MustCompile(`(?i)\b(links?|urls?|web ?(site|page|address)(e?s)?|homepage)\b`)
	wantsID   = regexp.MustCompile(
		`(?i)\b(ids?|identifiers?|numbers?|codes?|reference|sku|uuid|hash|serial|token|key|` +
			`nummer|kennung|numéro|número|numero)\b`)
	wantsMany = regexp.MustCompile(`(?i)\b(how many|number of|wie ?viele?|combien|cuántos|cuántas|quanti|quante|ile)\b`)
)

// empty are words that say nothing of what is wanted.
//
//go:embed empty.txt
var emptyWords string

var empty = set(emptyWords)

// kin are words that ask for the same, with the names that fields have for it.
//
//go:embed kin.txt
var kinWords string

var kin = groups(kinWords)

// groups are lists of words, one a line, with an empty line between two lists.
func groups(text string) (all [][]string) {
	for group := range strings.SplitSeq(text, "\n\n") {
		all = append(all, strings.Fields(group))
	}
	return all
}

// read takes the words out of a question.
func (q Question) read() asked {
	a := asked{
		links: wantsLink.MatchString(q.Words),
		ids:   wantsID.MatchString(q.Words),
		many:  wantsMany.MatchString(q.Words),
	}
	take := func(text string) {
		for _, w := range wordsOf(text) {
			if !empty[w] && !slices.Contains(a.words, w) {
				a.words = append(a.words, w)
			}
		}
	}
	take(q.Words)
	var arguments map[string]any
	if json.Unmarshal([]byte(q.Arguments), &arguments) == nil {
		for _, name := range slices.Sorted(maps.Keys(arguments)) {
			a.arguments = append(a.arguments, wordsOf(name)...)
			if value, ok := arguments[name].(string); ok {
				take(value)
			}
		}
	}
	a.words = a.words[max(0, len(a.words)-mostAsked):]
	spoken := wordsOf(q.Words)
	for i := max(1, len(spoken)-mostAsked); i < len(spoken); i++ {
		a.kin = append(a.kin, spoken[i-1]+spoken[i]) // fields are called "headroom" and "zipcode"
	}
	if a.many {
		a.kin = append(a.kin, "count", "total", "quantity")
	}
	for _, row := range kin {
		if slices.ContainsFunc(row, func(w string) bool { return slices.Contains(spoken, w) }) {
			a.kin = append(a.kin, row...)
		}
	}
	return a
}

// has is which word of the question a word of the answer is a form of; -1: none.
func (a asked) has(w string) int {
	return slices.IndexFunc(a.words, func(asked string) bool { return alike(asked, w) })
}

const (
	// stem is how many letters two forms of a word have in common at least, and
	// ending how many more one of them may have: "open" and "opening".
	stem   = 4
	ending = 3
)

// alike reports whether two words are forms of one.
func alike(a, b string) bool {
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

// wordsOf are the words and numbers of a text in small letters; those that are joined
// as in names of fields ("openSunday", "order_id") are parted.
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
