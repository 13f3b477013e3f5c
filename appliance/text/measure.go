package text

import (
	"cmp"
	"regexp"
	"strings"
)

const unitPattern = `[µμΩ°ºA-Za-z]+(?:\^?[23])?(?:/(?:d?L|mL|[a-z]+)(?:\^?[23])?)?`

// weather matches texts about temperature.
var weather = regexp.MustCompile(`(?i)\b(?:temp(?:erature)?s?|fever|lows?|highs?|degrees?|weather|forecast|sunny|` +
	`cloudy|rainy?|snow|oven|bake|roast|preheat|heat|warm\w*|cold|cool\w*|hot|outside|feels like|winds?|humid\w*|` +
	`freez\w+|boil\w*)\b`)

func (e english) measureRules() []rule {
	sign := func(m match) string { return minusBefore(m.group(1), m.before()) }
	return []rule{
		// ranges: 20–25 °C, 5°–10°C, 5 km - 10 km
		rewrite(`\b`+figures+dash+figures+`( ?)(`+unitPattern+`)(\.?)`, func(m match) (string, bool) {
			name := unitAfter(m.group(3), m.group(4), m)
			return e.decimal(m.group(1)) + " to " + e.decimal(m.group(2)) + " " + plural("2", name) + unitStop(m),
				name != "" && !endsNumber(m.before())
		}),
		rewrite(`(-?)`+figures+`( ?)(`+unitPattern+`)\.?`+dash+`(-?)`+figures+`( ?)(`+unitPattern+`)`,
			func(m match) (string, bool) {
				from, to := unitSign(m.group(4)), unitAfter(m.group(7), m.group(8), m)
				said := sign(m) + e.decimal(m.group(2))
				if !strings.HasPrefix(to, from) {
					said += " " + plural(m.group(2), from)
				}
				said += " to " + minusBefore(m.group(5), "") + e.decimal(m.group(6)) + " " + plural(m.group(6), to)
				return said, from != "" && to != "" && !endsWord(m.before())
			}),
		rewrite(`(-?)`+figures+`( ?-?)(`+unitPattern+`)(\.?)`, e.sayUnit),
		e.says(`(?:(\d|ounces?|pounds?|pieces?) |/ ?)ea\b\.?`, "$1 each{.}"),
		rewrite(` ?/ ?(month|mo|wk|shift|lb|oz|gal|dozen|serving|pack|year|yr|day|hour|hr|week|night|person|`+
			`minute|min|second|kg|km|l|mile|unit|item|user|page)\b\.?`, func(m match) (string, bool) {
			const shortened wordList = " mo wk lb oz gal yr hr min "
			stop := m.stop()
			if strings.HasSuffix(m.group(0), ".") && !shortened.has(m.group(1)) {
				stop = "."
			}
			return " per " + unitName(m.group(1)) + stop, somePer.MatchString(m.before())
		}),
	}
}

// degreeRules bring temperatures to the notation of the other rules.
func (e english) degreeRules() []rule {
	return []rule{
		e.says(`(\d) [°º] ?([CF])\b`, "$1°$2"),
		e.says(`(^|[^\w.])(-?\d{2,3}(?:\.\d)?|-\d) ?([FC])\b`, "$1$2°$3", has(weather), // low 48F, but not a seat
			func(m match) bool {
				before := strings.TrimSuffix(strings.TrimRight(m.before()+m.group(1), ".:# "), " is")
				return !listed("en", "doors").has(strings.ToLower(lastWord(before)))
			}),
	}
}

// sizeRules write out sizes: in feet and inches, and one length by another.
func (e english) sizeRules() []rule {
	quoted := func(m match) bool { return len(openingQuote.FindAllString(m.before(), -1))%2 == 1 }
	return []rule{
		e.says(`([xX×] ?\d+(?:\.\d+)?) in($|[).,;])`, "$1in$2"), // 30 × 21 in
		e.says(`(\d) ?lbs?\. (\d+(?:\.\d+)? ?oz\b)`, "$1 lb $2"),
		e.says(`(\d)(?:"|″|′′|'')`, "$1in{>}", func(m match) bool { return !quoted(m) }), // 27" screen
		e.says(`\b(\d)['′] ?(\d{1,2})(?:in)?\b`, "$1 ft $2in", apart),                    // 5'11"
		e.says(`\b(\d{1,3})['′]`, "$1ft", apart, func(m match) bool { return !opened.MatchString(m.before()) }),
		// 363 cm x 437 cm, 73 × 92 × 2 cm, 2 x 500 ml
		rewrite(`\b`+figures+`(?: ?(`+unitPattern+`))? ?[xX×] ?`+figures+`(?: ?[xX×] ?`+figures+`)?( ?)(`+unitPattern+
			`)`,
			func(m match) (string, bool) {
				from, to, by := unitSign(m.group(2)), unitAfter(m.group(5), m.group(6), m), " by "
				if to == "" || m.group(2) != "" && from == "" {
					return "", false
				}
				if strings.HasSuffix(to, "gram") || strings.HasSuffix(to, "liter") {
					by = " times "
				}
				said := e.decimal(m.group(1))
				if from != "" && from != to {
					said += " " + plural(m.group(1), from)
				}
				said += by + e.decimal(m.group(3))
				if m.group(4) != "" {
					said += by + e.decimal(m.group(4))
				}
				if !describes(m) {
					to = plural("2", to)
				}
				return said + " " + to, m.apart()
			}),
		// 12 fl. oz., 900 sq. ft.
		rewrite(figures+` ?(fl|sq|cu)\.? ?(oz|ft|in|yd|mi|km|m)\b\.?`, func(m match) (string, bool) {
			unit := map[string]string{"fl": "fluid", "sq": "square", "cu": "cubic"}[m.group(2)] + " " +
				unitSign(m.group(3))
			return e.decimal(m.group(1)) + " " + plural(m.group(1), unit) + m.stop(), true
		}),
	}
}

// openingQuote matches a quotation mark that is not an inch sign; opened matches text that ends
// within single quotes, which precede one word and follow another.
var (
	openingQuote = regexp.MustCompile(`(?:^|\D)"`)
	opened       = regexp.MustCompile(`(?:^|[ ("])'[^']*$`)
)

// describes reports whether an amount is an attribute, as in "a $5 bill" or "a 90° turn", and
// so in the singular.
func describes(m match) bool {
	next := strings.TrimPrefix(m.after(), " ")
	return (m.wordBefore() == "a" || m.wordBefore() == "an") && next != m.after() && startsWord(next)
}

// unitAfter returns the name of the unit after a number, or "".
func unitAfter(gap, unit string, m match) string {
	tight := listed("en", "only without a space").has(unit) && !listed("en", "often with a space").has(unit)
	letter := listed("en", "only without a space").has(unit) && strings.HasPrefix(m.after(), "'")
	after := m.after()
	named := (unit == "K" || unit == "A") && // 4K, 5 A students, 387 A-D
		(gap == "" || strings.HasPrefix(after, "-") || startsWord(strings.TrimPrefix(after, " ")))
	if startsWord(after) || named || gap != "" && (tight || letter) {
		return ""
	}
	return unitSign(unit)
}

// sayUnit writes out a number and its unit.
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

// unitStop returns the full stop after a unit, unless it only marks the abbreviation: "3 hrs.
// later".
func unitStop(m match) string {
	next := strings.TrimPrefix(m.after(), " ")
	if next != m.after() && next != "" && next[0] >= 'a' && next[0] <= 'z' ||
		next != "" && strings.ContainsAny(next[:1], ",;:)&") {
		return ""
	}
	return m.group(5)
}

// unitSign returns the name of a unit's symbol, or "".
func unitSign(sign string) string {
	names := listed("en", "units")
	if of, per, ok := strings.Cut(sign, "/"); ok && !names.has(sign) {
		of, per = unitSign(of), perUnit(per)
		if of == "" || per == "" {
			return ""
		}
		return of + " per " + per
	}
	const lengths wordList = " km m cm mm mi ft yd in "
	for _, power := range [...]string{"^2", "^3", "2", "3"} {
		if length, ok := strings.CutSuffix(sign, power); ok && lengths.has(length) { // 30 ft^2, 5 m3
			return map[byte]string{'2': "square ", '3': "cubic "}[power[len(power)-1]] + names.spoken[length]
		}
	}
	return names.spoken[sign]
}

// perUnit returns the name of a unit after "per", or "".
func perUnit(s string) string {
	if name := unitSign(s); name != "" {
		return name
	}
	if name, ok := strings.CutSuffix(s, "^2"); ok && unitSign(name) != "" {
		return unitSign(name) + " squared"
	}
	if listed("en", "per").has(s) {
		return s
	}
	return ""
}

// unitName returns the name of a unit given as symbol or word.
func unitName(s string) string { return cmp.Or(unitSign(s), listed("en", "per").spoken[s], s) }

// somePer matches an amount at the end of a text that may be "per month".
var somePer = regexp.MustCompile(`(?:\d|\w[a-rt-z]s|\b(?:kilogram|liter|percent|people|yen|pence|` +
	`thousand|million|billion|dollar|euro|pound|cent))\.?$`)

// measures are the rules for units: 8,50 €/kg, 45 x 60 cm.
func (l language) measures() []rule {
	const gap = `[ \x{a0}\x{202f}]?`
	names := l.list("units")
	return []rule{
		rewrite(`(\d)`+gap+`(`+names.pattern()+`)(\. \p{Ll})?`, func(m match) (string, bool) {
			name := names.spoken[m.group(2)]
			if m.group(1) == "1" && !endsNumber(m.before()) {
				if l == "it" {
					return "", false // un chilometro: eSpeak NG says the same
				}
				name = strings.TrimSuffix(strings.ReplaceAll(name, "s ", " "), "s")
			}
			goesOn := strings.TrimPrefix(m.group(3), ".") // the stop belongs to the abbreviation
			return m.group(1) + " " + name + goesOn, (goesOn != "" || ended(m)) &&
				!strings.HasPrefix(m.after(), "'") && !strings.HasPrefix(m.after(), "’")
		}),
	}
}

// rates are the rules for one unit per another, and one length by another. They come before
// those of units.
func (l language) rates() []rule {
	if l == "hi" {
		return nil
	}
	per := l.list("per").pattern()
	return []rule{
		l.says(`\b(\d{1,2}) ?[xX×] ?/`, "$1 [times]/"),
		l.says(`(\d|\d[ \x{a0}\x{202f}]?(?:€|`+l.list("units").pattern()+`)|`+l.word("times")+`) ?/ ?(`+per+`)`,
			"$1 {P2}",
			ended, func(m match) bool {
				unit := strings.TrimLeft(m.group(1), digits+" \u00a0\u202f") + "/" + m.group(2) // km/h is one unit
				return !strings.HasSuffix(m.before(), "/") && !l.list("units").has(unit)
			}),
		l.says(`\b(\d+(?:[.,]\d+)?) ?[xX×] ?(\d)`, "$1 [by] $2", begins),
	}
}
