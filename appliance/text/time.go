package text

import (
	"regexp"
	"strconv"
	"strings"
)

const (
	clock = `(\d{1,2}):([0-5]\d)`
	// half matches "am" or "pm" in all spellings; a full stop at its end may also end the
	// sentence. anyHalf is half without a group.
	half    = `([aApP])(?:\.[mM]\.?|[mM]\b)`
	anyHalf = `(?:[aApP]\.[mM]\.?|[aApP][mM]\b)`
)

// openFrom are words before opening hours.
const openFrom wordList = " open opens opening hours from between daily monday tuesday wednesday thursday friday " +
	"saturday sunday "

func (e english) timeRules() []rule {
	return []rule{
		rewrite(`\b(\d{1,2})\.([0-5]\d)\b`, e.sayDotted),
		rewrite(`\b(\d{1,2}) ?h(?:rs?)? ?(\d{1,2}) ?m(?:in)?(?: ?(\d{1,2}) ?s)?\b`, e.sayDuration),
		rewrite(`\b(\d{1,2}):([0-5]\d):([0-5]\d)(?:\.\d+)?Z?\b`, e.sayDuration),
		// 10am–noon, noon–1pm, 10 a.m.-4 p.m., 9 a.m./10 a.m., 6:05a
		e.says(`(\d ?`+anyHalf+`|\d)`+dash+`((?i:noon|midday|midnight))\b`, "$1 to $2"),
		e.says(`\b([Nn]oon|[Mm]idnight)`+dash+`(\d)`, "$1 to $2"),
		e.says(`\b(\d{1,2}:[0-5]\d) ?([ap])\b([^.\w]|$)`, "$1 $2m$3"),
		e.says(`(\d ?`+anyHalf+`)`+dash+`(\d)`, "$1 to $2"),
		e.says(`([ap]\.?m\.?) ?/ ?(\d)`, "$1 or $2"),
		// 7:00-10:30 pm, 7–9 a.m.
		rewrite(`\b(\d{1,2})(?::([0-5]\d))?`+dash+`(\d{1,2})(?::([0-5]\d))? ?`+half,
			func(m match) (string, bool) {
				from, ok := e.sayClock(m.group(1), m.group(2), true)
				to, ok2 := e.sayClock(m.group(3), m.group(4), true)
				return from + " to " + to + " " + spell(m.group(5)+"m") + m.stop(), ok && ok2 && ended(m)
			}),
		e.says(`\b(\d{1,2}:[0-5]\d)`+dash+`(\d{1,2}:[0-5]\d)\b`, "$1 to $2"),
		rewrite(`\b(\d{1,2})(?:[:.]([0-5]\d)(?::[0-5]\d)?)? ?`+half, func(m match) (string, bool) {
			said, ok := e.sayClock(m.group(1), m.group(2), true)
			return said + " " + spell(m.group(3)+"m") + m.stop(), ok && ended(m)
		}),
		rewrite(`\b`+clock+`\b`, func(m match) (string, bool) {
			said, ok := e.sayClock(m.group(1), m.group(2), false)
			if strings.HasPrefix(m.rest(), "o'clock") {
				said = strings.TrimSuffix(said, " o'clock")
			}
			return said, ok && m.apart() && !strings.HasSuffix(m.before(), ":")
		}),
		// 3:1, 16:9 and other ratios
		e.says(`\b(\d{1,3}):(\d{1,3})\b`, "{c1} to {c2}", func(m match) bool {
			return !pointedBefore(m.before()) && !strings.HasSuffix(m.before(), ":") &&
				!strings.HasPrefix(m.after(), ":")
		}),
	}
}

// toDotted matches the text before the second of two times with a full stop.
var toDotted = regexp.MustCompile(`(?i)(?:\b0\d|\b(?:opens?|opening|hours|from|between|daily|\w+day) \d{1,2})` +
	`\.[0-5]\d( ?[-–—] ?| (?:to|and|until|till) )$`)

// sayDotted writes out times with a full stop: 07.42, open 8.30–17.00, at 8.30.
func (e english) sayDotted(m match) (string, bool) {
	const at, from wordList = " at until till by before after ", " from between "
	hour, minute := m.group(1), m.group(2)
	dashed := strings.IndexAny(m.rest(), "-–—") == 0
	ok := len(hour) == 2 && hour[0] == '0' || openFrom.has(m.wordBefore()) && (dashed || e.dayFirst) ||
		e.dayFirst && (from.has(m.wordBefore()) || at.has(m.wordBefore()) && (minute[1] == '0' || minute[1] == '5'))
	if second := toDotted.FindStringSubmatch(m.before()); second != nil {
		ok = ok || e.dayFirst || strings.Trim(second[1], " -–—") == ""
	}
	return hour + ":" + minute, ok && m.apart() && whole(m) && !countsOn(m.after()) && atoi(hour) < 25 &&
		!strings.ContainsAny(lastRune(m.before()), "$£€")
}

// countsOn reports whether a number continues, or a unit, a percent sign or half of a day
// follows it.
func countsOn(after string) bool {
	word, _, _ := strings.Cut(strings.TrimPrefix(after, " "), " ")
	word = strings.TrimRight(word, ".,;:!?)")
	const halves wordList = " am pm a.m p.m "
	return startsWord(after) || pointed(after) || unitFollows(strings.TrimPrefix(after, " ")) ||
		strings.HasPrefix(word, "%") || halves.has(strings.ToLower(word)) || unitSign(word) != ""
}

// sayClock writes out a time of day; half reports that "am" or "pm" follows.
func (e english) sayClock(hour, minute string, half bool) (string, bool) {
	h := atoi(hour)
	if h > 24 || half && h > 12 && minute == "" {
		return "", false
	}
	said := e.cardinal(hour)
	switch {
	case minute == "", minute == "00" && half:
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

// sayDuration writes out hours, minutes and, if there are any, seconds.
func (e english) sayDuration(m match) (string, bool) {
	said := e.sayCount(m.group(1), "hour") + " " + e.sayCount(m.group(2), "minute")
	if m.group(3) != "" {
		said += " " + e.sayCount(m.group(3), "second")
	}
	return said, m.apart()
}

// sayCount writes out a number of things.
func (e english) sayCount(n, noun string) string {
	n = strconv.Itoa(atoi(n)) // without leading zeros
	return e.cardinal(n) + " " + plural(n, noun)
}

// times are the rules for times of day and their ranges: 9h30, 18h, 18:00 h, alle 9.30.
func (l language) times() []rule {
	const (
		hour  = `([01]?\d|2[0-4])`
		clock = `(\d{1,2}(?: ?h(?:[0-5]\d)?|[:.][0-5]\d))`
	)
	amount := func(m match) bool { return strings.IndexAny(m.rest(), "€%") == 0 }
	dotted := func(m match) bool { return l == "it" || !strings.Contains(m.group(0), ".") }
	all := []rule{
		l.says(`\b`+clock+dash+clock, "{k1} [to] {k2}", apart, func(m match) bool { return dotted(m) && !amount(m) }),
		l.says(`\b(\d{1,2}[:.h][0-5]\d)-(\d{1,2})\b`, "{k1} [to] $2", alone, dotted),
		l.says(`\b(\d{1,2})-(\d{1,2}[:.h][0-5]\d)\b`, "$1 [to] {k2}", alone, dotted),
	}
	if l != "hi" {
		all = append(all, rewrite(`\b`+hour+` ?(?:[:.] ?([0-5]\d) ?h(?:rs?|s)?\.?|h(?: ?([0-5]\d))?)\b`,
			func(m match) (string, bool) { return l.clock(m.group(1), m.group(2)+m.group(3)), m.apart() }))
	}
	if l == "it" {
		all = append(all, rewrite(`((?i:\b(?:ore|alle|dalle|fino alle|tra le|fra le|entro le)) )`+hour+`\.([0-5]\d)\b`,
			func(m match) (string, bool) { return m.group(1) + l.clock(m.group(2), m.group(3)), ended(m) }))
	}
	return append(all, rewrite(`\b`+hour+`:([0-5]\d)(?: बजे)?`, func(m match) (string, bool) {
		inside := strings.HasPrefix(m.after(), ":") || strings.HasSuffix(m.before(), ":")
		return l.clock(m.group(1), m.group(2)), m.apart() && !inside
	}))
}

// clock returns a time of day; eSpeak NG reads its numbers.
func (l language) clock(hour, minute string) string {
	h, hours, past := atoi(hour), l.word("hours"), l.word("past")
	if h == 1 || h == 0 && l == "fr" {
		hours = l.word("hour")
		past = strings.Replace(past, l.word("hours"), hours, 1)
	}
	said := strconv.Itoa(h)
	if words, ok := l.counted(h, true, "hora"); ok && l != "fr" { // la una y 30
		said = words
	}
	if minute = strings.TrimLeft(minute, "0"); minute == "" {
		return phrase(said, hours)
	}
	return phrase(said, past, minute, l.word("minutes"))
}
