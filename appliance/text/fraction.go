package text

import "strings"

// sayFraction writes out a fraction, or returns false if it is not a common one.
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

// article returns "a " or "an " for a name.
func article(name string) string {
	if strings.IndexByte("aeiou", name[0]) >= 0 || name == "hour" {
		return "an "
	}
	return "a "
}

// usualFraction reports whether a fraction has a common name: a half, three quarters, five
// eighths.
func usualFraction(over, under string) bool {
	const usual wordList = " 2 3 4 5 6 8 10 16 "
	return atoi(over) < atoi(under) && usual.has(under)
}

const fraction = `(\d)/(\d{1,2})`

// fractionsOfUnits write out fractions of units.
func (e english) fractionsOfUnits() []rule {
	return []rule{
		// ¾ cup, 3/4 tsp of salt, 1/4 W, 1 1/2 lb of it
		rewrite(`(?:\b(\d+) )?\b`+fraction+`( ?)(`+unitPattern+`)\b\.?`, func(m match) (string, bool) {
			const adjective wordList = " a an the each per every one "
			name, whole := unitAfter(m.group(4), m.group(5), m), m.group(1)
			of := listed("en", "spoons").has(m.group(5)) && whole == "" && !adjective.has(m.wordBefore())
			if of {
				name = unitName(m.group(5))
			} else if listed("en", "spoons").has(m.group(5)) {
				name = unitSign(m.group(5))
			}
			said, ok := e.sayFraction(m.group(2), m.group(3))
			if name == "" || !ok || !m.apart() || strings.HasSuffix(m.before(), "/") {
				return "", false
			}
			switch {
			case whole != "":
				said, name = e.cardinal(whole)+" and "+said, plural("2", name)
			case of:
				said = strings.Replace(said+" of "+strings.TrimSpace(article(name)), "a half of", "half", 1)
			}
			return said + " " + name + m.stop(), true
		}),
	}
}

// fractionRules write out fractions, and scores such as 8/10.
func (e english) fractionRules() []rule {
	return []rule{
		rewrite(`\b(\d+) (\d{1,2})/(\d{1,3})\b`, func(m match) (string, bool) { // 1 1/2
			part, ok := e.sayFraction(m.group(2), m.group(3))
			return e.cardinal(m.group(1)) + " and " + part, ok && m.apart() && !strings.HasPrefix(m.after(), "/")
		}),
		rewrite(`\b(\d{1,3})/(\d{1,3})\b`, func(m match) (string, bool) {
			said, ok := e.sayFraction(m.group(1), m.group(2))
			if m.group(1) == "1" {
				said = "one " + said[strings.IndexByte(said, ' ')+1:] // for "a half" or "an eighth"
			}
			return said, ok && m.apart() && !strings.HasSuffix(m.before(), "/") && !strings.HasPrefix(m.after(), "/")
		}),
		rewrite(`\b(\d+(?:\.\d+)?) ?/ ?(\d+(?:\.\d+)?)\b`, func(m match) (string, bool) {
			word := " out of "
			if strings.HasPrefix(m.rest(), "=") {
				word = " divided by "
			} else if !strings.Contains(m.group(1), ".") && len(m.group(1)) > len(m.group(2)) { // 120/80
				word = " over "
			}
			return e.decimal(m.group(1)) + word + e.decimal(m.group(2)), m.apart()
		}),
	}
}

// fractions are the rules for fractions of units: 1/2 kg, ½ litre.
func (l language) fractions() []rule {
	name := func(m match) string {
		return l.word(strings.NewReplacer("¼", "1/4", "½", "1/2", "¾", "3/4").Replace(m.group(2)))
	}
	return []rule{
		rewrite(`(\d? ?)([¼½¾])`, func(m match) (string, bool) {
			if whole := strings.TrimSpace(m.group(1)); whole != "" {
				return phrase(whole, l.word("and"), name(m)), true
			}
			return m.group(1) + name(m) + m.spaceAfter(), true
		}),
		rewrite(`()\b(1/4|1/2|3/4) ?(\pL+)`, func(m match) (string, bool) {
			of, what := "", m.group(3)
			if per := l.list("per").spoken[what]; per != "" { // "par kilo"
				if m.group(2) != "1/2" {
					of = l.word("of quantities")
				}
				what = per[strings.IndexByte(per, ' ')+1:]
			}
			return phrase(name(m), of, what), begins(m) && !strings.HasSuffix(m.before(), "/") &&
				!l.list("dated").has(m.wordBefore())
		}),
	}
}
