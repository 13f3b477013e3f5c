package text

import "strings"

// topLevels are the last parts of names that are taken for addresses without "www" or a
// slash.
const topLevels = `com|org|net|edu|gov|io|dev|ai|app|info|biz|me|tv|uk|us|eu|de|fr|ch|at|nl|es|ca|au|ly|museum|` +
	`shop|health|clinic|hotel|online|site|cloud|nz|ie|se|dk|pl|it|pt|br|mx|ar|in`

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
		rewrite(`(?i)\b[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.(?:`+topLevels+`)\b(?:/[^\s<>"'«»]*)?`, trimmed),
	}
}

// addressSigns are the names of the signs in addresses.
const addressSigns = ` .:dot /:slash @:at -:dash _:underscore ::colon ?:question_mark =:equals &:and #:hash
 %:percent +:plus ~:tilde ,:comma ;:semicolon !:exclamation_mark *:star $:dollar \:backslash |:bar `

// sayAddress says a URL, an e-mail address or a file name part by part.
func (e english) sayAddress(s string) string {
	var words []string
	for len(s) > 0 {
		n := 0
		for n < len(s) && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || s[n] >= 0x80) {
			n++
		}
		if n > 0 {
			words = append(words, sayLabel(s[:n]))
			s = s[n:]
			continue
		}
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		switch {
		case n > 2, n > 0 && s[0] == '0':
			words = append(words, digitByDigit(s[:n]))
		case n > 0:
			words = append(words, e.cardinal(s[:n]))
		default:
			n = 1
			if sign := formOf(addressSigns, s[:1]); sign != "" {
				words = append(words, sign)
			}
		}
		s = s[n:]
	}
	return strings.Join(words, " ")
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
