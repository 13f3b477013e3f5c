package text

import (
	"regexp"
	"strings"
	"sync"
)

func (e english) phoneRules() []rule {
	groups := func(m match) (string, bool) { return sayGroups(m.group(0)), m.apart() }
	return []rule{
		// +1 (555) 123-4567, +49 30 901820
		newRule("+", `\+\d{1,4}(?:[ .-]?\(?\d{1,5}\)?){2,6}\b`, func(m match) string { return "plus " + sayGroups(m.group(0)) }),
		doubtfulRule(digits, `(?:\b1[ .-])?(?:\(\d{3}\) ?|\b\d{3}[ .-])\d{3}[ .-]\d{4}\b`, groups),
		doubtfulRule(digits, `\b0\d(?:[ .-]\d{2}){4}\b`, groups), // France
		doubtfulRule("(", `\(0\d{1,4}\) ?\d{3,8}(?:[ -]\d{3,4})?\b`, groups),
		doubtfulRule(digits, `\b0?[6-9]\d{4} \d{5}\b`, groups), // India
		doubtfulRule("/-", `\b0\d{2,4} ?[/-] ?\d{5,8}(?:-\d{1,4})?\b`, groups),
		doubtfulRule(digits, `(?i)\b((?:call|dial|ring|tel\.?|telephone|phone|fax|text|mobile|whatsapp)(?: (?:us|me|at|on|is|number|no\.?))*:? )(\d{2,5}(?:[ .-]\d{2,5}){2,5})\b`, func(m match) (string, bool) {
			return m.group(1) + sayGroups(m.group(2)), !startsWord(m.after()) && !pointed(m.after())
		}),
		doubtfulRule(digits, `\b0\d{1,4}[ -]\d{3,4}[ -]\d{3,4}\b`, groups),
		doubtfulRule(digits, `\b0\d{2,4}[ -]\d{5,8}\b`, groups),
		doubtfulRule("-.", `\b\d{3}[.-]\d{4}\b`, groups),
		doubtfulRule(digits, `\b\d{4}(?:[ -]\d{4}){2,3}\b`, groups), // cards
		doubtfulRule("-", `\b\d{3}-\d{2}-\d{4}\b`, groups),
		doubtfulRule(digits, `(?i)\b((?:dial|call|ring|text) )(\d{3}(?:(?:,? or |, )\d{3})+)\b`, func(m match) (string, bool) { // 911, 112 or 999
			return m.group(1) + threes().ReplaceAllStringFunc(m.group(2), digitByDigit), m.apart() && !pointed(m.after()) && !strings.HasPrefix(m.after(), "-")
		}),
		// what is called a code or a number is read out
		newRule(digits, `(?i)\b((?:code|pin|zip|passcode|password|extension|ext\.|account|confirmation|tracking|serial|reference|flight|dial|call)(?: (?:code|number|no\.|is|at|to))*:? #?)(\d{3,})\b`, func(m match) string {
			return m.group(1) + digitByDigit(m.group(2))
		}),
		// a leading zero, or more digits than a number has that is written without commas
		doubtfulRule(digits, `\b(?:0\d+|\d{7,})\b`, func(m match) (string, bool) {
			n := m.group(0)
			round := n[0] != '0' && strings.HasSuffix(n, "000") && len(n) <= maxCardinal
			number := strings.HasSuffix(m.before(), ".") || strings.HasSuffix(m.before(), ",") || strings.HasPrefix(m.after(), ".") && startsWord(m.after()[1:])
			if round || number || n[0] == '0' && strings.HasPrefix(m.after(), "%") {
				return "", false
			}
			return digitByDigit(n), m.apart()
		}),
	}
}

// threes are the numbers that one calls in need.
var threes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d{3}`) })

// sayGroups says a number that is written in groups, with a breath between
// them.
func sayGroups(s string) string {
	var said []string
	for _, group := range strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) {
		said = append(said, digitByDigit(group))
	}
	return strings.Join(said, ", ")
}
