package text

import (
	"cmp"
	_ "embed"
	"strings"
)

// unitNames are what is measured, each sign with its name in the singular;
// "_" stands for a space in a name. Signs of one letter, and those that are
// words, count only where no space or no ordinary word makes them doubtful.
//
//go:embed units.txt
var unitNames string

// needsNoSpace are signs that count only right behind the number: with a space
// they are words or names.
const needsNoSpace wordList = " in V W L s m g l t bar cal K A pt "

// spacedUnits are those of them that are commoner as units even so.
const spacedUnits wordList = " m g l t L s W V K A "

const unitPattern = `[µμΩ°ºA-Za-z]+(?:\^?[23])?(?:/(?:d?L|mL|[a-z]+)(?:\^?[23])?)?`

// spoons are units that a fraction stands before also with a space, where a whole
// number might stand before a word.
const spoons wordList = " tsp tbsp lb oz mi in pt qt km kg "

const numberPattern = `(\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)`

func (e english) measureRules() []rule {
	sign := func(m match) string { return minusBefore(m.group(1), m.before()) }
	return []rule{
		// a part of one: ¾ cup, 3/4 tsp of salt, 1/2 hour
		doubtfulRule("/", `\b(\d)/(\d{1,2}) (cup|tsp|tbsp|teaspoon|tablespoon|pint|quart|gallon|ounce|oz|pound|lb|`+
			`inch|mile|liter|litre|hour|hr|glass|bottle|teacup|mug|onion|lemon|tablet)\b\.?`,
			func(m match) (string, bool) {
				said, ok := e.sayFraction(m.group(1), m.group(2))
				before := strings.ToLower(lastWord(m.before()))
				const adjective wordList = " a an the each per every one "
				ok = ok && m.apart() && !adjective.has(before) && !endsNumber(before)
				if said += " of"; said == "a half of" {
					said = "half"
				}
				name := unitName(m.group(3))
				return said + " " + article(name) + name + m.stop(), ok
			}),
		// a fraction of a unit: 3/4 tsp, 1 1/2 cups of it
		doubtfulRule("/", `(?:\b(\d+) )?\b(\d)/(\d{1,2})( ?)(`+unitPattern+`)\b\.?`, func(m match) (string, bool) {
			name := unitAfter(m.group(4), m.group(5), m)
			if spoons.has(m.group(5)) {
				name = unitSign(m.group(5))
			}
			said, ok := e.sayFraction(m.group(2), m.group(3))
			ok = ok && name != ""
			if m.group(1) != "" {
				said, name = e.cardinal(m.group(1))+" and "+said, plural("2", name)
			}
			return said + " " + name, ok && m.apart() && !strings.HasSuffix(m.before(), "/")
		}),
		// ranges with a unit or percent: 5-10%, 20–25 °C
		doubtfulRule("%", numberPattern+`(?: ?%)? ?[-–—] ?`+numberPattern+` ?%`, func(m match) (string, bool) {
			return e.decimal(m.group(1)) + " to " + e.decimal(m.group(2)) + " percent", !endsNumber(m.before())
		}),
		doubtfulRule("-–—", `\b`+numberPattern+` ?[-–—] ?`+numberPattern+`( ?)(`+unitPattern+`)(\.?)`,
			func(m match) (string, bool) {
				name := unitAfter(m.group(3), m.group(4), m)
				return e.decimal(m.group(1)) + " to " + e.decimal(m.group(2)) + " " + plural("2", name) + unitStop(m),
					name != "" && !endsNumber(m.before())
			}),
		// 5°–10°C, 5 km - 10 km
		doubtfulRule("-–—", `(-?)`+numberPattern+`( ?)(`+unitPattern+`)\.? ?[-–—] ?(-?)`+
			numberPattern+`( ?)(`+unitPattern+`)`,
			func(m match) (string, bool) {
				from, to := unitSign(m.group(4)), unitAfter(m.group(7), m.group(8), m)
				said := sign(m) + e.decimal(m.group(2))
				if !strings.HasPrefix(to, from) {
					said += " " + plural(m.group(2), from)
				}
				said += " to " + minusBefore(m.group(5), "") + e.decimal(m.group(6)) + " " + plural(m.group(6), to)
				return said, from != "" && to != "" && !endsWord(m.before())
			}),
		newRule("‰", numberPattern+` ?‰`, func(m match) string { return e.decimal(m.group(1)) + " per mille" }),
		newRule("%", `(-?)`+numberPattern+` ?%`, func(m match) string {
			return sign(m) + e.decimal(m.group(2)) + " percent" + spaceAfter(m)
		}),
		doubtfulRule(digits, `(-?)`+numberPattern+`( ?-?)(`+unitPattern+`)(\.?)`, e.sayUnit),
		newRule("/", ` ?/ ?ea\b\.?`, func(match) string { return " each" }),
		newRule("/", ` ?/ ?(month|mo|wk|shift|lb|oz|gal|dozen|serving|pack|year|yr|day|hour|hr|week|night|person|`+
			`minute|min|second|kg|km|l|mile|unit|item|user|page)\b\.?`, func(m match) string {
			if !endsWord(m.before()) || !sayablePer(m.before()) {
				return m.group(0)
			}
			const shortened wordList = " mo wk lb oz gal yr hr min "
			if stop := strings.HasSuffix(m.group(0), "."); stop && !shortened.has(m.group(1)) {
				return " per " + unitName(m.group(1)) + "."
			}
			return " per " + unitName(m.group(1)) + m.stop()
		}),
	}
}

// unitAfter is the name of the unit that follows a number, "" if what follows
// is none.
func unitAfter(gap, unit string, m match) string {
	if after := m.after(); (unit == "K" || unit == "A") && // 4K, 5 A students, 387 A-D
		(gap == "" || strings.HasPrefix(after, "-") || startsWord(strings.TrimPrefix(after, " "))) {
		return ""
	}
	if startsWord(m.after()) || gap != "" && needsNoSpace.has(unit) &&
		(!spacedUnits.has(unit) || strings.HasPrefix(m.after(), "'")) {
		return ""
	}
	return unitSign(unit)
}

// sayUnit says a number and its unit, if what follows the number is one.
func (e english) sayUnit(m match) (string, bool) {
	n, gap := m.group(2), m.group(3)
	name := unitAfter(gap, m.group(4), m)
	if name == "" || endsWord(m.before()) || strings.HasSuffix(m.before(), ".") {
		return "", false
	}
	if !strings.Contains(gap, "-") && !describes(m) { // a 5-km run stays singular
		name = plural(n, name)
	}
	return minusBefore(m.group(1), m.before()) + e.decimal(n) + " " + name + unitStop(m), true
}

// unitStop is the full stop behind a unit, but for one that only shortens it:
// "3 hrs. later".
func unitStop(m match) string {
	next := strings.TrimPrefix(m.after(), " ")
	if next != m.after() && next != "" && next[0] >= 'a' && next[0] <= 'z' ||
		next != "" && strings.ContainsAny(next[:1], ",;:)&") {
		return ""
	}
	return m.group(5)
}

// describes reports whether an amount says of what kind a thing is, as in "a
// $5 bill" or "a 90° turn": then it is said in the singular.
func describes(m match) bool {
	article := strings.ToLower(lastWord(m.before()))
	next := strings.TrimPrefix(m.after(), " ")
	return (article == "a" || article == "an") && next != m.after() && startsWord(next)
}

// unitSign is the name of a unit's sign, "" if it is none.
func unitSign(sign string) string {
	if of, per, ok := strings.Cut(sign, "/"); ok && !strings.Contains(unitNames, " "+sign+":") {
		of, per = unitSign(of), perUnit(per)
		if of == "" || per == "" {
			return ""
		}
		return of + " per " + per
	}
	const lengths wordList = " km m cm mm mi ft yd in "
	for _, power := range [...]string{"^2", "^3", "2", "3"} {
		if length, ok := strings.CutSuffix(sign, power); ok && lengths.has(length) { // 30 ft^2, 5 m3
			return map[byte]string{'2': "square ", '3': "cubic "}[power[len(power)-1]] + formOf(unitNames, length)
		}
	}
	return formOf(unitNames, sign)
}

// perUnit is the name of what something is measured by, "" if it is none.
func perUnit(s string) string {
	const words wordList = " day week month year night person shift serving dose pack piece tablet capsule bottle " +
		"cup box roll unit "
	if name := unitSign(s); name != "" {
		return name
	}
	if name, ok := strings.CutSuffix(s, "^2"); ok && unitSign(name) != "" {
		return unitSign(name) + " squared"
	}
	if words.has(s) {
		return s
	}
	return ""
}

// unitName is a unit written as sign or word, as a word.
func unitName(s string) string {
	return cmp.Or(unitSign(s), formOf(` mo:month `, s), s)
}

// sayablePer reports whether text ends with an amount, of which something may
// be "per month".
func sayablePer(text string) bool {
	last := strings.ToLower(strings.Trim(lastWord(text), ".,"))
	const amounts wordList = " kilogram liter dollars dollar euros euro pounds pound pieces cents cent pence yen " +
		"percent people times requests calls nights days hours minutes miles kilometers meters liters kilograms " +
		"grams bytes megabytes gigabytes million thousand billion watts "
	return amounts.has(last) || last != "" && last[len(last)-1] >= '0' && last[len(last)-1] <= '9'
}

// minusBefore is "minus " for a hyphen in front of a number, where it is a
// sign, and the hyphen where it is none.
func minusBefore(hyphen, before string) string {
	if hyphen == "" {
		return ""
	}
	if before == "" || strings.HasSuffix(before, " ") || strings.HasSuffix(before, "(") ||
		strings.HasSuffix(before, "=") {
		return "minus "
	}
	return hyphen
}

// endsNumber reports whether a digit, or a point behind one, ends s.
func endsNumber(s string) bool {
	s = strings.TrimRight(s, ".,")
	return s != "" && s[len(s)-1] >= '0' && s[len(s)-1] <= '9'
}
