package text

import (
	"regexp"
	"strings"
)

// isDayBehind is what stands behind the number of a day, and not behind an hour.
var isDayBehind = regexp.MustCompile(`^(?:$|[.,;!?)]+(?: |$)| (?:and|or|we|is|are|in|at|of|from|the|there|for)\b)`)

// deskRules bring what desks, counters and invitations write to the ways of writing
// that the other rules know. They come first.
func (e english) deskRules() []rule {
	return []rule{
		// a parcel's number, a company's, the end of a fax's
		doubtfulRule("Z", `\b1Z(?: ?[A-Z0-9]){16}\b`, func(m match) (string, bool) { return readFours(m.group(0)), strings.Contains(m.group(0), " ") }),
		newRule("A", `\b(VAT(?: (?:[Nn]o\.?|[Nn]umber|reg\.?))?:? )([A-Z]{2}) ?(\d{3} ?\d{4} ?\d{2})\b`, func(m match) string {
			return m.group(1) + spell(m.group(2)) + " " + sayGroups(m.group(3))
		}),
		newRule("-", `\b((?i:fax|phone|tel|mobile|direct|ext)\.?:? )-(\d{2,5})\b`, func(m match) string { return m.group(1) + digitByDigit(m.group(2)) }),
		newRule("C", `\b(C|c)onf\. ((?i:no|number|code|#)\b)`, func(m match) string { return m.group(1) + "onfirmation " + m.group(2) }),
		// RSVP by 1/5 is no part of a whole
		doubtfulRule("/", `(?i)\b((?:rsvp|due|return|pay|reply|apply|submit|register|order|expires?|book|enrol|enroll)(?: it| them| this| back)? (?:by|on|before) )(\d{1,2})/(\d{1,2})\b`, func(m match) (string, bool) {
			said, ok := e.sayDayOfYear(m.group(2), m.group(3))
			return m.group(1) + said, ok && m.apart() && !strings.HasPrefix(m.after(), "/")
		}),
		// on Mon 26; Sat 9 may be an hour
		doubtfulRule(digits, `\b(`+shortDays+`)\.? (1[3-9]|2\d|3[01])\b`, func(m match) (string, bool) {
			return dayName(m.group(1)) + " the " + e.ordinal(m.group(2)), m.apart() && isDayBehind.MatchString(m.after())
		}),
		newRule("P", `\b([Pp])op(?:\.|ulation)?:? (\d+(?:\.\d+)?) ?([mkM])\b`, func(m match) string {
			return m.group(1) + "opulation " + m.group(2) + " " + map[string]string{"m": "million", "M": "million", "k": "thousand"}[m.group(3)]
		}),
		newRule("p", `(\d) ?pts\b\.?`, func(m match) string { return m.group(1) + " points" + m.stop() }),
		newRule("p", `(\d) ?pers\b\.?`, func(m match) string { return m.group(1) + " people" + m.stop() }),
		newRule("E", `, Esq\b\.?`, func(m match) string { return ", Esquire" + m.stop() }),
		newRule("12½", `(?:½|\b1/2)-?( price| off\b| day\b)`, func(m match) string { return "half" + m.group(1) }),
		newRule("(", `\bbar ?\(([ga])\)`, func(m match) string { return "bar " + map[string]string{"g": "gauge", "a": "absolute"}[m.group(1)] }),
		// discs of the spine: L5/S1
		newRule("CTLS", `\b([CTL]\d{1,2})[/-]([CTLS]\d{1,2})\b`, func(m match) string { return e.disc(m.group(1)) + " " + e.disc(m.group(2)) }),
	}
}

// disc is one of the spine: L5.
func (e english) disc(s string) string { return s[:1] + " " + e.cardinal(s[1:]) }
