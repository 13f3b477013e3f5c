package text

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// language is the code of a language other than English. eSpeak NG reads its numbers; what it
// would read wrongly is written out here.
type language string

// languageRules has the rules by language code, which are made when they are first used.
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
		l.phoneRules(), l.rates(), l.money(), l.dates(), l.times(), l.ranges(), l.measures(), l.ordinals(),
		l.romans(), l.agreement(),
	)
}

func (l language) list(name string) list { return listed(string(l), name) }

// word returns a word of the language by its English name.
func (l language) word(name string) string { return l.list("words").spoken[name] }

var wordReference = regexp.MustCompile(`\[([^\]]+)\]`)

// says returns a rule with a template in which [to] stands for the language's word for "to".
func (l language) says(pattern, template string, conditions ...condition) rule {
	ways := map[byte]func(string) string{
		'd': spaceGroups,
		'k': func(s string) string { return strings.Replace(s, ".", ":", 1) }, // not a decimal
		'x': roman,
		'D': func(s string) string { return l.list("days").spoken[strings.ToLower(s)] },
		'P': func(s string) string { return l.list("per").spoken[s] },
	}
	return says(ways, pattern, wordReference.ReplaceAllStringFunc(template, func(place string) string {
		return l.word(place[1 : len(place)-1])
	}), conditions...)
}

// phrase joins the words that are not empty.
func phrase(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}
