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
	var all []rule
	if e.rand {
		all = append(all,
			writes("R", `\bR ?(\d[\d ,.]*)\b`, "ZAR $1"),
			doubtfulRule(" ", `\b[1-9]\d{0,2}(?: \d{3})+\b`, func(m match) (string, bool) {
				amount := !pointedBefore(m.before()) && !strings.HasSuffix(m.before(), "+")
				return strings.ReplaceAll(m.group(0), " ", ","), amount
			}),
			doubtfulRule(",", `\b(\d+),(\d{1,2})\b`, func(m match) (string, bool) {
				return m.group(1) + "." + m.group(2), !pointedBefore(m.before()) && !pointed(m.after())
			}))
	}
	return append(all,
		doubtfulRule(",", `\b(\d{1,2}(?:,\d{2})+,\d{3})(\.\d+)?\b`, func(m match) (string, bool) { // 12,34,567
			n := strings.ReplaceAll(m.group(1), ",", "")
			return regrouped(n) + m.group(2), m.apart() && !pointedBefore(m.before()) && !pointed(m.after())
		}),
		// 1.000,50 €: as it is written on the continent
		doubtfulRule(",", `((?:`+continentalSigns+`) ?)(\d{1,3}(?:[. ]\d{3})*),(\d{2}|-|–|—)`,
			func(m match) (string, bool) {
				return m.group(1) + continental(m.group(2), m.group(3)), !startsWord(m.after())
			}),
		doubtfulRule(",", `\b(\d{1,3}(?:[. ]\d{3})*),(\d{2}|-|–|—) ?(`+continentalSigns+`)`,
			func(m match) (string, bool) {
				return continental(m.group(1), m.group(2)) + " " + m.group(3),
					!pointedBefore(m.before()) && !startsWord(m.after())
			}),
		doubtfulRule(".", `((?:`+continentalSigns+`) ?)(\d{1,3}(?:\.\d{3})*\.000)\b`, func(m match) (string, bool) {
			return m.group(1) + strings.ReplaceAll(m.group(2), ".", ""), !pointed(m.after())
		}),
		doubtfulRule(".", `\b(\d{1,3}(?:\.\d{3})*\.000) ?(`+continentalSigns+`)`, func(m match) (string, bool) {
			return strings.ReplaceAll(m.group(1), ".", "") + " " + m.group(2), !pointedBefore(m.before())
		}),
		doubtfulRule(",", `\b(\d{1,3}),(\d{1,2})( ?)(`+unitPattern+`)`, func(m match) (string, bool) { // 1,5 l
			return m.group(1) + "." + m.group(2) + m.group(3) + m.group(4),
				unitAfter(m.group(3), m.group(4), m) != "" && !pointedBefore(m.before())
		}),
		newRule("+", `\+/-`, func(match) string { return "±" }),
		// comparisons, before what is compared is written out
		newRule("<>≤≥≠", ` ?(<=|>=|!=|[<>≤≥≠]) ?(-?[$£€]?\d)`, func(m match) string {
			return " " + comparison(m.group(1)) + " " + m.group(2)
		}),
		// Home > Settings
		newRule(">", `(\pL) > (\pL)`, func(m match) string { return m.group(1) + ", " + m.group(2) }),
		newRule("≠≤≥", ` ?([≠≤≥]) ?`, func(m match) string { return " " + comparison(m.group(1)) + " " }),
		// blood pressure
		doubtfulRule("/", `\b(\d{2,3})/(\d{2,3})( ?mm ?Hg)?\b`, func(m match) (string, bool) {
			said := e.cardinal(m.group(1)) + " over " + e.cardinal(m.group(2))
			if m.group(3) != "" {
				said += " millimeters of mercury"
			}
			return said, m.apart() && (m.group(3) != "" || ofBlood.MatchString(m.before()))
		}),
		// hundreds of people
		writes("0", `\b100s of\b`, "hundreds of"),
		writes("0", `\b1,?000s of\b`, "thousands of"),
	)
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
