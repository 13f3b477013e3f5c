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
	monthName = `(Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?\.?|July?\.?|Aug(?:ust|` +
		`\.)?|Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)`
	day       = `(\d{1,2})(?:st|nd|rd|th)?`
	recent    = `((?:19|20)\d{2})` // a year of the 20th or 21st century
	month     = `(0?[1-9]|1[0-2])`
	shortDays = `Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun`
	anyDay    = `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|` + shortDays + `|MON|TUES?|WED|THURS?|FRI|SAT|SUN`
)

const weekdays wordList = " mon tue tues wed thu thur thurs fri sat sun "

// isDay matches the text after a day's number, as opposed to an hour.
var isDay = regexp.MustCompile(`^(?:$|[.,;!?)]+(?: |$)| (?:and|or|we|is|are|in|at|of|from|the|there|for)\b)`)

// dayName returns the full name of a day, from its abbreviation or full name.
func dayName(short string) string {
	return cmp.Or(listed("en", "short").spoken[strings.ToLower(short)], short)
}

// dateRules write out dates; dayFirst decides how to read 3/4/2026.
func (e english) dateRules() []rule {
	return slices.Concat(e.weekdayRules(), e.dateRanges(), []rule{
		e.says(`\b(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-][\d:]{4,5})?`, "$1, $2"),
		rewrite(`\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})`, func(m match) (string, bool) {
			said, ok := e.sayDate(m.group(1), atoi(m.group(2)), m.group(3), e.dayFirst)
			return said, ok && m.apart()
		}),
		rewrite(`\b(\d{1,2})([/.-])(\d{1,2})([/.-])(\d{4}|\d{2})\b`, func(m match) (string, bool) {
			a, b, y, sign := m.group(1), m.group(3), m.group(5), m.group(2)
			if !m.apart() || sign != m.group(4) || len(y) == 2 && sign != "/" {
				return "", false
			}
			if atoi(a) > 12 || (sign == "." || e.dayFirst) && atoi(b) <= 12 {
				a, b = b, a
			}
			return e.sayDate(y, atoi(a), b, e.dayFirst)
		}),
		rewrite(`\b(\d{1,2})/(\d{1,2})\b`, e.sayStroke), // on 5/1, 03/04, Tues., 12/3
		e.says(`\bAD (\d)`, "A-D $1"),
		e.says(`\b(\d{4}) (?:AD\b|A\.D\.)`, "{y1} A-D{.}"),
		e.says(`\b(\d{1,3}) (?:AD\b|A\.D\.)`, "$1 A-D{.}"),
		e.says(`(^|[ (])c\. ?(\d{3,4})\b`, "$1circa $2"),
		e.says(`(^|[ (])b\. ?(\d{4})\b`, "$1born $2"),
		e.says(`(^|[ (])d\. ?(\d{4})\b`, "$1died $2"),
		// 2024-11; two figures that follow a year are the next year: the season 2010-11
		rewrite(`\b`+recent+`-(0[1-9]|1[0-2])\b`, func(m match) (string, bool) {
			if followsOn(m.group(1), m.group(2)) {
				return e.year(m.group(1)) + " to " + e.cardinal(m.group(2)), alone(m)
			}
			return monthNames[atoi(m.group(2))-1] + " " + e.year(m.group(1)), alone(m)
		}),
		e.says(`\b`+month+`/`+recent+`\b`, "{m1} {y2}", alone), // 12/2026
		rewrite(`\b`+day+` (?:of )?`+monthName+`(?:,? (\d{4}))?\b`, func(m match) (string, bool) {
			said, ok := e.sayDate(m.group(3), monthOf(m.group(2)), m.group(1), true)
			if m.wordBefore() == "the" {
				said = strings.TrimPrefix(said, "the ")
			}
			return said, ok
		}),
		rewrite(`\b`+monthName+` `+day+`\b(?:,? (\d{4})\b)?`, func(m match) (string, bool) {
			isVerb := m.group(1) == "May" && m.group(3) == "" && endsWord(strings.TrimSpace(m.before())) &&
				unitFollows(m.rest()) // You may 5 times …
			said, ok := e.sayDate(m.group(3), monthOf(m.group(1)), m.group(2), false)
			return said, ok && !isVerb && !strings.HasPrefix(m.after(), ":")
		}),
		rewrite(`\b`+monthName+`,? (\d{4})\b`, func(m match) (string, bool) {
			return monthNames[monthOf(m.group(1))-1] + " " + e.year(m.group(2)), m.apart()
		}),
		// 1980s, '80s, 80s, '26, 2025/26
		rewrite(`'?\b(\d{3}0|\d0)'?s\b`, func(m match) (string, bool) {
			n := m.group(1)
			if len(n) == 4 {
				return pluralWord(e.year(n)), true
			}
			return pluralWord(e.cardinal(n)), n != "00" && n != "10"
		}),
		e.says(`\b((?i:under|over))[- ](\d{1,2})s\b`, "$1 {Q2}"),
		e.says(`\B'(\d{2})\b`, "{Y1}"),
		e.says(`\b`+recent+`/(\d{2})\b`, "{y1} {Y2}", apart),
	})
}

// weekdayRules write out abbreviated days of the week.
func (e english) weekdayRules() []rule {
	beforeDay := `(the \pL|` + strings.Trim(monthName, "()") + `|\d{1,2} (?:` + strings.Trim(monthName, "()") + `))`
	return []rule{
		// on Mon 26; Sat 9 may be an hour
		e.says(`\b(`+shortDays+`)\.? (1[3-9]|2\d|3[01])\b`, "{D1} the {o2}", apart,
			func(m match) bool { return isDay.MatchString(m.after()) }),
		e.says(`\b(`+shortDays+`)\.?,? (\d{1,2}:[0-5]\d)\b`, "{D1} $2"),
		e.says(`\b(`+shortDays+`)[-/](`+shortDays+`)[-/](`+shortDays+`)\b`, "{D1}, {D2}, {D3}"), // Mon-Wed-Fri
		// Mon to Sat, Tuesday - Saturday, MON-FRI, Tue/Thu
		rewrite(`\b(`+anyDay+`)\.?( to | and | & |, |`+dash+`|/)(`+anyDay+`)\b\.?`,
			func(m match) (string, bool) {
				between := strings.Replace(m.group(2), "/", " and ", 1)
				if strings.ContainsAny(between, "-–—") {
					between = " to "
				}
				return dayName(m.group(1)) + between + dayName(m.group(3)) + m.stop(), true
			}),
		e.says(`\b(`+shortDays+`):`, "{D1}:", // Sat: closed
			func(m match) bool { return m.wordBefore() != "the" && m.wordBefore() != "a" }),
		e.says(`\b(`+shortDays+`)(:? \d{1,2}(?:[:.]\d\d)? ?(?:[-–—]|to\b|until\b|[apAP]\.?[mM]))`, "{D1}$2"),
		e.says(`\b(`+shortDays+`)\.?,? `+beforeDay, "{D1}, $2"), // Sun, Nov 22
		e.says(`\b(Tues?|Thurs?|Fri)\b\.?`, "{D1}{.}", apart),
		e.says(`\b(`+shortDays+`)\b\.?`, "{D1}{.}", apart, func(m match) bool {
			const often wordList = " closed open every each this next last until except on "
			return often.has(m.wordBefore())
		}),
	}
}

// dateRanges write out ranges of days and months.
func (e english) dateRanges() []rule {
	return []rule{
		// May 06, 1994 - June 12, 1996; 1 Jan–31 Mar; January - March
		e.says(`\b(`+monthName+`(?: `+day+`)?(?:,? \d{4})?)`+dash+`((?:(?:`+anyDay+`)\.?,? )?(?:`+day+` )?`+
			monthName+`)\b`, "$1 to $4", func(m match) bool {
			return len(m.group(0)) > len("May - May") || m.group(1) != "May"
		}),
		e.says(`\b(BCE?|B\.C\.(?:E\.)?|CE)`+dash+`(AD \d|\d)`, "$1 to $2"),
		rewrite(`\b(\d{1,2})/(\d{1,2}) ?(?:[-–—]|to|thru|through) ?(\d{1,2})/(\d{1,2})\b`, // 5/1–8/31
			func(m match) (string, bool) {
				from, ok := e.sayDayOfYear(m.group(1), m.group(2))
				to, ok2 := e.sayDayOfYear(m.group(3), m.group(4))
				parts := usualFraction(m.group(1), m.group(2)) && usualFraction(m.group(3), m.group(4))
				return from + " to " + to, ok && ok2 && !parts && alone(m)
			}),
		e.says(`\b`+monthName+` `+day+` ?[-–] ?`+day+`\b`, "$1 $2 to {o3}", apart, // June 5-7, 5-7 June
			func(m match) bool { return atoi(m.group(2)) <= 31 && atoi(m.group(3)) <= 31 && atoi(m.group(2)) > 0 }),
		rewrite(`\b`+day+` ?[-–] ?`+day+` (?:of )?`+monthName+`\b`, func(m match) (string, bool) {
			to, ok := e.sayDate("", monthOf(m.group(3)), m.group(2), true)
			return e.ordinal(m.group(1)) + " to " + strings.TrimPrefix(to, "the "), ok && m.apart()
		}),
	}
}

// sayDate writes out a day of a month, and the year if there is one; false if the day does not
// exist.
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

// sayDayOfYear writes out a day and a month in the order of the locale, or in the only possible
// one.
func (e english) sayDayOfYear(a, b string) (string, bool) {
	month, day := a, b
	if e.dayFirst && atoi(day) <= 12 || atoi(month) > 12 {
		month, day = day, month
	}
	return e.sayDate("", atoi(month), day, e.dayFirst)
}

// sayStroke writes out a date of two numbers; a possible fraction stays: "5/8 of it", "I scored
// 12/25".
func (e english) sayStroke(m match) (string, bool) {
	said, ok := e.sayDayOfYear(m.group(1), m.group(2))
	before, after := strings.TrimRight(m.before(), " "), m.rest()
	if !ok || !m.apart() || strings.TrimRight(before, "/-–—") != before || strings.IndexAny(after, "/-–—\"%") == 0 {
		return "", false
	}
	const scored wordList = " scored got score answered scores with scoring "
	date := m.group(0)
	if e.dayFirst {
		date = m.group(2) + "/" + m.group(1)
	}
	twice := len(m.group(1)) == 2 && len(m.group(2)) == 2
	padded := twice && (m.group(1)[0] == '0' || m.group(2)[0] == '0')
	holiday := listed("en", "holidays").has(date) && !scored.has(m.wordBefore()) && !unitFollows(after)
	dated := listed("en", "before a day").has(m.wordBefore()) && m.group(0) != "9/11" ||
		strings.HasSuffix(before, "week of")
	weekday := strings.HasSuffix(m.wordBefore(), "day") || weekdays.has(m.wordBefore())
	return said, padded || holiday || weekday || dated && (twice || !usualFraction(m.group(1), m.group(2)))
}

// unitFollows reports whether t begins with a unit.
func unitFollows(t string) bool {
	word, _, _ := strings.Cut(t, " ")
	word = strings.TrimRight(word, ".,;:!?")
	const people wordList = " people men women children "
	return people.has(word) || strings.HasSuffix(word, "s") && !strings.Contains(" is was has as ", " "+word+" ")
}

// monthOf returns the number of a month by its name or abbreviation.
func monthOf(s string) int {
	return 1 + slices.IndexFunc(monthNames[:], func(name string) bool { return strings.HasPrefix(name, s[:3]) })
}

// followsOn reports whether two figures are the year after another.
func followsOn(year, next string) bool { return atoi(next) == (atoi(year)+1)%100 }

// year writes out a year of four digits: "1905" is "nineteen oh five".
func (e english) year(y string) string {
	century, rest := atoi(y[:2]), atoi(y[2:])
	switch {
	case y[1] == '0' && rest < 10 || century == 0:
		return e.cardinal(y) // two thousand five
	case rest == 0:
		return e.belowThousand(century) + " hundred"
	case rest < 10:
		return e.belowThousand(century) + " oh " + units[rest]
	}
	return e.belowThousand(century) + " " + e.belowThousand(rest)
}

// sayShortYear writes out a year of two digits: "05" is "oh five".
func (e english) sayShortYear(y string) string {
	switch {
	case y == "00":
		return "two thousand"
	case y[0] == '0':
		return "oh " + units[y[1]-'0']
	}
	return e.cardinal(y)
}

// pluralWord makes the last word of a decade plural: "nineteen eighty" is "nineteen eighties".
func pluralWord(words string) string {
	if base, ok := strings.CutSuffix(words, "y"); ok {
		return base + "ies"
	}
	if strings.HasSuffix(words, "x") {
		return words + "es"
	}
	return words + "s"
}

func looksLikeYear(n string) bool {
	return len(n) == 4 && strings.Trim(n, digits) == "" && n >= "1100" && n < "2100"
}

// historic matches texts about the past.
var historic = regexp.MustCompile(`(?i)\b(?:years?|founded|built|rebuilt|established|erected|completed|crowned|` +
	`conquest|conquered|battle|reign(?:ed)?|king|queen|century|centuries|medieval|norman|viking|saxon|dynasty|` +
	`charter|castle|abbey|cathedral|born|died|dated?|dates)\b`)

// sayYear writes out a number of four digits as a year if its context suggests one.
func (e english) sayYear(m match) (string, bool) {
	n := m.group(2)
	const dated wordList = " in since year a-d circa born died by until "
	const years wordList = " in since from until till by of year after before circa ca around during the between and "
	year := looksLikeYear(n) || n > "1009" && n < "2200" && (dated.has(m.wordBefore()) || historic.MatchString(m.text))
	if m.group(1) != "" || !year || !m.apart() || pointed(m.after()) || strings.HasSuffix(m.before(), ".") ||
		strings.HasSuffix(m.before(), ",") || (!years.has(m.wordBefore()) || n < "1100") && unitFollows(m.rest()) {
		return "", false // 1984 people, 2026 dollars
	}
	return e.year(n), true
}

// weekdays are the rules for abbreviated days: lun.–ven., du lun. au ven., sam. 10h
func (l language) weekdays() []rule {
	days := l.list("days")
	short := days.pattern()
	for _, name := range days.spoken {
		short = strings.Replace(short, "(?:", "(?:"+name+"|", 1)
	}
	return []rule{
		rewrite(`\b((?i:`+short+`))(\.?) ?([-–—/]|à|au|al|a|e|et|y|से|,) ?((?i:`+short+`))\b(\.?)`,
			func(m match) (string, bool) {
				name := func(i int) string { d := strings.ToLower(m.group(i)); return cmp.Or(days.spoken[d], d) }
				between := " " + m.group(3) + " "
				switch m.group(3) {
				case "-", "–", "—":
					between = " " + l.word("to") + " "
				case "/":
					between = " " + l.word("and") + " "
				case ",":
					between = ", "
				}
				short := m.group(2)+m.group(5) != "" || strings.ContainsAny(m.group(3), "-–—/")
				return name(1) + between + name(4), short && ended(m)
			}),
		l.says(`\b((?i:`+days.pattern()+`))\. (\d)`, "{D1} $2"),
	}
}

// dates are the rules for days and months by number, or with abbreviated names.
func (l language) dates() []rule {
	const dayOfMonth = `(0?[1-9]|[12]\d|3[01])`
	months := l.list("months")
	return []rule{
		rewrite(`\b([0-3]?\d(?:er|º|°)?)( de | )((?i:`+months.pattern()+`))(\.| |$)`, func(m match) (string, bool) {
			of, end := l.word("of"), strings.Trim(m.group(4), ".") // 12 janv. 2027
			switch after := m.rest(); {
			case m.group(4) == "." && after == "":
				end = "." // also ends the sentence
			case startsDigit(after) && of != "":
				end = " " + of
			}
			return phrase(m.group(1), of, months.spoken[strings.ToLower(m.group(3))]) + end,
				ended(m) || m.group(4) == " "
		}),
		rewrite(`\b`+dayOfMonth+`[/.-]`+month+`[/.-]`+recent+`\b`, func(m match) (string, bool) {
			return l.date(m.group(1), m.group(2), m.group(3)), m.apart()
		}),
		// 2025-04-03
		rewrite(`\b`+recent+`-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?\b`, func(m match) (string, bool) {
			return l.date(m.group(3), m.group(2), m.group(1)),
				alone(m) && (m.group(3) != "" || !followsOn(m.group(1), m.group(2)))
		}),
		rewrite(`\b`+dayOfMonth+`/`+month+`\b`, func(m match) (string, bool) { // du 01/05 au 30/09
			padded := m.group(1)[0] == '0' || m.group(2)[0] == '0'
			dated := l.list("dated").has(m.wordBefore()) && len(m.group(2)) == 2
			return l.date(m.group(1), m.group(2), ""),
				alone(m) && !strings.HasPrefix(m.rest(), "h") && (padded || dated)
		}),
	}
}

// date returns a day, month and year; day and year may be empty.
func (l language) date(day, month, year string) string {
	said, of := l.list("month").spoken[strings.TrimLeft(month, "0")], l.word("of")
	if day = strings.TrimLeft(day, "0"); day != "" {
		if day == "1" {
			day = l.word("first")
		}
		said = phrase(day, of, said)
	}
	if year != "" {
		said = phrase(said, of, year)
	}
	return said
}
