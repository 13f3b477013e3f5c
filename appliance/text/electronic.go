package text

import (
	"regexp"
	"strings"
)

// electronicRules find e-mail and Web addresses: info@musee.fr, www.musee.fr/plan. The spoken
// form leaves the punctuation of the sentence out.
func electronicRules(address func(string) string) []rule {
	trimmed := func(m match) (string, bool) {
		s := m.group(0)
		if i := strings.Index(s, "://"); i >= 0 {
			s = s[i+3:]
		}
		trimmed := strings.TrimRight(s, ".,;:!?)]}'*»")
		goesOn := strings.HasPrefix(m.after(), ".") && startsWord(m.after()[1:])
		said := address(strings.TrimRight(trimmed, "/")) + s[len(trimmed):]
		return said, !strings.HasSuffix(m.before(), ".") && !goesOn
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

// addressPart matches a word, a number or a sign in an address.
var addressPart = regexp.MustCompile(`[A-Za-z\x80-\x{10ffff}]+|\d+|.`)

// sayAddress writes out a URL, an e-mail address or a file name part by part.
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
			part = listed("signs", "in addresses").spoken[part]
		}
		return " " + part + " "
	})), " ")
}

// sayLabel writes out a part of a name: as a word, or letter by letter if it is not one.
func sayLabel(s string) string {
	const words wordList = " com org net edu gov dev app info biz me us at doc log conf zip tar md5 go of in on to " +
		"by my we an is be "
	lower := strings.ToLower(s)
	switch {
	case words.has(lower):
		return lower
	case len(s) <= 2 && s[0] < 0x80, len(s) <= 4 && !strings.ContainsAny(lower, "aeiouy"):
		return spell(s)
	}
	return s
}

// letterA is the name of the letter A as eSpeak NG reads it. It takes "A" for the article,
// except at the beginning of a spelt word.
const letterA = "eigh"

// spell returns letters so that each is spoken by its name. Hyphens keep them one word.
func spell(s string) string {
	letters := strings.Split(strings.ToUpper(s), "")
	for i, l := range letters {
		if l == "A" && (i > 0 || len(letters) == 1) {
			letters[i] = letterA
		}
	}
	return strings.Join(letters, "-")
}

// address writes out a URL or an e-mail address part by part.
func (l language) address(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer(".", " "+l.word("dot")+" ", "@", " "+l.word("at")+" ",
		"-", " "+l.word("dash")+" ", "_", " "+l.word("underscore")+" ", "/", " "+l.word("slash")+" ").Replace(s)), " ")
}
