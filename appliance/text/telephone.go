package text

import (
	"regexp"
	"strings"
)

// phoneFormats are the formats of telephone and card numbers in English texts.
var phoneFormats = [...]string{
	`(?:\b1[ .-])?(?:\(\d{3}\) ?|\b\d{3}[ .-])\d{3}[ .-]\d{4}`, // America
	`\b0\d(?:[ .-]\d{2}){4}`,                                   // France
	`\(0\d{1,4}\) ?\d{3,8}(?:[ -]\d{3,4})?`,
	`\b0?[6-9]\d{4} \d{5}`,  // India
	`\b1[38]00 \d{3} \d{3}`, // Australia
	`\b0\d{3} \d{4}`,
	`\b0\d{2,4} ?[/-] ?\d{5,8}(?:-\d{1,4})?`,
	`\b0\d{1,4}[ -]\d{3,4}[ -]\d{3,4}`,
	`\b0\d{2,4}[ -]\d{5,8}`,
	`\b\d{3}[.-]\d{4}`,
	`\b\d{4}(?:[ -]\d{4}){2,3}`, // cards
	`\b\d{3}-\d{2}-\d{4}`,
}

func (e english) phoneRules() []rule {
	all := []rule{
		e.says(`\+(\d{1,4}(?:[ .-]?\(?\d{1,5}\)?){2,6})\b`, "plus {d1}"), // +1 (555) 123-4567
		e.says(`(\d{3}[ .-]?\d{4}),? ?x\.? ?(\d{1,6})\b`, "$1, extension {d2}"),
		e.says(`(?i)\b((?:call|dial|ring|text|phone|tel\.?|telephone|fax|mobile|whatsapp)`+
			`(?: (?:us|me|at|on|is|number|no\.?))*:? )(\d{2,5}(?:[ .-]\d{2,5}){2,5}|\d{3} \d{3})\b`, "$1{d2}", ended,
			whole),
	}
	for _, number := range phoneFormats {
		all = append(all, e.says(`(`+number+`)\b`, "{d1}", apart))
	}
	return all
}

// keypadRules write out keys to press: "#" to repeat, or *67.
func (e english) keypadRules() []rule {
	const press = `(?i)\b((?:press|dial|hit|push|touch|enter|key|or|and|then)(?: the)?) `
	pound := "pound"
	if e.dayFirst {
		pound = "hash"
	}
	onKeypad := has(regexp.MustCompile(`(?i)press|dial|push|touch|enter|hit| key`))
	return []rule{
		// 911, 112 or 999
		e.says(`(?i)\b((?:call|dial|ring|text) )(\d{3}(?:(?:,? or |, )\d{3})+)\b`, "$1{e2}", apart, whole,
			func(m match) bool { return !strings.HasPrefix(m.after(), "-") }),
		e.says(press+`\*(\d{1,3})\b`, "$1 star {d2}", onKeypad),
		e.says(press+`\*( |$|[.,;:!?])`, "$1 star$2", onKeypad),
		e.says(press+`#( |$|[.,;:!?])`, "$1 "+pound+"$2", onKeypad),
	}
}

const (
	// codeNames are names of codes; countNames are names of identifiers, whose number may also be
	// an amount ("order 20 chairs"). codeFigures and codeSigns match codes of digits, and of letters and digits.
	codeNames  = `(?:codes?|pin|otp|passcode|passkey|password|zip|extension|ext\.|dial|call|(?-i:ID))`
	countNames = `(?:account|confirmation|reference|ref|flight|order|invoice|booking|reservation|ticket|claim|` +
		`customer|member|policy|case|part)`
	codeFigures = `(\d{3,}(?:[ -]\d{2,})*|\d{2}(?:[ -]\d{2,})+)`
	codeSigns   = `((?:[A-Za-z]{1,4}-)?[A-Za-z0-9]*\d[A-Za-z0-9]*(?:[-/ ` +
		`]?[A-Za-z0-9]*\d[A-Za-z0-9]*)*(?:-[A-Z]{1,4}\b)?)`
)

// codeRules spell codes, order numbers, and the labels of signs and doors.
func (e english) codeRules() []rule {
	doors := listed("en", "doors").pattern()
	return []rule{
		e.says(`(?i)\b(flights?:? )([A-Z]{2} ?\d{1,4})\b`, "$1{b2}", ended),
		e.says(`\b([a-z]+) #( is|:)`, "$1 number$2"),
		e.says(`\b([Nn])o\.:`, "$1umber:"),
		e.says(`\b([A-Za-z]{2,} n)o\. ([a-z])`, "$1umber $2"),
		e.says(`\b([Nn])o\. (0\d+)\b`, "$1umber {d2}"),
		e.says(`(?i)\b((?:card|account|number)s? (?:ending|ends) (?:in|with):? )(\d{3,4})\b`, "$1{d2}"),
		e.says(`\b([Tt]ext (?:[A-Z]+ to )?)(\d{5,6})\b`, "$1{d2}"),
		// your code: 7306-1158, order 12345
		rewrite(`(?i)\b((?:`+codeNames+`|`+countNames+`)(?:'s| (?:code|number|no\.?|nr\.?|id|is|was|at|to|again))*`+
			`[:=,]? ?#?)`+codeSigns, sayCode),
		e.says(`(?i)\b(`+codeNames+`\b[^.,;:!?\d]{1,40}\b(?:is|was|reads):? )`+codeFigures+`\b`, "$1{d2}", apart,
			func(m match) bool { return !pointed(m.after()) && !unitFollows(m.rest()) }),
		// 518204 is your code; enter 4711 to sign in
		e.says(`(?i)\b`+codeFigures+`( (?:is|was|will be) (?:your|my|the|our|his|her|their|this|that|an?) `+
			`(?:[a-z-]+ ){0,3}`+codeNames+`(?:$|[.,;:!?)]| (?:for|to|and|or|at|on|until|today|now|you|we|that)\b))`,
			"{d1}$2"),
		e.says(`(?i)\b((?:enter|use|type(?: in)?|key in|punch in) )(\d{4,8})( (?:to (?:sign|log|verify|confirm|`+
			`enter|open|unlock|access|get in|join)|as (?:your|the|a)|on the keypad)\b)`, "$1{d2}$3"),
		// exit A1, gate B22, seat 14C, platform 4b
		rewrite(`\b((?i:`+doors+`)s?) (?:([A-Z][ -]?|[a-z])(\d{1,4})|(\d{1,4})([A-Ha-h]))\b`,
			func(m match) (string, bool) {
				if m.group(4) != "" {
					return m.group(1) + " " + e.sayNumbered(m.group(4)) + " " + spell(m.group(5)), m.apart()
				}
				return m.group(1) + " " + spell(m.group(2)[:1]) + " " + e.sayNumbered(m.group(3)), m.apart()
			}),
		e.says(`\b([Nn])[or]\. ?(\d{1,4})([A-Ha-h])\b`, "$1umber {r2} {s3}", apart),
		// Q1-Q3, seats A12–A15; A380, M25
		e.says(`\b([A-Z])(\d{1,3})`+dash+`([A-Z])(\d{1,3})\b`, "{s1} {r2} to {s3} {r4}", apart,
			func(m match) bool { return m.group(1) == m.group(3) }),
		e.says(`\b([A-Z])(\d{1,3})\b`, "{s1} {r2}", apart, func(m match) bool {
			return !strings.HasSuffix(m.before(), "-") && strings.IndexAny(m.after(), "-.") != 0
		}),
		e.says(`\b([A-Z]{2})(\d)`, "{s1} $2"), // MP3
	}
}

// longNumberRules spell numbers that begin with zero or have seven digits or more: a counted
// number of that length usually has commas.
func (e english) longNumberRules() []rule {
	return []rule{rewrite(`\b(?:0\d+|\d{7,})\b`, func(m match) (string, bool) {
		n := m.group(0)
		round := n[0] != '0' && strings.HasSuffix(n, "000") && len(n) <= maxCardinal
		number := strings.HasSuffix(m.before(), ".") || strings.HasSuffix(m.before(), ",") ||
			strings.HasPrefix(m.after(), ".") && startsWord(m.after()[1:])
		return digitByDigit(n), m.apart() && !round && !number && (n[0] != '0' || !strings.HasPrefix(m.after(), "%"))
	})}
}

// sayCode spells a code or an order number. It leaves a possible amount ("order 20 chairs")
// unchanged.
func sayCode(m match) (string, bool) {
	name, number := m.group(1), m.group(2)
	named := beginsWithCodeName.MatchString(name) || strings.ContainsAny(name, ".#:=") ||
		strings.Contains(strings.TrimSpace(name), " ")
	plain := strings.Trim(number, digits+" -") == ""
	count := len(ungrouped.Replace(strings.ReplaceAll(number, "-", "")))
	// the dress code, 2024 edition
	edition := strings.HasSuffix(name, ", ") && strings.HasPrefix(m.after(), " ")
	switch {
	case startsWord(m.after()), strings.HasPrefix(m.after(), "%"), strings.HasPrefix(m.after(), ":"),
		pointed(m.after()), unitFollows(m.rest()), edition:
		return "", false
	case notCode.MatchString(number), !plain && len(number) < 5, plain && (count < 3 || !named && count < 4),
		plain && !named && strings.HasSuffix(number, "00"):
		return "", false
	}
	return shortNumber.ReplaceAllString(name, "number ") + spellCode(number), true
}

// beginsWithCodeName matches a name that begins with one of codeNames. notCode matches texts that
// follow a name but are no code: a word, an ordinal, a time, an amount, a fraction, a date.
// shortNumber matches an abbreviation of "number" at the end of a name.
var (
	beginsWithCodeName = regexp.MustCompile(`(?i)^` + codeNames)
	notCode            = regexp.MustCompile(`[A-Za-z]{4}|^(?:\d+[a-z]{1,5}|\d+(?:AM|PM|KG|GB)|` +
		`(?:\d+ )?\d{1,3}/\d{1,3}|` +
		`\d{4}-\d{2}-\d{2}|\d{1,2}[/-]\d{1,2}[/-]\d{2,4}|(?:19|20)\d{2}[/-](?:19|20)\d{2}|\d{1,3}-\d{1,3})$`)
	shortNumber = regexp.MustCompile(`(?:\bn[or]\.? |#)$`)
)

// spellCode spells the groups of a code with a pause between them: letters by name and digits
// one by one.
func spellCode(code string) string {
	groups := strings.FieldsFunc(code, func(r rune) bool { return !alnum(r) })
	for i, group := range groups {
		groups[i] = strings.TrimSpace(runs.ReplaceAllStringFunc(group, func(run string) string {
			if startsDigit(run) {
				return " " + digitByDigit(run)
			}
			return " " + spell(run)
		}))
	}
	return strings.Join(groups, ", ")
}

// runs matches adjacent letters or digits.
var runs = regexp.MustCompile(`\d+|[^\d]+`)

// sayGroups spells a number written in groups, with a pause between them.
func sayGroups(s string) string {
	var said []string
	for _, group := range strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) {
		said = append(said, digitByDigit(group))
	}
	return strings.Join(said, ", ")
}

// phoneRules returns the rules for numbers that are spelt: +39 333 123 4567, tel. 02 1234567.
func (l language) phoneRules() []rule {
	const called = `(?i:t[eé]l(?:[eé]f(?:ono|one)?)?|phone|fax|cel(?:ular|l(?:ulare)?)?|m[oó]vil|whatsapp|appelez|` +
		`llame|ligue|chiami|composez|marque|disque|téléphone|telefone)`
	if l == "hi" {
		return []rule{
			l.says(`\+(\d)`, "प्लस $1"),
			l.says(`\b(\d{2,5}(?:[ -]\d{2,8}){1,4}|\d{7,})\b`, "{d1}", apart, func(m match) bool {
				return fiveFigures.MatchString(m.group(0)) && !strings.HasSuffix(m.group(0), "000")
			}),
		}
	}
	number := func(m match) (string, bool) {
		return m.group(1) + l.number(m.group(2)), ended(m)
	}
	return []rule{
		rewrite(`(\+|\b`+called+`\b\.?(?: \pL{1,4})? ?:? ?)(\(?\d{2,4}\)?(?:[ .-]\(?\d{2,9}\)?){1,5})`, number),
		rewrite(`()(\(\d{2,3}\) ?\d{4,5}[ -]\d{4})\b`, number),
		// 91234-5678, 01304-001; 1914-1918
		rewrite(`\b(\d{3,5})-(\d{3,4})\b`, func(m match) (string, bool) {
			from, end := m.group(1), m.group(2)
			years := len(from) == 4 && len(end) == 4 && from <= end && end < "2100"
			if years || strings.HasSuffix(from, "0") && strings.HasSuffix(end, "0") && from[0] != '0' {
				return phrase(from, l.word("to"), end), alone(m)
			}
			return spaceGroups(m.group(0)), alone(m) && (len(from) > 3 || len(end) > 3)
		}),
		l.says(`\b(0\d{3,}|\d{7,})\b`, "{d1}", apart, whole, func(m match) bool { // 02093, 0142685300
			return m.group(1)[0] == '0' || !strings.HasSuffix(m.group(1), "000")
		}),
	}
}

// A Hindi number with a group of fiveFigures is a telephone number. longFigures are spelt figure by
// figure.
var (
	fiveFigures = regexp.MustCompile(`\d{5,}`)
	longFigures = regexp.MustCompile(`\d{4,}`)
)

// number returns the spoken form of a telephone number: groups of two and three figures as
// numbers, longer ones figure by figure.
func (l language) number(s string) string {
	s = longFigures.ReplaceAllStringFunc(s, spaceFigures)
	return strings.Join(strings.Fields(strings.NewReplacer("-", ", ", "(", "", ")", " ").Replace(s)), " ")
}

// spaceFigures puts spaces between figures; the synthesizer then speaks each one separately.
func spaceFigures(n string) string { return strings.Join(strings.Split(n, ""), " ") }

// spaceGroups spaces the figures of each group and puts a pause between the groups.
func spaceGroups(groups string) string {
	return strings.NewReplacer("   ", ", ", " - ", ", ").Replace(spaceFigures(groups))
}
