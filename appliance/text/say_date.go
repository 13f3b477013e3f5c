package text

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

var monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July",
	"August", "September", "October", "November", "December"}

const (
	monthPattern = `(Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?\.?|July?\.?|Aug(?:ust|` +
		`\.)?|Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)`
	dayPattern = `(\d{1,2})(?:st|nd|rd|th)?`
)

const shortDays = `Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun`

const weekdays wordList = " mon tue tues wed thu thur thurs fri sat sun "

// anyDay is the name of a day, short or whole, also as on signs.
const anyDay = `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|` + shortDays + `|MON|TUES?|WED|THU|THURS?|FRI|SAT|SUN`

// seasonal follows the years of a season.
var seasonal = regexp.MustCompile(`^ (?:season|school|academic|academy|campaign|winter|tour|budget|fiscal|` +
	`financial|edition|term)`)

// dayName is the whole name of a day, which may be whole already.
func dayName(short string) string {
	return cmp.Or(formOf(shortForms, strings.ToLower(short)), short)
}

// datedBy stand before a day.
const datedBy wordList = " on until till by ends before after through since starting dated "

// dateRules say dates; monthFirst decides what 3/4/2026 is.
func (e english) dateRules() []rule {
	return []rule{
		// 2026-11-22T14:05:00Z
		writes("T", `\b(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-][\d:]{4,5})?`, "$1, $2"),
		doubtfulRule("-/.", `\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})`, func(m match) (string, bool) {
			said, ok := e.sayDate(m.group(1), atoi(m.group(2)), m.group(3), e.dayFirst)
			return said, ok && m.apart()
		}),
		doubtfulRule("/-.", `\b(\d{1,2})([/.-])(\d{1,2})([/.-])(\d{4}|\d{2})\b`, func(m match) (string, bool) {
			a, b, y := m.group(1), m.group(3), m.group(5)
			sign := m.group(2)
			if !m.apart() || sign != m.group(4) || len(y) == 2 && sign != "/" {
				return "", false
			}
			if atoi(a) > 12 || (sign == "." || e.dayFirst) && atoi(b) <= 12 {
				a, b = b, a
			}
			return e.sayDate(y, atoi(a), b, e.dayFirst)
		}),
		// May 06, 1994 - June 12, 1996; 1 Jan–31 Mar; January - March
		doubtfulRule("-–—", `\b(`+monthPattern+`(?: `+dayPattern+`)?(?:,? \d{4})?) ?[-–—] ?`+
			`((?:(?:`+anyDay+`)\.?,? )?(?:`+dayPattern+` )?`+monthPattern+`)\b`,
			func(m match) (string, bool) {
				return m.group(1) + " to " + m.group(4), len(m.group(0)) > len("May - May") || m.group(1) != "May"
			}),
		// 5/1–8/31, Tues., 12/3
		doubtfulRule("/", `\b(\d{1,2})/(\d{1,2}) ?(?:[-–—]|to|thru|through) ?(\d{1,2})/(\d{1,2})\b`,
			func(m match) (string, bool) {
				from, ok := e.sayDayOfYear(m.group(1), m.group(2))
				to, ok2 := e.sayDayOfYear(m.group(3), m.group(4))
				parts := usualFraction(m.group(1), m.group(2)) && usualFraction(m.group(3), m.group(4))
				return from + " to " + to, ok && ok2 && !parts && m.apart() && !strings.HasPrefix(m.after(), "/") &&
					!strings.HasSuffix(m.before(), "/")
			}),
		doubtfulRule("/", `\b(\d{1,2})/(\d{1,2})\b`, e.sayStroke), // on 5/1, 03/04, Tues., 12/3
		newRule("noon", `\b([Nn]oon|[Mm]idnight) ?[-–—] ?(\d)`, func(m match) string {
			return m.group(1) + " to " + m.group(2)
		}),
		newRule("-/", `\b(`+shortDays+`)[-/](`+shortDays+`)[-/](`+shortDays+`)\b`, func(m match) string { // Mon-Wed-Fri
			return dayName(m.group(1)) + ", " + dayName(m.group(2)) + ", " + dayName(m.group(3))
		}),
		// Mon to Sat, Tuesday - Saturday, MON-FRI, Tue/Thu
		newRule("-–—&,to/", `\b(`+anyDay+`)\.?( to | and | & |, | ?[-–—] ?|/)(`+anyDay+`)\b\.?`, func(m match) string {
			between := m.group(2)
			switch {
			case strings.ContainsAny(between, "-–—"):
				between = " to "
			case between == "/":
				between = " and "
			}
			return dayName(m.group(1)) + between + dayName(m.group(3)) + m.stop()
		}),
		// Sat: closed, every Sun, closed Mon
		doubtfulRule("SMTWF", `\b(`+shortDays+`)(:)`, func(m match) (string, bool) {
			last := strings.ToLower(lastWord(m.before()))
			return dayName(m.group(1)) + m.group(2), last != "the" && last != "a"
		}),
		newRule(digits, `\b(`+shortDays+`)(:? \d{1,2}(?:[:.]\d\d)? ?(?:[-–—]|to\b|until\b|[apAP]\.?[mM]))`,
			func(m match) string {
				return dayName(m.group(1)) + m.group(2)
			}),
		// Sun, Nov 22
		newRule("MTWFS", `\b(Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun)\.?,? (the \pL|`+strings.Trim(monthPattern,
			"()")+`|\d{1,2} (?:`+strings.Trim(monthPattern, "()")+`))`,
			func(m match) string {
				return formOf(shortForms, strings.ToLower(m.group(1))) + ", " + m.group(2)
			}),
		doubtfulRule("SMTWF", `\b(`+shortDays+`)\b\.?`, func(m match) (string, bool) {
			const always, behind wordList = " Tue Tues Thu Thurs Fri ",
				" closed open every each this next last until except on "
			ok := always.has(m.group(1)) || behind.has(strings.ToLower(lastWord(m.before())))
			return dayName(m.group(1)) + m.stop(), ok && m.apart()
		}),

		newRule("A", `\bAD (\d)|\b(\d{1,4}) (?:AD\b|A\.D\.)`, func(m match) string {
			switch n := m.group(2); {
			case n == "":
				return "A-D " + m.group(1)
			case len(n) == 4:
				return e.year(n) + " A-D" + m.stop()
			default:
				return n + " A-D" + m.stop()
			}
		}),
		// June 5-7, 5-7 June
		doubtfulRule("-–", `\b`+monthPattern+` `+dayPattern+` ?[-–] ?`+dayPattern+`\b`, func(m match) (string, bool) {
			from, ok := e.sayDate("", monthOf(m.group(1)), m.group(2), false)
			return from + " to " + e.ordinal(m.group(3)), ok && m.apart() && atoi(m.group(3)) <= 31
		}),
		doubtfulRule("-–", `\b`+dayPattern+` ?[-–] ?`+dayPattern+` (?:of )?`+monthPattern+`\b`,
			func(m match) (string, bool) {
				to, ok := e.sayDate("", monthOf(m.group(3)), m.group(2), true)
				return e.ordinal(m.group(1)) + " to " + strings.TrimPrefix(to, "the "), ok && m.apart()
			}),
		// 2024-11; what follows on a year is the next one: the season 2010-11
		doubtfulRule("-", `\b((?:19|20)\d{2})-(0[1-9]|1[0-2])\b`, func(m match) (string, bool) {
			month := atoi(m.group(2))
			ok := m.apart() && !strings.HasPrefix(m.after(), "-") && !strings.HasSuffix(m.before(), "-")
			if month == (atoi(m.group(1))+1)%100 || seasonal.MatchString(m.after()) {
				return e.year(m.group(1)) + " to " + e.cardinal(m.group(2)), ok
			}
			return monthNames[month-1] + " " + e.year(m.group(1)), ok
		}),
		// 12/2026
		doubtfulRule("/", `\b(0?[1-9]|1[0-2])/((?:19|20)\d{2})\b`, func(m match) (string, bool) {
			return monthNames[atoi(m.group(1))-1] + " " + e.year(m.group(2)),
				m.apart() && !strings.HasSuffix(m.before(), "/")
		}),
		doubtfulRule(digits, `\b`+dayPattern+` (?:of )?`+monthPattern+`(?:,? (\d{4}))?\b`,
			func(m match) (string, bool) {
				said, ok := e.sayDate(m.group(3), monthOf(m.group(2)), m.group(1), true)
				if ok && strings.EqualFold(lastWord(m.before()), "the") {
					said = strings.TrimPrefix(said, "the ")
				}
				return said, ok
			}),
		doubtfulRule(digits, `\b`+monthPattern+` `+dayPattern+`\b(?:,? (\d{4})\b)?`, e.sayMonthDay),
		doubtfulRule(digits, `\b`+monthPattern+`,? (\d{4})\b`, func(m match) (string, bool) {
			return monthNames[monthOf(m.group(1))-1] + " " + e.year(m.group(2)), m.apart()
		}),
		// 1980s, '80s, 80s
		doubtfulRule("s", `'?\b(\d{3}0|\d0)'?s\b`, func(m match) (string, bool) {
			n := m.group(1)
			if len(n) == 4 {
				return pluralWord(e.year(n)), true
			}
			return pluralWord(e.cardinal(n)), n != "00" && n != "10"
		}),
		newRule("'", `\B'(\d{2})\b`, func(m match) string { return e.sayShortYear(m.group(1)) }),
		// seasons and years of account: 2025/26
		doubtfulRule("/", `\b((?:19|20)\d{2})/(\d{2})\b`, func(m match) (string, bool) {
			return e.year(m.group(1)) + " " + e.sayShortYear(m.group(2)), m.apart()
		}),
	}
}

// sayDate says a day of a month, and a year if there is one; false where there is no such day.
func (e english) sayDate(y string, month int, day string, dayFirst bool) (string, bool) {
	if d := atoi(day); month < 1 || month > 12 || d < 1 || d > 31 {
		return "", false
	}
	said := monthNames[month-1] + " " + e.ordinal(day)
	if dayFirst {
		said = "the " + e.ordinal(day) + " of " + monthNames[month-1]
	}
	switch len(y) {
	case 2:
		said += ", " + e.sayShortYear(y)
	case 4:
		said += ", " + e.year(y)
	}
	return said, true
}

// sayDayOfYear says a day and a month in the order of the place, or in the only one
// that there can be.
func (e english) sayDayOfYear(a, b string) (string, bool) {
	month, day := a, b
	if e.dayFirst && atoi(day) <= 12 || atoi(month) > 12 {
		month, day = day, month
	}
	return e.sayDate("", atoi(month), day, e.dayFirst)
}

// holidays are days that nobody writes as parts of a whole.
const holidays wordList = " 12/24 12/25 12/26 12/31 1/1 10/31 "

// letterOf is what stands before a day of two numbers, whatever numbers they are.
var letterOf = regexp.MustCompile(`(?i)\b(?:(?:rsvp|due|return|pay|reply|apply|submit|register|order|book|enroll?)` +
	`(?: it| them| this| back)? (?:by|on|before)|thru|valid to|expires?(?: on)?|exp|` +
	`(?:e-?mail|letter|invoice|order|message|call|visit|appointment|meeting) (?:of|from))$`)

// sayStroke says a day that is written as two numbers; what may be a part of a whole
// stays: "5/8 of it", "I scored 12/25".
func (e english) sayStroke(m match) (string, bool) {
	day, ok := e.sayDayOfYear(m.group(1), m.group(2))
	before, after := strings.TrimRight(m.before(), " "), strings.TrimLeft(m.after(), " ")
	if !ok || !m.apart() || strings.TrimRight(before, "/-–—") != before || strings.IndexAny(after, "/-–—\"%") == 0 {
		return "", false
	}
	month, last := m.group(0), strings.ToLower(strings.TrimRight(lastWord(before), ".,:"))
	if e.dayFirst {
		month = m.group(2) + "/" + m.group(1)
	}
	const scored wordList = " scored got score answered scores with scoring "
	twice := len(m.group(1)) == 2 && len(m.group(2)) == 2
	padded := twice && (m.group(1)[0] == '0' || m.group(2)[0] == '0')
	dated := datedBy.has(last) && m.group(0) != "9/11" || strings.HasSuffix(before, "week of")
	switch {
	case padded, letterOf.MatchString(strings.TrimRight(before, ".")), strings.HasSuffix(last, "day"),
		weekdays.has(last):
		return day, true
	case holidays.has(month) && !scored.has(last) && !unitFollows(after):
		return day, true
	}
	return day, dated && (twice || !usualFraction(m.group(1), m.group(2)))
}

// usualFraction reports whether a part of a whole is one that people name: a half,
// three quarters, five eighths.
func usualFraction(over, under string) bool {
	const usual wordList = " 2 3 4 5 6 8 10 16 "
	return atoi(over) < atoi(under) && usual.has(under)
}

// sayMonthDay says "Nov 21, 2026".
func (e english) sayMonthDay(m match) (string, bool) {
	day, y := m.group(2), m.group(3)
	if strings.HasPrefix(m.after(), ":") ||
		m.group(1) == "May" && y == "" && endsWord(strings.TrimSpace(m.before())) &&
			unitFollows(strings.TrimLeft(m.after(), " ")) {
		return "", false
	}
	return e.sayDate(y, monthOf(m.group(1)), day, false)
}

// unitFollows reports whether t begins with what is counted.
func unitFollows(t string) bool {
	word, _, _ := strings.Cut(t, " ")
	word = strings.TrimRight(word, ".,;:!?")
	const people wordList = " people men women children "
	return people.has(word) || strings.HasSuffix(word, "s") && !strings.Contains(" is was has as ", " "+word+" ")
}

// monthOf is which month is written short or long.
func monthOf(s string) int {
	return 1 + slices.IndexFunc(monthNames[:], func(name string) bool { return strings.HasPrefix(name, s[:3]) })
}

// sayShortYear says a year of two digits: "05" is "oh five".
func (e english) sayShortYear(y string) string {
	switch {
	case y == "00":
		return "two thousand"
	case y[0] == '0':
		return "oh " + units[y[1]-'0']
	}
	return e.cardinal(y)
}
