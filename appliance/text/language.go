package text

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A language is the code of one besides English whose numbers eSpeak NG reads: what it
// reads wrongly is brought to words here.
type language string

// languageRules are those of a language, by its code; they are made when its first text comes.
var languageRules = func() map[string]func() []rule {
	all := map[string]func() []rule{}
	for _, code := range [...]string{"fr", "es", "it", "pt", "hi"} {
		all[code] = sync.OnceValue(language(code).rules)
	}
	return all
}()

func (l language) rules() []rule {
	return slices.Concat(
		electronicRules(l.address), l.abbreviations(), l.weekdays(), l.signs(), l.fractions(),
		l.telephones(), l.rates(), l.money(), l.dates(), l.times(), l.ranges(), l.measures(), l.ordinals(),
		l.romans(), l.agreement(),
	)
}

func (l language) list(name string) list { return listed(string(l), name) }

// word is how the language says something.
func (l language) word(name string) string { return l.list("words").said[name] }

var wordReference = regexp.MustCompile(`\[([^\]]+)\]`)

// says makes a rule out of a template, in which [to] stands for how the language says "to".
func (l language) says(pattern, template string, guards ...condition) rule {
	ways := map[byte]func(string) string{
		'd': spaced,
		'k': func(s string) string { return strings.Replace(s, ".", ":", 1) }, // no decimal
		'x': roman,
		'D': func(s string) string { return l.list("days").said[strings.ToLower(s)] },
		'P': func(s string) string { return l.list("per").said[s] },
	}
	return says(ways, pattern, wordReference.ReplaceAllStringFunc(template, func(place string) string {
		return l.word(place[1 : len(place)-1])
	}), guards...)
}

// phrase joins words, of which any may be none.
func phrase(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}
