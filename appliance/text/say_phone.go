package text

import (
	"regexp"
	"strings"
)

// codeNames are what people call what they type in; codeDigits are its figures.
const (
	codeNames  = `codes?|pin|otp|passcode|passkey|password|zip`
	codeDigits = `(\d{3,}(?:[ -]\d{2,})*|\d{2}(?:[ -]\d{2,})+)`
)

func (e english) phoneRules() []rule {
	readOut := func(m match) (string, bool) {
		// the dress code, 2024 edition
		edition := strings.HasSuffix(m.group(1), ", ") && strings.HasPrefix(m.after(), " ")
		ok := m.apart() && !pointed(m.after()) && !unitFollows(strings.TrimLeft(m.after(), " ")) && !edition
		return m.group(1) + sayGroups(m.group(2)), ok
	}
	groups := func(m match) (string, bool) { return sayGroups(m.group(0)), m.apart() }
	return []rule{
		// +1 (555) 123-4567, +49 30 901820
		newRule("+", `\+\d{1,4}(?:[ .-]?\(?\d{1,5}\)?){2,6}\b`, func(m match) string {
			return "plus " + sayGroups(m.group(0))
		}),
		doubtfulRule(digits, `(?:\b1[ .-])?(?:\(\d{3}\) ?|\b\d{3}[ .-])\d{3}[ .-]\d{4}\b`, groups),
		doubtfulRule(digits, `\b0\d(?:[ .-]\d{2}){4}\b`, groups), // France
		doubtfulRule("(", `\(0\d{1,4}\) ?\d{3,8}(?:[ -]\d{3,4})?\b`, groups),
		doubtfulRule(digits, `\b0?[6-9]\d{4} \d{5}\b`, groups), // India
		doubtfulRule("/-", `\b0\d{2,4} ?[/-] ?\d{5,8}(?:-\d{1,4})?\b`, groups),
		doubtfulRule(digits, `(?i)\b((?:call|dial|ring|tel\.?|telephone|phone|fax|text|mobile|whatsapp)(?: `+
			`(?:us|me|at|on|is|number|no\.?))*:? )(\d{2,5}(?:[ .-]\d{2,5}){2,5})\b`, func(m match) (string, bool) {
			return m.group(1) + sayGroups(m.group(2)), !startsWord(m.after()) && !pointed(m.after())
		}),
		doubtfulRule(digits, `\b0\d{1,4}[ -]\d{3,4}[ -]\d{3,4}\b`, groups),
		doubtfulRule(digits, `\b0\d{2,4}[ -]\d{5,8}\b`, groups),
		doubtfulRule("-.", `\b\d{3}[.-]\d{4}\b`, groups),
		doubtfulRule(digits, `\b\d{4}(?:[ -]\d{4}){2,3}\b`, groups), // cards
		doubtfulRule("-", `\b\d{3}-\d{2}-\d{4}\b`, groups),
		// 911, 112 or 999
		doubtfulRule(digits, `(?i)\b((?:dial|call|ring|text) )(\d{3}(?:(?:,? or |, )\d{3})+)\b`,
			func(m match) (string, bool) {
				return m.group(1) + threes.ReplaceAllStringFunc(m.group(2), digitByDigit),
					m.apart() && !pointed(m.after()) &&
						!strings.HasPrefix(m.after(), "-")
			}),
		// what is called a code or a number is read out: your code: 7306-1158
		doubtfulRule(digits, `(?i)\b((?:`+codeNames+`|extension|ext\.|account|confirmation|tracking|serial|reference|`+
			`flight|dial|call)`+
			`(?:'s| (?:code|number|no\.|id|is|was|at|to|again))*[:=,]? ?#?)`+codeDigits+`\b`, readOut),
		doubtfulRule(digits, `(?i)\b((?:`+codeNames+`)\b[^.,;:!?\d]{1,40}\b(?:is|was|reads):? )`+codeDigits+`\b`,
			readOut),
		doubtfulRule("I", `\b(ID(?: (?:is|was|number|no\.))*[:=]? ?#?)`+codeDigits+`\b`, readOut),
		// 518204 is your code; enter 4711 to sign in
		newRule(digits, `(?i)\b`+codeDigits+`( (?:is|was|will be) (?:your|my|the|our|his|her|their|this|that|`+
			`an?) (?:[a-z-]+ ){0,3}(?:`+
			codeNames+`|ID)(?:$|[.,;:!?)]| (?:for|to|and|or|at|on|until|today|now|you|we|that)\b))`,
			func(m match) string { return sayGroups(m.group(1)) + m.group(2) }),
		newRule(digits, `(?i)\b((?:enter|use|type(?: in)?|key in|punch in) )(\d{4,8})`+
			`( (?:to (?:sign|log|verify|confirm|enter|open|unlock|access|get in|join)|as (?:your|the|a)|on the `+
			`keypad)\b)`,
			func(m match) string { return m.group(1) + digitByDigit(m.group(2)) + m.group(3) }),
		// a leading zero, or more digits than a number has that is written without commas
		doubtfulRule(digits, `\b(?:0\d+|\d{7,})\b`, func(m match) (string, bool) {
			n := m.group(0)
			round := n[0] != '0' && strings.HasSuffix(n, "000") && len(n) <= maxCardinal
			number := strings.HasSuffix(m.before(), ".") || strings.HasSuffix(m.before(), ",") ||
				strings.HasPrefix(m.after(), ".") && startsWord(m.after()[1:])
			if round || number || n[0] == '0' && strings.HasPrefix(m.after(), "%") {
				return "", false
			}
			return digitByDigit(n), m.apart()
		}),
	}
}

// threes are the numbers that one calls in need.
var threes = regexp.MustCompile(`\d{3}`)

// sayGroups says a number that is written in groups, with a breath between
// them.
func sayGroups(s string) string {
	var said []string
	for _, group := range strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) {
		said = append(said, digitByDigit(group))
	}
	return strings.Join(said, ", ")
}
