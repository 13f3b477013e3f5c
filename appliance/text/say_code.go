package text

import (
	"regexp"
	"strings"
)

// codeRules read out what is no word and no amount: codes, serial numbers,
// post codes, addresses of machines, and what stands on signs and doors.
func (e english) codeRules() []rule {
	readOut := func(m match) (string, bool) {
		return m.group(1) + readOne(strings.ReplaceAll(m.group(2), " ", "")), !startsWord(m.after())
	}
	return []rule{
		// 12 rue de la Paix, 75008 Paris
		newRule(",", `(\d[^,]{3,40}, )(\d{5})( [A-Z][a-z])`,
			func(m match) string { return m.group(1) + digitByDigit(m.group(2)) + m.group(3) }),
		// post codes: SW1A 1AA, K1A 0B1
		newRule(digits, `\b([A-Z]{1,2}\d[A-Z0-9]?) (\d[ABD-HJLNP-UW-Z]{2}|\d[A-Z]\d)\b`,
			func(m match) string { return readOne(m.group(1)) + ", " + readOne(m.group(2)) }),
		newRule(digits, `\b([A-Z]{2}) (\d{5}(?:-\d{4})?)\b`,
			func(m match) string { return spell(m.group(1)) + " " + sayGroups(m.group(2)) }),
		doubtfulRule("-", `\b\d{5}-\d{4}\b`,
			func(m match) (string, bool) { return sayGroups(m.group(0)), apartFromSigns(m) }),

		doubtfulRule(digits, `\b((?i:flight|flights):? )([A-Z]{2} ?\d{1,4})\b`, readOut),
		// what is called a number, and is one that is not counted with
		// ticket, no. 0087; VAT no.: 4711
		writes(".", `\b([Nn])o\.:`, "${1}umber:"),
		newRule(".", `\b([Nn])o\. (0\d+)\b`,
			func(m match) string { return m.group(1) + "umber " + digitByDigit(m.group(2)) }),

		doubtfulRule(digits, `(?i)\b((?:order|invoice|booking|reservation|ticket|claim|customer|member|policy|`+
			`patient|tracking|serial|sku|reference|ref|case|confirmation|account|part|item)(?: `+
			`(?:number|code|no\.?|nr\.?|id|is)){0,2}:? ?#?)((?:[A-Z]{1,4}-)?(?:[A-Z0-9]*\d[A-Z0-9]*)(?:[-/ `+
			`]?[A-Z0-9]*\d[A-Z0-9]*)*(?:-[A-Z]{1,4}\b)?)`, func(m match) (string, bool) {
			return e.sayNumber(m)
		}),
		// aB3-x9Z: capitals, small letters and digits all mixed
		doubtfulRule(digits, `[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*`, func(m match) (string, bool) {
			return readAll(m.group(0)), m.apart() && isCode(m.group(0)) && !strings.HasPrefix(m.after(), ":")
		}),
		// exit A1, gate B22, seat 14C, platform 4b
		doubtfulRule(digits, `\b((?i:exit|gate|door|room|row|seat|stand|terminal|platform|track|pier|dock|bay|`+
			`bus|line|stop|hall|stall|booth|level|lot|zone|aisle|apartment|apt\.?|flat|unit|suite|building|block|`+
			`wing|ward|pump|lane|bed|table|shelf|locker|section|class|grade|form|size|page)s?) `+
			`(?:([A-Z][ -]?|[a-z])(\d{1,4})|(\d{1,4})([A-Za-f]))\b`,
			func(m match) (string, bool) {
				if m.group(4) != "" {
					return m.group(1) + " " + e.sayNumbered(m.group(4)) + " " + spell(m.group(5)), m.apart()
				}
				return m.group(1) + " " + letterBefore(m.group(2)[:1], e.sayNumbered(m.group(3))), m.apart()
			}),
		// Q1-Q3, seats A12–A15, and Q4'25
		doubtfulRule("-–—", `\b([A-Z])(\d{1,3}) ?[-–—] ?([A-Z])(\d{1,3})\b`, func(m match) (string, bool) {
			from, to := letterBefore(m.group(1), e.sayNumbered(m.group(2))),
				letterBefore(m.group(3), e.sayNumbered(m.group(4)))
			return from + " to " + to, m.group(1) == m.group(3) && m.apart()
		}),
		// A380, M25, B12: a letter and its number
		doubtfulRule(digits, `\b([A-Z])(\d{1,3})\b`, func(m match) (string, bool) {
			return letterBefore(m.group(1), e.sayNumbered(m.group(2))),
				m.apart() && !strings.HasSuffix(m.before(), "-") && !strings.HasPrefix(m.after(), "-") &&
					!strings.HasPrefix(m.after(), ".")
		}),
		// MP3, CO2, BA2490: two letters are said by their names
		doubtfulRule(digits, `\b([A-Z]{2})(\d)`, func(m match) (string, bool) {
			return spell(m.group(1)) + " " + m.group(2), true
		}),
	}
}

// sayNumber reads out the number of an order and the like; one that may be an
// amount ("order 20 chairs") stays.
func (e english) sayNumber(m match) (string, bool) {
	number := m.group(2)
	named := strings.ContainsAny(m.group(1), ".#:") || strings.Count(strings.TrimSpace(m.group(1)), " ") > 0
	plain := strings.Trim(number, digits) == ""
	switch {
	case startsWord(m.after()), strings.HasPrefix(m.after(), "%"), strings.HasPrefix(m.after(), ":"),
		pointed(m.after()):
		return "", false
	case !plain && (len(number) < 5 || noNumber.MatchString(number)):
		return "", false
	case plain && len(number) < 3, plain && len(number) < 4 && !named:
		return "", false
	case plain && !named && (unitFollows(strings.TrimPrefix(m.after(), " ")) || strings.HasSuffix(number, "00")):
		return "", false
	}
	said := shortNumber.ReplaceAllString(m.group(1), "number ")
	return said + readAll(number), true
}

// noNumber is what stands behind such words and is none of their numbers: an
// ordinal, a time, an amount, a fraction, a date. shortNumber stands for the word.
var (
	noNumber = regexp.MustCompile(`^(?:\d+[a-z]{1,5}|\d+(?:AM|PM|KG|GB)|\d{1,3}[/ ]\d{1,3}|\d{4}-\d{2}-\d{2}|` +
		`\d{1,2}[/-]\d{1,2}[/-]\d{2,4}|(?:19|20)\d{2}[/-](?:19|20)\d{2}|\d{1,3}-\d{1,3})$`)
	shortNumber = regexp.MustCompile(`(?:\bn[or]\.? |#)$`)
)

// pointed reports whether a decimal goes on with s.
func pointed(s string) bool {
	return len(s) > 1 && (s[0] == '.' || s[0] == ',') && s[1] >= '0' && s[1] <= '9'
}

// Four letters in a row are a word; codes change between letters and digits: twice, or,
// all in small letters, four times.
var (
	fourLetters = regexp.MustCompile(`[A-Za-z]{4}`)
	twoChanges  = regexp.MustCompile(`[A-Za-z]\d+[A-Za-z]|\d[A-Za-z]+\d`)
	fourChanges = regexp.MustCompile(`(?:[A-Za-z]\d+){2}[A-Za-z]|(?:\d[A-Za-z]+){2}\d`)
)

// isCode reports whether s is letters and digits as no word, time or measure
// has them: a part of it changes between them twice, or has both cases beside a
// digit, and no four letters stand together, nor do small ones behind a number.
func isCode(s string) bool {
	if len(s) < 5 || !strings.ContainsAny(s, digits) || fourLetters.MatchString(s) {
		return false
	}
	for part := range strings.SplitSeq(s, "-") {
		digit := strings.ContainsAny(part, digits)
		upper, lower := part != strings.ToLower(part), part != strings.ToUpper(part)
		switch {
		case digit && lower && !upper && part[0] <= '9': // 2h30m, 3rd
			return false
		case digit && upper && lower, upper && twoChanges.MatchString(part), fourChanges.MatchString(part):
			return true
		}
	}
	return false
}

// readAll reads out the groups of a code, with a breath between them.
func readAll(code string) string {
	groups := strings.FieldsFunc(code, func(r rune) bool { return !alnum(r) })
	for i, group := range groups {
		groups[i] = readOne(group)
	}
	return strings.Join(groups, ", ")
}

// readOne says letters by their names and digits one by one.
func readOne(group string) string {
	return strings.TrimSpace(runs.ReplaceAllStringFunc(group, func(run string) string {
		if startsDigit(run) {
			return " " + digitByDigit(run)
		}
		return " " + spell(run)
	}))
}

// runs are letters, or digits, that stand together.
var runs = regexp.MustCompile(`\d+|[^\d]+`)

// letterBefore says a letter and what belongs to it.
func letterBefore(letter, said string) string {
	if letter == "" {
		return said
	}
	return spell(letter) + " " + said
}
