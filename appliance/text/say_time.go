package text

import "strings"

// halfDay is "am" or "pm" in all their spellings; a full stop that ends it may
// be the sentence's, too.
const halfDay = `([aApP])(?:\.[mM]\.?|[mM]\b)`

// openFrom stand before the hours of a place.
const openFrom wordList = " open opens opening hours from between daily monday tuesday wednesday thursday friday " +
	"saturday sunday "

func (e english) timeRules() []rule {
	const clock = `(\d{1,2}):([0-5]\d)`
	return []rule{
		// 08.30–17.00, from 8.30 to 17.00
		doubtfulRule(".", `\b(\d{1,2})\.([0-5]\d)( ?[-–—] ?| (?:to|and|until|till) )(\d{1,2})\.([0-5]\d)\b`,
			func(m match) (string, bool) {
				last, dash := strings.ToLower(strings.TrimRight(lastWord(m.before()), ",:")),
					strings.Trim(m.group(3), " -–—") == ""
				ok := dash && (m.group(1)[0] == '0' || openFrom.has(last)) ||
					e.dayFirst && (last == "from" || last == "between")
				between := m.group(3)
				if dash {
					between = "-"
				}
				return m.group(1) + ":" + m.group(2) + between + m.group(4) + ":" + m.group(5), ok && m.apart() &&
					!countsOn(m.after())
			}),
		doubtfulRule(".", `\b((?i:at|until|till|by|from|before|after) )(0?\d|1\d|2[0-3])\.([0-5][05])\b`,
			func(m match) (string, bool) {
				said, ok := e.sayClock(m.group(2), m.group(3), false)
				return m.group(1) + said, ok && e.dayFirst && !countsOn(m.after())
			}),
		doubtfulRule("h", `\b(\d{1,2}) ?h(?:rs?)? ?(\d{1,2}) ?m(?:in)?(?: ?(\d{1,2}) ?s)?\b`,
			func(m match) (string, bool) {
				said := e.sayCount(m.group(1), "hour") + " " + e.sayCount(m.group(2), "minute")
				if m.group(3) != "" {
					said += " " + e.sayCount(m.group(3), "second")
				}
				return said, m.apart()
			}),
		writes("-–—", `(\d ?`+halfDayBehind+`) ?[-–—] ?(\d)`, "$1 to $2"), // 10 a.m.-4 p.m.
		newRule("/", `\b24/7\b`, func(match) string { return "twenty-four seven" }),
		// 7:00-10:30 pm, 7–9 a.m.
		doubtfulRule("-–—", `\b(\d{1,2})(?::([0-5]\d))? ?[-–—] ?(\d{1,2})(?::([0-5]\d))? ?`+halfDay,
			func(m match) (string, bool) {
				from, ok := e.sayClock(m.group(1), m.group(2), true)
				to, ok2 := e.sayClock(m.group(3), m.group(4), true)
				return from + " to " + to + " " + spell(m.group(5)+"m") + m.stop(), ok && ok2 && !startsWord(m.after())
			}),
		writes(":", `\b(\d{1,2}:[0-5]\d) ?[-–—] ?(\d{1,2}:[0-5]\d)\b`, "$1 to $2"),
		doubtfulRule(":.", `\b(\d{1,2})[:.]([0-5]\d)(?::[0-5]\d)? ?`+halfDay, func(m match) (string, bool) {
			said, ok := e.sayClock(m.group(1), m.group(2), true)
			return said + " " + spell(m.group(3)+"m") + m.stop(), ok && !startsWord(m.after())
		}),
		doubtfulRule("aApP", `\b(\d{1,2}) ?`+halfDay, func(m match) (string, bool) {
			said, ok := e.sayClock(m.group(1), "", true)
			return said + " " + spell(m.group(2)+"m") + m.stop(), ok && !startsWord(m.after())
		}),
		doubtfulRule(":", `\b(\d{1,2}):([0-5]\d):([0-5]\d)(?:\.\d+)?Z?\b`, func(m match) (string, bool) {
			hours, minutes, seconds := m.group(1), m.group(2), m.group(3)
			return e.sayCount(hours, "hour") + " " + e.sayCount(minutes, "minute") + " " +
				e.sayCount(seconds, "second"), m.apart()
		}),
		doubtfulRule(":", `\b`+clock+`\b`, func(m match) (string, bool) {
			said, ok := e.sayClock(m.group(1), m.group(2), false)
			if strings.HasPrefix(strings.TrimSpace(m.after()), "o'clock") {
				said = strings.TrimSuffix(said, " o'clock")
			}
			return said, ok && m.apart() && !strings.HasSuffix(m.before(), ":")
		}),
		// 3:1, 16:9 and what is no time of day
		doubtfulRule(":", `\b(\d{1,3}):(\d{1,3})\b`, func(m match) (string, bool) {
			return e.cardinal(m.group(1)) + " to " + e.cardinal(m.group(2)), !pointedBefore(m.before()) &&
				!strings.HasSuffix(m.before(), ":") && !strings.HasPrefix(m.after(), ":")
		}),
	}
}

// countsOn reports whether a number goes on, or a unit, a percent sign or half of
// a day follows it.
func countsOn(after string) bool {
	word, _, _ := strings.Cut(strings.TrimPrefix(after, " "), " ")
	const halves wordList = " am pm a.m p.m "
	if startsWord(after) || pointed(after) || unitFollows(strings.TrimPrefix(after, " ")) {
		return true
	}
	return strings.HasPrefix(word, "%") || halves.has(strings.ToLower(strings.TrimRight(word, ".,;:!?)"))) ||
		unitSign(strings.TrimRight(word, ".,;:!?)")) != ""
}

// sayClock says a time of day; half tells that "am" or "pm" follows.
func (e english) sayClock(hour, minute string, half bool) (string, bool) {
	h := atoi(hour)
	if h > 24 || half && h > 12 && minute == "" {
		return "", false
	}
	said := e.cardinal(hour)
	switch {
	case minute == "":
		return said, true
	case minute == "00" && half:
		return said, true
	case minute == "00" && h == 0:
		return "midnight", true
	case minute == "00" && h > 12:
		return said + " hundred", true
	case minute == "00":
		return said + " o'clock", true
	case minute[0] == '0':
		return said + " oh " + units[minute[1]-'0'], true
	}
	return said + " " + e.cardinal(minute), true
}

// sayCount says a number of things.
func (e english) sayCount(n, noun string) string {
	n = strings.TrimLeft(n, "0")
	if n == "" {
		n = "0"
	}
	return e.cardinal(n) + " " + plural(n, noun)
}
