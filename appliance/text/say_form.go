package text

import (
	"regexp"
	"strings"
)

// isDayBehind is what stands behind the number of a day, and not behind an hour.
var isDayBehind = regexp.MustCompile(`^(?:$|[.,;!?)]+(?: |$)| (?:and|or|we|is|are|in|at|of|from|the|there|for)\b)`)

// formRules bring what people write at desks, in forms, leaflets and contracts to the
// ways of writing that the other rules know. They come first of all.
func (e english) formRules() []rule {
	return []rule{
		newRule("C", `\b(C|c)onf\. ((?i:no|number|code|#)\b)`,
			func(m match) string { return m.group(1) + "onfirmation " + m.group(2) }),
		// on Mon 26; Sat 9 may be an hour
		doubtfulRule(digits, `\b(`+shortDays+`)\.? (1[3-9]|2\d|3[01])\b`, func(m match) (string, bool) {
			return dayName(m.group(1)) + " the " + e.ordinal(m.group(2)),
				m.apart() && isDayBehind.MatchString(m.after())
		}),
		newRule("p", `(\d) ?pts\b\.?`, func(m match) string { return m.group(1) + " points" + m.stop() }),
		newRule("12½", `(?:½|\b1/2)-?( price| off\b| day\b)`, func(m match) string { return "half" + m.group(1) }),
		newRule("x", `(\d{3}[ .-]?\d{4}),? ?x\.? ?(\d{1,6})\b`, func(m match) string { // (555) 010-9999 x4
			return m.group(1) + ", extension " + digitByDigit(m.group(2))
		}),
		// ranges: 10am–noon, K–12, 2-for-1
		writes("-–—", `(\d ?`+halfDayBehind+`|\d) ?[-–—] ?((?i:noon|midday|midnight))\b`, "$1 to $2"),
		newRule("f", `\b(\d|[Tt]wo|[Tt]hree)-for-(\d|one|two)\b`, func(m match) string {
			return m.group(1) + " for " + m.group(2)
		}),
		// Scene ii, pages iv to xii
		doubtfulRule("ivx", `\b((?i:act|scene|part|chapter|canto|appendix|pages?|pp?\.)|to) ([ivx]{2,5})\b`,
			func(m match) (string, bool) {
				n := roman(strings.ToUpper(m.group(2)))
				return m.group(1) + " " + e.cardinal(n), n != "" && m.apart()
			}),
		newRule("/", `(\d ?(?:mg|mcg|µg|μg|g|ml|mL|l|L|IU)) ?/ ?(\d+(?:\.\d+)? ?(?:h|hrs?|hours?|d|days?|mL|ml|L|l)\b)`,
			func(m match) string {
				return m.group(1) + " per " + m.group(2)
			}),
		newRule("pm", `\b([Oo])p\. ?(\d)`, func(m match) string { return m.group(1) + "pus " + m.group(2) }),
		newRule("N", `\bNos\.? (\d)`, func(m match) string { return "Numbers " + m.group(1) }),
		// Your case # is 2024-00117, card ending in 4242, text 85258, ref. AB/1234/C
		newRule("#", `\b((?i:case|order|account|acct|ticket|claim|reference|ref|tracking|confirmation|invoice|room|`+
			`phone)) #( is|:)`, func(m match) string {
			return m.group(1) + " number" + m.group(2)
		}),
		newRule("i", `\b((?i:card|account|number)s? (?i:ending|ends) (?:in|with):? )(\d{3,4})\b`, func(m match) string {
			return m.group(1) + digitByDigit(m.group(2))
		}),
		newRule("tT", `\b([Tt]ext (?:[A-Z]+ to )?)(\d{5,6})\b`, func(m match) string {
			return m.group(1) + digitByDigit(m.group(2))
		}),
	}
}
