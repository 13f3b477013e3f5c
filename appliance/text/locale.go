package text

import (
	"cmp"
	"strings"
	"sync"
)

// english is a variety of English: how it is written and spoken.
type english struct {
	dayFirst bool // 3/4/2026 is in April
	and      bool // "one hundred and one"
	lakhs    bool // 1,00,000 is a lakh and 1,00,00,000 a crore
	rand     bool // R5,50 is five rand and fifty cents
}

// Locales returns the locales with rules of their own; others use those of British English.
func Locales() []string {
	return []string{"en-US", "en-GB", "en-AU", "en-CA", "en-IE", "en-IN", "en-NZ", "en-ZA"}
}

// rulesOf has the rules of each variety, which are made when they are first used.
var rulesOf = func() map[english]func() []rule {
	all := map[english]func() []rule{}
	for _, e := range [...]english{american, canadian, british, indian, southAfrican} {
		all[e] = sync.OnceValue(e.rules)
	}
	return all
}()

var (
	american     = english{}
	canadian     = english{dayFirst: true}
	british      = english{dayFirst: true, and: true}
	indian       = english{dayFirst: true, and: true, lakhs: true}
	southAfrican = english{dayFirst: true, and: true, rand: true}
)

// rules returns the rules of the locale in which a text was written.
func (o Options) rules() []rule {
	const monthFirst, ofIndia wordList = " us pr gu vi as mp ph fm mh pw ", " in pk bd lk np "
	language, region := parseTag(cmp.Or(o.Locale, o.Language))
	e := british
	switch {
	case monthFirst.has(region), region == "" && (language == "en" || language == ""):
		e = american
	case region == "ca":
		e = canadian
	case ofIndia.has(region):
		e = indian
	case region == "za":
		e = southAfrican
	}
	return rulesOf[e]()
}

// parseTag returns the language and the region of a BCP 47 tag in lower case; the region is
// empty if the tag has none.
func parseTag(tag string) (language, region string) {
	parts := strings.FieldsFunc(strings.ToLower(tag), func(r rune) bool { return r == '-' || r == '_' })
	for i, p := range parts {
		switch {
		case i == 0:
			language = p
		case len(p) == 1: // extensions
			return language, ""
		case len(p) == 2:
			return language, p
		}
	}
	return language, ""
}
