package text

import (
	"regexp"
	"strings"
)

// electronicRules find addresses of mail and of the Web: info@musee.fr, www.musee.fr/plan. What
// they say does not have the punctuation of the sentence around.
func electronicRules(address func(string) string) []rule {
	trimmed := func(m match) (string, bool) {
		s := m.group(0)
		if i := strings.Index(s, "://"); i >= 0 {
			s = s[i+3:]
		}
		kept := strings.TrimRight(s, ".,;:!?)]}'*»")
		goesOn := strings.HasPrefix(m.after(), ".") && startsWord(m.after()[1:])
		return address(strings.TrimRight(kept, "/")) + s[len(kept):], !strings.HasSuffix(m.before(), ".") && !goesOn
	}
	return []rule{
		rewrite(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+`, func(m match) (string, bool) {
			return address(m.group(0)), true
		}),
		rewrite(`(?i)\b(?:(?:https?|ftp)://|www\.)[^\s<>"'«»]*[\pL\d/][^\s<>"'«»]*`, trimmed),
		rewrite(`(?i)\b[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.`+listed("domains", "top").pattern()+
			`\b(?:/[^\s<>"'«»]*)?`, trimmed),
	}
}

// addressPart is a word, a number or a sign in an address.
var addressPart = regexp.MustCompile(`[A-Za-z\x80-\x{10ffff}]+|\d+|.`)

// sayAddress says a URL, an e-mail address or a file name part by part.
func (e english) sayAddress(s string) string {
	return strings.Join(strings.Fields(addressPart.ReplaceAllStringFunc(s, func(part string) string {
		switch {
		case startsDigit(part) && (len(part) > 2 || part[0] == '0'):
			part = digitByDigit(part)
		case startsDigit(part):
			part = e.cardinal(part)
		case part[0]|0x20 >= 'a' && part[0]|0x20 <= 'z' || part[0] >= 0x80:
			part = sayLabel(part)
		default:
			part = listed("signs", "in addresses").said[part]
		}
		return " " + part + " "
	})), " ")
}

// sayLabel says a part of a name: as a word, or letter by letter where it is
// no word.
func sayLabel(s string) string {
	const words wordList = " com org net edu gov dev app info biz me us at doc log conf zip tar md5 go of in on to by " +
		"my we an is be "
	lower := strings.ToLower(s)
	switch {
	case words.has(lower):
		return lower
	case len(s) <= 2 && s[0] < 0x80, len(s) <= 4 && !strings.ContainsAny(lower, "aeiouy"):
		return spell(s)
	}
	return s
}

// letterA is the name of the letter A as espeak-ng reads it; "A" itself it
// takes for the article, but at the head of a spelt word.
const letterA = "eigh"

// spell writes letters so that each is said by its name. Joined by hyphens they
// stay one word.
func spell(s string) string {
	letters := strings.Split(strings.ToUpper(s), "")
	for i, l := range letters {
		if l == "A" && (i > 0 || len(letters) == 1) {
			letters[i] = letterA
		}
	}
	return strings.Join(letters, "-")
}

// address says a URL or an e-mail address part by part.
func (l language) address(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer(".", " "+l.word("dot")+" ", "@", " "+l.word("at")+" ",
		"-", " "+l.word("dash")+" ", "_", " "+l.word("underscore")+" ", "/", " "+l.word("slash")+" ").Replace(s)), " ")
}
