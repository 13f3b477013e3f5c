package text

import (
	"regexp"
	"strconv"
	"strings"
)

func (e english) mathRules() []rule {
	const n = `(-?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+))`
	return []rule{
		newRule("-–—", `\b(\d{4}) ?[-–—] ?(\d{4})\b`, func(m match) string {
			return e.sayPlain(m.group(1)) + " to " + e.sayPlain(m.group(2))
		}),
		doubtfulRule("-–—", `\b((?:19|20)\d{2})[-–](\d{2})\b`, func(m match) (string, bool) { // 1914-18
			return e.year(m.group(1)) + " to " + e.cardinal(m.group(2)), m.apart()
		}),
		doubtfulRule("-–—", n+` [-–—] `+n, e.sayApart), // 10 - 4 = 6, pages 5 - 8
		doubtfulRule("-–—", `\b(\d+(?:,\d{3})*(?:\.\d+)?)[-–—](\d+(?:,\d{3})*(?:\.\d+)?)([^-\w]|$)`,
			func(m match) (string, bool) {
				before := m.before()
				letter := before != "" && strings.ContainsAny(before[len(before)-1:], "-./")
				return e.sayPlain(m.group(1)) + " to " + e.sayPlain(m.group(2)) + m.group(3), !letter
			}),
		newRule("×", `(\w|\)) × (\w|\()`, func(m match) string { return m.group(1) + " times " + m.group(2) }),
		writes("M", `\b(\d+(?:\.\d+)?)M ([a-z])`, "$1 million $2"), // 2.5M views
		newRule("xX×", `\b(\d+(?:\.\d+)?) ?[x×X] ?(\d+(?:\.\d+)?)\b`, func(m match) string {
			return e.decimal(m.group(1)) + " by " + e.decimal(m.group(2))
		}),
		doubtfulRule("xX×", `\b(\d+(?:\.\d+)?)[xX×]`, func(m match) (string, bool) { // 2x faster
			return e.decimal(m.group(1)) + " " + plural(m.group(1), "time"), !startsWord(m.after())
		}),
		newRule("+", `\b(\d+)\+`, func(m match) string { return m.group(1) + " plus" + spaceAfter(m) }),
		newRule("k", `\b(\d+(?:\.\d+)?)k\b`, func(m match) string { return e.decimal(m.group(1)) + " thousand" }),
		newRule("#", `\b([A-G])#`, func(m match) string { return m.group(1) + " sharp" }),
		newRule("+", ` ?\+ ?`+n, func(m match) string { return " plus " + m.group(1) }),
		newRule("*", `(\d) ?\* ?`+n, func(m match) string { return m.group(1) + " times " + m.group(2) }),
		newRule("^", `\^2\b`, func(match) string { return " squared" }),
		newRule("^", `\^3\b`, func(match) string { return " cubed" }),
		newRule("^", `\^`+n, func(m match) string { return " to the power of " + m.group(1) }),
		newRule("^", `\^([a-z])\b`, func(m match) string { return " to the power of " + m.group(1) }),
		newRule("~≈", `[~≈] ?`+n, func(m match) string { return space(m) + "about " + m.group(1) }),
	}
}

// reckoned says that a text is about sums; scored, that it is about a game.
var (
	reckoned = regexp.MustCompile(`(?i)=|\b(?:equals|minus|subtract\w*|difference|calculat\w+|solve|sum|plus|` +
		`(?:what is|what's|how much is) -?\d)`)
	scored = regexp.MustCompile(`(?i)\b(?:won|wins?|beat|lost|lead|leads|scores?|scored|final|defeated|drew|match|` +
		`game|half-time)\b`)
)

// sayApart says two numbers with a dash between spaces: a difference in sums, and where
// the second is smaller, else from the one to the other.
func (e english) sayApart(m match) (string, bool) {
	from, to := strings.ReplaceAll(m.group(1), ",", ""), strings.ReplaceAll(m.group(2), ",", "")
	a, _ := strconv.ParseFloat(from, 64)
	b, _ := strconv.ParseFloat(to, 64)
	last := strings.ToLower(strings.TrimRight(lastWord(m.before()), ",:"))
	between := " minus "
	if a >= 0 && b >= 0 && !reckoned.MatchString(m.text) &&
		(a < b || scored.MatchString(m.text) || openFrom.has(last) && a < 13 && b < 13) {
		between = " to "
	}
	return m.group(1) + between + m.group(2), !endsNumber(m.before()) && !pointed(m.after())
}

// comparison is the words for a sign between two numbers.
func comparison(sign string) string {
	const words = ` <:less_than >:more_than <=:at_most ≤:at_most >=:at_least ≥:at_least !=:is_not_equal_to
 ≠:is_not_equal_to `
	return formOf(words, sign)
}

// sayPlain says a number of which nothing more is known: as a year if it looks
// like one.
func (e english) sayPlain(n string) string {
	if looksLikeYear(n) {
		return e.year(n)
	}
	return e.decimal(n)
}

func looksLikeYear(n string) bool {
	return len(n) == 4 && strings.Trim(n, digits) == "" && n >= "1100" && n < "2100"
}

func (e english) numberRules() []rule {
	return []rule{
		// BA2490: a flight or a part is read out
		newRule(digits, `\b([A-Z]{1,3})(\d{3,})\b`, func(m match) string {
			return m.group(1) + " " + digitByDigit(m.group(2))
		}),
		// 3D, B2B, H2O, MP3, COVID-19: numbers in names
		writes(digits, `([A-Za-z])-(\d+)\b`, "$1 $2"),
		doubtfulRule(digits, `(-?)\b(\d{4})\b`, e.sayYear),
		newRule(digits, `(-?)(\d+(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)`, func(m match) string {
			sign := minusBefore(m.group(1), m.before())
			if sign == "-" && space(m) != "" {
				sign = "" // C-3PO, 9-1-1
			}
			return space(m) + sign + e.decimal(m.group(2)) + spaceAfter(m)
		}),
	}
}

// historic is what a text has that tells of long ago.
var historic = regexp.MustCompile(`(?i)\b(?:years?|founded|built|rebuilt|established|erected|completed|crowned|` +
	`conquest|conquered|battle|reign(?:ed)?|king|queen|century|centuries|medieval|norman|viking|saxon|dynasty|charter|` +
	`castle|abbey|cathedral|born|died|dated?|dates)\b`)

// sayYear says a number of four digits as a year where it stands like one.
func (e english) sayYear(m match) (string, bool) {
	n := m.group(2)
	const dated wordList = " in since year a-d circa born died by until "
	year := looksLikeYear(n) || n > "1009" && n < "2200" &&
		(dated.has(strings.ToLower(lastWord(m.before()))) || historic.MatchString(m.text))
	if m.group(1) != "" || !year || !m.apart() || strings.HasSuffix(m.before(), ".") ||
		strings.HasSuffix(m.before(), ",") {
		return "", false
	}
	if a := m.after(); len(a) > 1 && (a[0] == '.' || a[0] == ',') && a[1] >= '0' && a[1] <= '9' {
		return "", false
	}
	const years wordList = " in since from until till by of year after before circa ca around during the between and "
	if (!years.has(strings.ToLower(lastWord(m.before()))) ||
		n < "1100") && unitFollows(strings.TrimPrefix(m.after(), " ")) {
		return "", false // 1984 people, 2026 dollars
	}
	return e.year(n), true
}
