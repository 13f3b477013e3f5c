package text

import "strings"

// orderRules say fractions, ordinals and what is numbered.
func (e english) orderRules() []rule {
	return []rule{
		newRule("/", `\b9/11\b`, func(match) string { return "nine eleven" }),
		newRule("/", `\b50/50\b`, func(match) string { return "fifty fifty" }),
		doubtfulRule("/", `\b(\d+) (\d{1,2})/(\d{1,3})\b`, func(m match) (string, bool) { // 1 1/2
			part, ok := e.sayFraction(m.group(2), m.group(3))
			return e.cardinal(m.group(1)) + " and " + part, ok && m.apart() && !strings.HasPrefix(m.after(), "/")
		}),
		doubtfulRule("/", `\b(\d{1,3})/(\d{1,3})\b`, func(m match) (string, bool) {
			said, ok := e.sayFraction(m.group(1), m.group(2))
			if m.group(1) == "1" {
				said = withOne(said)
			}
			return said, ok && m.apart() && !strings.HasSuffix(m.before(), "/") && !strings.HasPrefix(m.after(), "/")
		}),
		doubtfulRule("/", `\b(\d+(?:\.\d+)?) ?/ ?(\d+(?:\.\d+)?)\b`, func(m match) (string, bool) {
			word := " out of "
			if strings.HasPrefix(strings.TrimSpace(m.after()), "=") {
				word = " divided by "
			}
			return e.decimal(m.group(1)) + word + e.decimal(m.group(2)), m.apart()
		}),
		writes("-–—", `(?i)\b(\d+(?:st|nd|rd|th)) ?[-–—] ?(\d+(?:st|nd|rd|th))\b`, "$1 to $2"),
		newRule(digits, `\b(\d+(?:st|nd|rd|th)) ([cC]|fl)\.`, func(m match) string { // 13th c., 2nd fl.
			return m.group(1) + " " + formOf(` c:century fl:floor `, strings.ToLower(m.group(2))) + m.stop()
		}),
		doubtfulRule(digits, `(?i)\b(\d+(?:,\d{3})*)(?:st|nd|rd|th)\b`, func(m match) (string, bool) {
			return e.ordinal(strings.ReplaceAll(m.group(1), ",", "")), m.apart()
		}),
		newRule("#", `#(\d+)`, func(m match) string {
			return space(m) + "number " + e.sayNumbered(m.group(1)) + spaceAfter(m)
		}),
		newRule(digits, `\b([Nn]o|[Nn]r)(s?)\. ?(\d+)`, func(m match) string {
			return strings.Map(keepCase(m.group(1)), "number") + m.group(2) + " " + e.sayNumbered(m.group(3))
		}),
		newRule(digits,
			`\b([Rr]oom|[Gg]ate|[Ff]light|[Bb]us|[Hh]ighway|[Rr]oute|[Aa]partment|[Aa]pt\.?|[Ss]uite|[Uu]nit|`+
				`I-|US-|[Ee]rror|HTTP|Boeing|Airbus) ?(\d{3})\b`,
			func(m match) string {
				return strings.TrimSuffix(m.group(1), "-") + " " + e.sayNumbered(m.group(2))
			}),
	}
}

// keepCase gives a word the case of its first letter as it was written.
func keepCase(written string) func(rune) rune {
	first := true
	return func(r rune) rune {
		if first && written[0] < 'a' {
			r -= 'a' - 'A'
		}
		first = false
		return r
	}
}

// sayNumbered says the number of a room, a flight, a rule: three digits are
// said as on a door, "101" is "one oh one" and "404" is "four oh four".
func (e english) sayNumbered(n string) string {
	switch {
	case len(n) > 4 || n[0] == '0':
		return digitByDigit(n)
	case len(n) != 3 || strings.HasSuffix(n, "00"):
		return e.cardinal(n)
	case n[1] == '0':
		return units[n[0]-'0'] + " oh " + units[n[2]-'0']
	}
	return units[n[0]-'0'] + " " + e.cardinal(n[1:])
}

// withOne is "a half" or "an eighth" where it is counted.
func withOne(name string) string {
	return "one " + strings.TrimPrefix(strings.TrimPrefix(name, "an "), "a ")
}

// article is "a " or "an ", as a name begins.
func article(name string) string {
	if strings.IndexByte("aeiou", name[0]) >= 0 || name == "hour" {
		return "an "
	}
	return "a "
}

// sayFraction says a part of a whole; false where it is no usual fraction.
func (e english) sayFraction(over, under string) (string, bool) {
	n, d := atoi(over), atoi(under)
	if n < 1 || n >= d || d < 2 || d > 100 || over[0] == '0' || under[0] == '0' {
		return "", false
	}
	var name string
	switch d {
	case 2:
		name = "half"
	case 4:
		name = "quarter"
	default:
		name = e.ordinal(under)
	}
	if n == 1 {
		return article(name) + name, true
	}
	return e.cardinal(over) + " " + name + "s", true
}
