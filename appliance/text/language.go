package text

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A language is the code of one besides English whose numbers eSpeak NG reads: what it
// reads wrongly is brought to words here.
type language string

// languageRules are those of a language, by its code; they are made when its first text comes.
var languageRules = map[string]func() []rule{
	"fr": sync.OnceValue(language("fr").rules),
	"es": sync.OnceValue(language("es").rules),
	"it": sync.OnceValue(language("it").rules),
	"pt": sync.OnceValue(language("pt").rules),
	"hi": sync.OnceValue(language("hi").rules),
}

func (l language) rules() []rule {
	return slices.Concat(electronicRules(l.address), l.abbreviations(), l.weekdays(), l.signs(), l.fractions(),
		l.telephones(), l.money(), l.dates(), l.times(), l.ranges(), l.rates(), l.measures(), l.ordinals(), l.romans(), l.agreement())
}

func (l language) list(name string) list { return listed(string(l), name) }

// word is how the language says something.
func (l language) word(name string) string { return l.list("words").said[name] }

var wordPlace = regexp.MustCompile(`\[([^\]]+)\]`)

// says makes a rule out of a template, in which [to] stands for how the language says "to".
func (l language) says(pattern, template string, guards ...guard) rule {
	return sayer(l.group).says(pattern, wordPlace.ReplaceAllStringFunc(template, func(place string) string {
		return l.word(place[1 : len(place)-1])
	}), guards...)
}

// group says a group of a template in the way that a letter stands for.
func (l language) group(letter byte, s string) string {
	switch letter {
	case 'd': // figure by figure, with a breath between groups
		groups := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '-' })
		for i, g := range groups {
			groups[i] = apartFigures(g)
		}
		return strings.Join(groups, ", ")
	case 'k': // a clock, which must not be read as a decimal
		return strings.Replace(s, ".", ":", 1)
	case 'x':
		return cmp.Or(roman(s), s)
	}
	return l.list(map[byte]string{'D': "days", 'M': "months", 'P': "per"}[letter]).said[strings.ToLower(s)]
}

// phrase joins words, of which any may be none.
func phrase(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}
