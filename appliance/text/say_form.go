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
		// a parcel's number, the end of a fax's
		doubtfulRule("Z", `\b1Z(?: ?[A-Z0-9]){16}\b`, func(m match) (string, bool) {
			return readFours(m.group(0)), strings.Contains(m.group(0), " ")
		}),
		newRule("-", `\b((?i:fax|phone|tel|mobile|direct|ext)\.?:? )-(\d{2,5})\b`,
			func(m match) string { return m.group(1) + digitByDigit(m.group(2)) }),
		newRule("C", `\b(C|c)onf\. ((?i:no|number|code|#)\b)`,
			func(m match) string { return m.group(1) + "onfirmation " + m.group(2) }),
		// on Mon 26; Sat 9 may be an hour
		doubtfulRule(digits, `\b(`+shortDays+`)\.? (1[3-9]|2\d|3[01])\b`, func(m match) (string, bool) {
			return dayName(m.group(1)) + " the " + e.ordinal(m.group(2)), m.apart() && isDayBehind.MatchString(m.after())
		}),
		newRule("p", `(\d) ?pts\b\.?`, func(m match) string { return m.group(1) + " points" + m.stop() }),
		newRule("12½", `(?:½|\b1/2)-?( price| off\b| day\b)`, func(m match) string { return "half" + m.group(1) }),
		// account numbers, before a part of them is taken for a telephone number
		newRule(digits, `\b(IBAN:? )?([A-Z]{2}\d{2}(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?|`+
			`[A-Z]{2}\d{2}[A-Z]{0,4}\d{10,26})\b`,
			func(m match) string {
				return m.group(1) + readFours(m.group(2))
			}),
		// 8 1/2 x 11
		newRule("xX×", `(\d/\d{1,2}) ?[xX×] ?(\d)`, func(m match) string { return m.group(1) + " by " + m.group(2) }),
		// (555) 010-9999 x4
		newRule("x", `(\d{3}[ .-]?\d{4}),? ?x\.? ?(\d{1,6})\b`, func(m match) string {
			return m.group(1) + ", extension " + digitByDigit(m.group(2))
		}),
		// ranges: 10am–noon, K–12, 2-for-1
		newRule("-–—", `(\d ?`+halfDayBehind+`|\d) ?[-–—] ?((?i:noon|midday|midnight))\b`,
			func(m match) string { return m.group(1) + " to " + m.group(2) }),
		newRule("f", `\b(\d|[Tt]wo|[Tt]hree)-for-(\d|one|two)\b`, func(m match) string { return m.group(1) + " for " + m.group(2) }),
		// 2 x 500 mg: so often, not so wide
		doubtfulRule("xX×", `\b(\d{1,2}) ?[xX×] ?(\d+(?:\.\d+)?) ?(mg|mcg|µg|μg|g|kg|ml|mL|cl|l|L)\b`, func(m match) (string, bool) {
			return e.cardinal(m.group(1)) + " times " + m.group(2) + " " + m.group(3), m.apart() && !endsNumber(m.before())
		}),
		// £12.50/children £6
		newRule("/", `([$£€]\d+(?:\.\d\d)?) ?/ ?([A-Za-z]+ [$£€]\d)`, func(m match) string { return m.group(1) + ", " + m.group(2) }),
		// Scene ii, pages iv to xii
		doubtfulRule("ivx", `\b((?i:act|scene|part|chapter|canto|appendix|pages?|pp?\.)|to) ([ivx]{2,5})\b`,
			func(m match) (string, bool) {
				n := roman(strings.ToUpper(m.group(2)))
				return m.group(1) + " " + e.cardinal(n), n != "" && m.apart()
			}),
		newRule("/", `(\d ?(?:mg|mcg|µg|μg|g|ml|mL|l|L|IU)) ?/ ?(\d+(?:\.\d+)? ?(?:h|hrs?|hours?|d|days?|mL|ml|L|l)\b)`, func(m match) string { return m.group(1) + " per " + m.group(2) }),
		newRule("N", `\bNos\.? (\d)`, func(m match) string { return "Numbers " + m.group(1) }),
		newRule("pm", `\b([Oo])p\. ?(\d)`, func(m match) string { return m.group(1) + "pus " + m.group(2) }),
		// Your case # is 2024-00117, card ending in 4242, text 85258, ref. AB/1234/C
		newRule("#", `\b((?i:case|order|account|acct|ticket|claim|reference|ref|tracking|confirmation|invoice|room|phone)) #( is|:)`, func(m match) string { return m.group(1) + " number" + m.group(2) }),
		newRule("i", `\b((?i:card|account|number)s? (?i:ending|ends) (?:in|with):? )(\d{3,4})\b`, func(m match) string { return m.group(1) + digitByDigit(m.group(2)) }),
		newRule("tT", `\b([Tt]ext (?:[A-Z]+ to )?)(\d{5,6})\b`, func(m match) string { return m.group(1) + digitByDigit(m.group(2)) }),
		// plate B-MW 4711
		doubtfulRule(digits, `\b((?i:plate|plates|registration|reg\.):? )([A-Z0-9]{1,4}(?:[ -][A-Z0-9]{1,4}){1,3})\b`, func(m match) (string, bool) {
			return m.group(1) + readGroups(m.group(2)), strings.ContainsAny(m.group(2), digits) && !startsWord(m.after())
		}),
	}
}
