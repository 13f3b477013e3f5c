package text

import (
	"regexp"
	"strings"
)

// halfDayBehind is half of a day as it stands behind an hour.
const halfDayBehind = `(?:[aApP]\.[mM]\.?|[aApP][mM]\b)`

// noticeForms are what notices, timetables and papers shorten before a number.
const noticeForms = ` dep:departs arr:arrives plat:platform flt:flight ste:suite pg:page chap:chapter mi:mile
 inv:inventory acc:accession cat:catalog obj:object rm:room bldg:building lvl:level fl:floor flr:floor `

// noticeRules bring what people write on notices, timetables, menus, labels and
// papers to the ways of writing that the other rules know. They come first.
func (e english) noticeRules() []rule {
	return []rule{
		// 07.42, Thu 3:30
		doubtfulRule(".", `\b(0\d)\.([0-5]\d)\b`, func(m match) (string, bool) {
			return m.group(1) + ":" + m.group(2),
				m.apart() && !pointedBefore(m.before()) && !countsOn(m.after()) &&
					!strings.ContainsAny(lastRunes(m.before()), "$£€-–—") &&
					strings.IndexAny(strings.TrimLeft(m.after(), " "), "-–—") != 0
		}),
		newRule(":", `\b(`+shortDays+`)\.?,? (\d{1,2}:[0-5]\d)\b`, func(m match) string {
			return dayName(m.group(1)) + " " + m.group(2)
		}),
		// No 10, no. A4, room no. 3C
		doubtfulRule("N", `\bNo (\d{1,4}[A-Za-z]?)\b`, func(m match) (string, bool) {
			return "No. " + m.group(1), m.before() != "" && insideSentence(m.before()) || startsName(m.after())
		}),
		newRule("n", `\b((?:at|to|see|outside|bus|door|gate|room|house|platform|track|flat|near|tram|line) )no `+
			`(\d{1,4}[A-Za-z]?)\b([^ ]|$| (?:is|to|at|and|or|on)\b)`, func(m match) string {
			return m.group(1) + "no. " + m.group(2) + m.group(3)
		}),
		doubtfulRule(".", `\b([Nn]o|[Nn]r)\. ?(\d{1,4})([A-Za-h])\b`, func(m match) (string, bool) {
			return strings.Map(keepCase(m.group(1)), "number") + " " + e.sayNumbered(m.group(2)) + " " +
					spell(m.group(3)),
				m.apart()
		}),
		// dep. 06:15, Flt. 1234, Ste. 300, pg. 3, rm. 204
		newRule("m", `\b([Rr])m ?(\d{1,4}[A-Za-z]?)\b`, func(m match) string {
			return m.group(1) + "oom " + m.group(2)
		}),
		newRule(".", `\b((?i:dep|arr|plat|flt|ste|pg|chap|mi|rm|bldg|lvl|flr?))\. ?#?(\d)`,
			func(m match) string {
				name := formOf(noticeForms, strings.ToLower(m.group(1)))
				return strings.Map(keepCase(m.group(1)), name) + " " + m.group(2)
			}),
		// 0800 1111
		doubtfulRule(digits, `\b0\d{3} \d{4}\b`, func(m match) (string, bool) {
			return sayGroups(m.group(0)), m.apart()
		}),
		newRule("ea", `(\d|oz\.?|lbs?\.?|pcs?\.?) ea\b\.?`, func(m match) string {
			return m.group(1) + " each" + m.stop()
		}),
		writes("s", `\b((?:in|after|every|within|takes|took|for|than|wait) [1-9]0)s\b`, "$1 sec"),
		writes("/", `([ap]\.?m\.?) ?/ ?(\d)`, "$1 or $2"),
		writes(":", `\b(\d{1,2}:[0-5]\d) ?([ap])\b([^.\w]|$)`, "$1 ${2}m$3"),
		writes("/", `\bw/c (\d)`, "week commencing $1"),
		writes("-–—", `\b(BCE?|B\.C\.(?:E\.)?|CE) ?[-–—] ?(AD \d|\d)`, "$1 to $2"),
		// low 48F, but not of a seat
		doubtfulRule("FC", `(^|[^\w.])(-?\d{2,3}(?:\.\d)?|-\d) ?([FC])\b`, func(m match) (string, bool) {
			before := strings.TrimSuffix(strings.TrimRight(m.before()+m.group(1), ".:# "), " is")
			door := doors.has(strings.ToLower(lastWord(before)))
			return m.group(1) + m.group(2) + "°" + m.group(3), weather.MatchString(m.text) && !door
		}),
	}
}

// weather tells that a text is about how warm something is; doors stand before numbers
// with a letter.
var weather = regexp.MustCompile(`(?i)\b(?:temp(?:erature)?s?|fever|lows?|highs?|degrees?|weather|forecast|sunny|` +
	`cloudy|rainy?|snow|oven|bake|roast|preheat|heat|warm\w*|cold|cool\w*|hot|outside|feels like|winds?|humid\w*|` +
	`freez\w+|boil\w*|store (?:at|below))\b`)

const doors wordList = " gate seat row room door flat apartment apt unit house platform exit stand bus class number" +
	" no hall level ward bay size section bed terminal suite block line bra form page "

// insideSentence reports whether a text ends within a sentence, so that a capital
// behind it is not that of a first word.
func insideSentence(before string) bool {
	t := strings.TrimRight(before, " ")
	return t != before && (endsWord(t) || strings.HasSuffix(t, ","))
}

// startsName reports whether a word with a capital follows.
func startsName(after string) bool {
	return len(after) > 1 && after[0] == ' ' && after[1] >= 'A' && after[1] <= 'Z'
}
