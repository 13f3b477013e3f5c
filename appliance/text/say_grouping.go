package text

import (
	"regexp"
	"strings"
)

// continentalSigns are those of countries that write a comma before the hundredths.
const continentalSigns = `€|zł|Kč|\bkr\b|\b` + currencyCodes + `\b`

// ofBlood ends with the pressure that two numbers are.
var ofBlood = regexp.MustCompile(`(?i)(?:blood pressure|\bbp)(?: is| was| of)?:? *$`)

// groupingRules bring numbers to one way of writing: without the commas that
// stand between lakhs and crores, and, where people write so, without spaces
// between thousands and with a point for a comma.
func (e english) groupingRules() []rule {
	all := []rule{
		doubtfulRule(",", `\b(\d{1,2}(?:,\d{2})+,\d{3})(\.\d+)?\b`, func(m match) (string, bool) { // 12,34,567
			n := strings.ReplaceAll(m.group(1), ",", "")
			return regrouped(n) + m.group(2), m.apart() && !pointedBefore(m.before()) && !pointed(m.after())
		}),
		// 1.000,50 €: as it is written on the continent
		doubtfulRule(",", `\b(\d{1,3}),(\d{2}) ?[-–—] ?(\d{1,3}),(\d{2}) ?(`+continentalSigns+`)`,
			func(m match) (string, bool) {
				return m.group(1) + "." + m.group(2) + "–" + m.group(3) + "." + m.group(4) + " " + m.group(5), !pointedBefore(m.before())
			}),
		doubtfulRule(",", `((?:`+continentalSigns+`) ?)(\d{1,3}(?:[. ]\d{3})*),(\d{2}|-|–|—)`, func(m match) (string, bool) {
			return m.group(1) + continental(m.group(3), m.group(4)), !startsWord(m.after())
		}),
		doubtfulRule(",", `\b(\d{1,3}(?:[. ]\d{3})*),(\d{2}|-|–|—) ?(`+continentalSigns+`)`, func(m match) (string, bool) {
			return continental(m.group(1), m.group(2)) + " " + m.group(3), !pointedBefore(m.before()) && !startsWord(m.after())
		}),
		doubtfulRule(".", `((?:`+continentalSigns+`) ?)(\d{1,3}(?:\.\d{3})*\.000)\b`, func(m match) (string, bool) {
			return m.group(1) + strings.ReplaceAll(m.group(3), ".", ""), !pointed(m.after())
		}),
		doubtfulRule(".", `\b(\d{1,3}(?:\.\d{3})*\.000) ?(`+continentalSigns+`)`, func(m match) (string, bool) {
			return strings.ReplaceAll(m.group(1), ".", "") + " " + m.group(2), !pointedBefore(m.before())
		}),
		doubtfulRule("'", `\b\d{1,3}(?:'\d{3})+\b`, func(m match) (string, bool) { // CHF 1'000.50
			return strings.ReplaceAll(m.group(0), "'", ","), m.apart()
		}),
		doubtfulRule(",", `\b(\d{1,3}),(\d{1,2})( ?)(`+unitPattern+`)`, func(m match) (string, bool) { // 1,5 l
			return m.group(1) + "." + m.group(2) + m.group(3) + m.group(4), unitAfter(m.group(3), m.group(4), m) != "" && !pointedBefore(m.before())
		}),
		newRule("-–—", `(\d)\.[-–—]($|[ ,;!?])`, func(m match) string { return m.group(1) + m.group(2) }), // CHF 15.-
		newRule("+", `\+/-`, func(match) string { return "±" }),
		newRule(".", `\b(?i:(rm|bldg|lvl|flr?)\.) ?#?(\d)`, func(m match) string { // rm. 204
			word := formOf(` rm:oom bldg:uilding lvl:evel fl:loor flr:loor `, strings.ToLower(m.group(1)))
			return m.group(1)[:1] + word + " " + m.group(2)
		}),
		// comparisons, before what is compared is written out
		newRule("<>≤≥≠", ` ?(<=|>=|!=|[<>≤≥≠]) ?(-?[$£€]?\d)`, func(m match) string {
			return " " + comparison(m.group(1)) + " " + m.group(2)
		}),
		newRule(">", `(\pL) > (\pL)`, func(m match) string { return m.group(1) + ", " + m.group(2) }), // Home > Settings
		newRule("≠≤≥", ` ?([≠≤≥]) ?`, func(m match) string { return " " + comparison(m.group(1)) + " " }),
		// blood pressure
		doubtfulRule("/", `\b(\d{2,3})/(\d{2,3})( ?mm ?Hg)?\b`, func(m match) (string, bool) {
			said := e.cardinal(m.group(1)) + " over " + e.cardinal(m.group(2))
			if m.group(3) != "" {
				said += " millimeters of mercury"
			}
			return said, m.apart() && (m.group(3) != "" || ofBlood.MatchString(m.before()))
		}),
		// 1-800-FLOWERS
		newRule("-", `\b1-(8\d\d)-([A-Z]{3,10}(?:-[A-Z]{2,8})*)\b`, func(m match) string {
			return "one " + strings.ReplaceAll(digitByDigit(m.group(1)), " zero zero", " hundred") + " " + m.group(2)
		}),
		// hundreds of people
		writes("0", `\b100s of\b`, "hundreds of"),
		writes("0", `\b1,?000s of\b`, "thousands of"),
	}
	if e.rand {
		all = append(all,
			doubtfulRule(" ", `\b[1-9]\d{0,2}(?: \d{3})+\b`, func(m match) (string, bool) {
				return strings.ReplaceAll(m.group(0), " ", ","), !pointedBefore(m.before()) && !strings.HasSuffix(m.before(), "+")
			}),
			newRule("R", `\bR ?(\d{1,3}(?:[ ,]?\d{3})*)(?:[.,](\d{2}))?\b`+magnitudes, func(m match) string {
				amount := strings.NewReplacer(" ", "", ",", "").Replace(m.group(1))
				if m.group(2) != "" {
					amount += "." + m.group(2)
				}
				return e.sayMoney("R", amount, m.group(3))
			}),
			doubtfulRule(",", `\b(\d+),(\d{1,2})\b`, func(m match) (string, bool) {
				return m.group(1) + "." + m.group(2), !pointedBefore(m.before()) && !pointed(m.after())
			}))
	}
	return all
}

// continental writes an amount as it is written elsewhere; a dash stands for no
// hundredths.
func continental(whole, part string) string {
	whole = strings.NewReplacer(".", "", " ", "").Replace(whole)
	if len(part) != 2 || part[0] > '9' {
		return whole
	}
	return whole + "." + part
}

// sayHouse says the number of a house: "1600" is "sixteen hundred".
func (e english) sayHouse(n string) string {
	switch {
	case len(n) == 3, n[1:] == "000", n[0] == '0':
		return e.sayNumbered(n)
	case n[2:] == "00":
		return e.cardinal(n[:2]) + " hundred"
	case n[2] == '0':
		return e.cardinal(n[:2]) + " oh " + units[n[3]-'0']
	}
	return e.cardinal(n[:2]) + " " + e.cardinal(n[2:])
}

// regrouped puts commas between the thousands of a number.
func regrouped(n string) string {
	for i := len(n) - 3; i > 0; i -= 3 {
		n = n[:i] + "," + n[i:]
	}
	return n
}

// pointedBefore reports whether a number goes on behind s.
func pointedBefore(s string) bool {
	return len(s) > 1 && strings.ContainsAny(s[len(s)-1:], ".,") && s[len(s)-2] >= '0' && s[len(s)-2] <= '9'
}
