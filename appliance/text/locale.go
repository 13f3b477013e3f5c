package text

import (
	"strings"
	"sync"
)

// english is how English is written and said where a text comes from.
type english struct {
	dayFirst bool // 3/4/2026 is in April
	and      bool // "one hundred and one"
	lakhs    bool // 1,00,000 is a lakh and 1,00,00,000 a crore
	rand     bool // R5,50 is five rand and fifty cents
}

// Locales are those whose ways of writing are known one by one; others are read
// as British ones are.
func Locales() []string {
	return []string{"en-US", "en-GB", "en-AU", "en-CA", "en-IE", "en-IN", "en-NZ", "en-ZA"}
}

// The rules of each English are made when the first text comes.
var (
	americanRules     = sync.OnceValue(english{}.rules)
	canadianRules     = sync.OnceValue(english{dayFirst: true}.rules)
	britishRules      = sync.OnceValue(english{dayFirst: true, and: true}.rules)
	indianRules       = sync.OnceValue(english{dayFirst: true, and: true, lakhs: true}.rules)
	southAfricanRules = sync.OnceValue(english{dayFirst: true, and: true, rand: true}.rules)
)

// rules are those of the place where a text was written.
func (o Options) rules() []rule {
	locale := o.Locale
	if locale == "" {
		locale = o.Language
	}
	language, region := parseTag(locale)
	switch region {
	case "us", "pr", "gu", "vi", "as", "mp", "ph", "fm", "mh", "pw": // the month stands first
		return americanRules()
	case "ca":
		return canadianRules()
	case "in", "pk", "bd", "lk", "np":
		return indianRules()
	case "za":
		return southAfricanRules()
	case "":
		if language == "en" || language == "" {
			return americanRules()
		}
	}
	return britishRules()
}

// parseTag takes the language and the region out of a BCP 47 tag, in small
// letters; the region is empty where it has none.
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
