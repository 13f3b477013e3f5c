package text

import (
	"strconv"
	"strings"
)

var monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July",
	"August", "September", "October", "November", "December"}

const (
	monthPattern = `(Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?\.?|July?\.?|Aug(?:ust|\.)?|Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)`
	dayPattern   = `(\d{1,2})(?:st|nd|rd|th)?`
)

const shortDays = `Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun`

func dayName(short string) string { return formOf(shortForms, strings.ToLower(short)) }

// datedBy stand before a day.
const datedBy wordList = " on until till by ends before after through since starting dated "

// dateRules say dates; monthFirst decides what 3/4/2026 is.
func (e english) dateRules() []rule {
	return []rule{
		doubtfulRule("-", `\b(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?`, func(m match) (string, bool) { // RFC 3339
			said, ok := e.sayDate(m.group(1), m.group(2), m.group(3))
			clock, ok2 := e.sayClock(m.group(4), m.group(5), false)
			if clock += e.sayOffset(m.group(6)); ok2 && m.group(6) == "Z" {
				clock += " UTC"
			}
			return said + ", " + clock, ok && ok2 && m.apart()
		}),
		doubtfulRule("-/.", `\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})`, func(m match) (string, bool) {
			said, ok := e.sayDate(m.group(1), m.group(2), m.group(3))
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
			return e.sayDate(y, a, b)
		}),
		// 5/1–8/31, Tues., 12/3
		doubtfulRule("/", `\b(\d{1,2})/(\d{1,2}) ?(?:[-–—]|to|thru|through) ?(\d{1,2})/(\d{1,2})\b`, func(m match) (string, bool) {
			from, ok := e.sayDayOfYear(m.group(1), m.group(2))
			to, ok2 := e.sayDayOfYear(m.group(3), m.group(4))
			parts := usualFraction(m.group(1), m.group(2)) && usualFraction(m.group(3), m.group(4))
			return from + " to " + to, ok && ok2 && !parts && m.apart() && !strings.HasPrefix(m.after(), "/") && !strings.HasSuffix(m.before(), "/")
		}),
		doubtfulRule("/", `\b((?:`+shortDays+`|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\.?,? )(\d{1,2})/(\d{1,2})\b`, func(m match) (string, bool) {
			day, ok := e.sayDayOfYear(m.group(2), m.group(3))
			name, _, _ := strings.Cut(strings.TrimRight(m.group(1), " "), ",")
			if name = strings.TrimSuffix(name, "."); !strings.HasSuffix(name, "day") {
				name = dayName(name)
			}
			return name + ", " + day, ok && !strings.HasPrefix(m.after(), "/")
		}),
		doubtfulRule("/", `\b(\d{1,2})/(\d{1,2})\b`, func(m match) (string, bool) { // on 5/1
			day, ok := e.sayDayOfYear(m.group(1), m.group(2))
			ok = ok && m.group(0) != "9/11" && (datedBy.has(strings.ToLower(lastWord(m.before()))) || strings.HasSuffix(m.before(), "week of ")) && !usualFraction(m.group(1), m.group(2)) && m.apart()
			return day, ok && !strings.HasSuffix(m.before(), "/") && !strings.HasPrefix(m.after(), "/") && !strings.HasPrefix(m.after(), "%")
		}),
		// 05-JAN-2025
		doubtfulRule("-", `\b(\d{1,2})-((?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))-(\d{4}|\d{2})\b`, func(m match) (string, bool) {
			month := 1 + strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(m.group(2)))/3
			said, ok := e.sayDate(m.group(3), strconv.Itoa(month), m.group(1))
			return said, ok && m.apart()
		}),
		// Jan 5 - Feb 3
		doubtfulRule("-–—", `\b`+monthPattern+` `+dayPattern+` ?[-–—] ?`+monthPattern+` `+dayPattern+`\b`, func(m match) (string, bool) {
			return monthName(m.group(1)) + " " + e.ordinal(m.group(2)) + " to " + monthName(m.group(3)) + " " + e.ordinal(m.group(4)), m.apart() && atoi(m.group(2)) <= 31 && atoi(m.group(4)) <= 31
		}),
		newRule("-/", `\b(`+shortDays+`)[-/](`+shortDays+`)[-/](`+shortDays+`)\b`, func(m match) string {
			return dayName(m.group(1)) + ", " + dayName(m.group(2)) + ", " + dayName(m.group(3))
		}),
		newRule("noon", `\b([Nn]oon|[Mm]idnight) ?[-–—] ?(\d)`, func(m match) string { return m.group(1) + " to " + m.group(2) }),
		// 03/04: nobody writes a fraction so
		doubtfulRule("/", `\b(\d{2})/(\d{2})\b`, func(m match) (string, bool) {
			month, day := m.group(1), m.group(2)
			if e.dayFirst && atoi(day) <= 12 || atoi(month) > 12 {
				month, day = day, month
			}
			mo, d := atoi(month), atoi(day)
			ok := (m.group(1)[0] == '0' || m.group(2)[0] == '0' || datedBy.has(strings.ToLower(lastWord(m.before())))) && mo >= 1 && mo <= 12 && d >= 1 && d <= 31
			if !ok || !m.apart() || strings.HasSuffix(m.before(), "/") || strings.HasPrefix(m.after(), "/") || strings.HasPrefix(m.after(), "%") {
				return "", false
			}
			return e.sayDay(mo, day), true
		}),
		// Mon to Sat, Mon & Tue, Mon 9-5
		newRule(digits+"-–—&,t", `\b(`+shortDays+`)( to | and | & |, |-|–|—)(`+shortDays+`)\b`, func(m match) string {
			between := m.group(2)
			if strings.ContainsAny(between, "-–—") {
				between = " to "
			}
			return dayName(m.group(1)) + between + dayName(m.group(3))
		}),
		newRule(digits, `\b(`+shortDays+`)(:? \d{1,2}(?:[:.]\d\d)? ?(?:[-–—]|to\b|until\b|[apAP]\.?[mM]))`, func(m match) string { return dayName(m.group(1)) + m.group(2) }),
		// Sun, Nov 22
		newRule(digits, `\b(Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun)\.?,? (`+strings.Trim(monthPattern, "()")+`|\d{1,2} (?:`+strings.Trim(monthPattern, "()")+`))`, func(m match) string {
			return formOf(shortForms, strings.ToLower(m.group(1))) + ", " + m.group(2)
		}),
		newRule(digits, `\b(FY|Q[1-4]|H[12]) ?((?:19|20)\d{2})\b`, func(m match) string { return m.group(1) + " " + e.year(m.group(2)) }),
		doubtfulRule("A", `\bAD (\d)|(\d) AD\b`, func(m match) (string, bool) {
			if m.group(1) != "" {
				return "A-D " + m.group(1), true
			}
			return m.group(2) + " A-D", true
		}),
		// June 5-7, 5-7 June
		doubtfulRule("-–", `\b`+monthPattern+` `+dayPattern+` ?[-–] ?`+dayPattern+`\b`, func(m match) (string, bool) {
			return monthName(m.group(1)) + " " + e.ordinal(m.group(2)) + " to " + e.ordinal(m.group(3)), m.apart() && atoi(m.group(3)) <= 31
		}),
		doubtfulRule("-–", `\b`+dayPattern+` ?[-–] ?`+dayPattern+` (?:of )?`+monthPattern+`\b`, func(m match) (string, bool) {
			return e.ordinal(m.group(1)) + " to " + e.ordinal(m.group(2)) + " of " + monthName(m.group(3)), m.apart() && atoi(m.group(2)) <= 31
		}),
		// 12/2026
		doubtfulRule("/", `\b(0?[1-9]|1[0-2])/((?:19|20)\d{2})\b`, func(m match) (string, bool) {
			return monthNames[atoi(m.group(1))-1] + " " + e.year(m.group(2)), m.apart() && !strings.HasSuffix(m.before(), "/")
		}),
		doubtfulRule(digits, `\b`+dayPattern+` (?:of )?`+monthPattern+`(?:,? (\d{4}))?\b`, func(m match) (string, bool) {
			said, ok := e.sayDayOf(m.group(1), m.group(2), m.group(3))
			if ok && strings.EqualFold(lastWord(m.before()), "the") {
				said = strings.TrimPrefix(said, "the ")
			}
			return said, ok
		}),
		doubtfulRule(digits, `\b`+monthPattern+` `+dayPattern+`\b(?:,? (\d{4})\b)?`, func(m match) (string, bool) {
			return e.sayMonthDay(m)
		}),
		doubtfulRule(digits, `\b`+monthPattern+`,? (\d{4})\b`, func(m match) (string, bool) {
			return monthName(m.group(1)) + " " + e.year(m.group(2)), m.apart()
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

// sayDate says a date given in numbers.
func (e english) sayDate(y, month, day string) (string, bool) {
	mo, d := atoi(month), atoi(day)
	if mo < 1 || mo > 12 || d < 1 || d > 31 {
		return "", false
	}
	said := e.sayDay(mo, day)
	if len(y) == 2 {
		return said + ", " + e.sayShortYear(y), true
	}
	return said + ", " + e.year(y), true
}

// sayDay says a day of a month, in the order of the place.
func (e english) sayDay(month int, day string) string {
	if e.dayFirst {
		return "the " + e.ordinal(day) + " of " + monthNames[month-1]
	}
	return monthNames[month-1] + " " + e.ordinal(day)
}

// sayDayOfYear says a day and a month in the order of the place, or in the only one
// that there can be.
func (e english) sayDayOfYear(a, b string) (string, bool) {
	month, day := a, b
	if e.dayFirst && atoi(day) <= 12 || atoi(month) > 12 {
		month, day = day, month
	}
	mo, d := atoi(month), atoi(day)
	if mo < 1 || mo > 12 || d < 1 || d > 31 {
		return "", false
	}
	return e.sayDay(mo, day), true
}

// usualFraction reports whether a part of a whole is one that people name: a half,
// three quarters, five eighths.
func usualFraction(over, under string) bool {
	const usual wordList = " 2 3 4 5 6 8 10 16 "
	return atoi(over) < atoi(under) && usual.has(under)
}

// sayOffset says how far a clock is from UTC.
func (e english) sayOffset(offset string) string {
	if offset == "" || offset == "Z" {
		return ""
	}
	sign := " plus "
	if offset[0] == '-' {
		sign = " minus "
	}
	said := " UTC" + sign + e.cardinal(offset[1:3])
	if minutes := offset[len(offset)-2:]; minutes != "00" {
		said += " " + e.cardinal(minutes)
	}
	return said
}

// sayMonthDay says "Nov 21, 2026".
func (e english) sayMonthDay(m match) (string, bool) {
	day, y := m.group(2), m.group(3)
	if d := atoi(day); d < 1 || d > 31 || strings.HasPrefix(m.after(), ":") || m.group(1) == "May" && endsWord(strings.TrimSpace(m.before())) && lowerFollows(m) && y == "" {
		return "", false
	}
	said := monthName(m.group(1)) + " " + e.ordinal(day)
	if y != "" {
		said += ", " + e.year(y)
	}
	return said, true
}

// lowerFollows reports whether the words go on behind the match.
func lowerFollows(m match) bool {
	t := strings.TrimLeft(m.after(), " ")
	return len(t) < len(m.after()) && t != "" && t[0] >= 'a' && t[0] <= 'z' && unitFollows(t)
}

// unitFollows reports whether t begins with what is counted.
func unitFollows(t string) bool {
	word, _, _ := strings.Cut(t, " ")
	word = strings.TrimRight(word, ".,;:!?")
	const people wordList = " people men women children "
	return people.has(word) || strings.HasSuffix(word, "s") && !strings.Contains(" is was has as ", " "+word+" ")
}

// sayDayOf says "21 November 2026".
func (e english) sayDayOf(day, month, y string) (string, bool) {
	if d := atoi(day); d < 1 || d > 31 {
		return "", false
	}
	said := "the " + e.ordinal(day) + " of " + monthName(month)
	if y != "" {
		said += ", " + e.year(y)
	}
	return said, true
}

// monthName is the full name of a month written short or long.
func monthName(s string) string {
	for _, name := range monthNames {
		if strings.HasPrefix(name, s[:3]) {
			return name
		}
	}
	return s
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
