package text

import "strings"

// halfDayBehind is half of a day as it stands behind an hour.
const halfDayBehind = `(?:[aApP]\.[mM]\.?|[aApP][mM]\b)`

// noticeForms are what notices, timetables and papers shorten before a number.
const noticeForms = ` dep:departs arr:arrives plat:platform flt:flight ste:suite pg:page chap:chapter mi:mile inv:inventory acc:accession cat:catalog obj:object `

// noticeRules bring what people write on notices, timetables, menus, labels and
// papers to the ways of writing that the other rules know. They come first.
func (e english) noticeRules() []rule {
	return []rule{
		// times: 9 a.m./10 a.m., 6:05a, 07.42, Thu 3:30, 3m 12s, in 30s, MON-FRI
		doubtfulRule("/", `\b(\d{1,2}(?:[:.][0-5]\d)? ?`+halfDayBehind+`) ?/ ?(\d{1,2}(?:[:.][0-5]\d)? ?`+halfDayBehind+`)`, func(m match) (string, bool) {
			return m.group(1) + " or " + m.group(2), !startsWord(m.after())
		}),
		newRule(":", `\b(1[0-2]|0?[1-9]):([0-5]\d) ?([ap])\b([^.]|$)`, func(m match) string {
			return m.group(1) + ":" + m.group(2) + " " + m.group(3) + "m" + m.group(4)
		}),
		doubtfulRule(".", `\b(0\d)\.([0-5]\d)\b`, func(m match) (string, bool) {
			return m.group(1) + ":" + m.group(2), m.apart() && !pointedBefore(m.before()) && !countsOn(m.after()) && !strings.ContainsAny(lastRunes(m.before()), "$£€-–—") && strings.IndexAny(strings.TrimLeft(m.after(), " "), "-–—") != 0
		}),
		newRule(":", `\b(`+shortDays+`)\.?,? (\d{1,2}:[0-5]\d)\b`, func(m match) string { return dayName(m.group(1)) + " " + m.group(2) }),
		newRule("s", `\b(\d{1,3})m ?(\d{1,2})s\b`, func(m match) string { return m.group(1) + " min " + m.group(2) + " sec" }),
		newRule("s", `\b((?:in|after|every|within|takes|took|for|than|wait) )([1-9]0)s\b`, func(m match) string { return m.group(1) + m.group(2) + " sec" }),
		newRule("-–—", `\b(MON|TUE|TUES|WED|THU|THUR|THURS|FRI|SAT|SUN) ?[-–—] ?(MON|TUE|TUES|WED|THU|THUR|THURS|FRI|SAT|SUN)\b`, func(m match) string {
			return dayName(m.group(1)) + " to " + dayName(m.group(2))
		}),
		// No 10, no. A4, room no. 3C, PO# 55871
		doubtfulRule("N", `\bNo (\d{1,4}[A-Za-z]?)\b`, func(m match) (string, bool) {
			return "No. " + m.group(1), m.before() != "" && insideSentence(m.before()) || startsName(m.after())
		}),
		newRule("n", `\b((?:at|to|see|outside|bus|door|gate|room|house|platform|track|flat|near|tram|line) )no (\d{1,4}[A-Za-z]?)\b([^ ]|$| (?:is|to|at|and|or|on)\b)`, func(m match) string {
			return m.group(1) + "no. " + m.group(2) + m.group(3)
		}),
		doubtfulRule(".", `\b([Nn]o|[Nn]r)\. ?([A-Z])-?(\d{1,4})\b`, func(m match) (string, bool) {
			return strings.Map(keepCase(m.group(1)), "number") + " " + letterBefore(m.group(2), e.sayNumbered(m.group(3))), m.apart() && !strings.HasPrefix(m.after(), "-")
		}),
		doubtfulRule(".", `\b([Nn]o|[Nn]r)\. ?(\d{1,4})([A-Za-h])\b`, func(m match) (string, bool) {
			return strings.Map(keepCase(m.group(1)), "number") + " " + e.sayNumbered(m.group(2)) + letterBehind(m.group(3)), m.apart()
		}),
		newRule("#", `\b(P\.?O\.?|(?i:acct|ref|inv|ticket|case|item|order|invoice))# ?(\d+)\b`, func(m match) string {
			return m.group(1) + " number " + e.sayNumbered(m.group(2))
		}),
		// Acc. no. 1984.12.3, inv. 1923,0405.12
		doubtfulRule(".", `\b([Aa]cc|[Ii]nv|[Cc]at|[Oo]bj)\.(?: (?:[Nn]o|[Nn]r)\.?)?:? ?(\d+(?:[.,]\d+)+)`, func(m match) (string, bool) {
			return strings.Map(keepCase(m.group(1)), formOf(noticeForms, strings.ToLower(m.group(1)))) + " number " + e.sayInventory(m.group(2)), !startsWord(m.after())
		}),
		newRule(".", `\b([Aa]cc|[Ii]nv|[Cc]at|[Oo]bj)\. ([Nn]o)\b`, func(m match) string {
			return strings.Map(keepCase(m.group(1)), formOf(noticeForms, strings.ToLower(m.group(1)))) + " " + strings.ToLower(m.group(2))
		}),
		// dep. 06:15, Flt. 1234, Ste. 300, pg. 3
		newRule("m", `\b([Rr])m ?(\d{1,4}[A-Za-z]?)\b`, func(m match) string { return m.group(1) + "oom " + m.group(2) }),
		newRule(".", `\b([Dd]ep|[Aa]rr|[Pp]lat|[Ff]lt|[Ss]te|[Pp]g|[Cc]hap|[Mm]i)\. ?(\d)`, func(m match) string {
			return strings.Map(keepCase(m.group(1)), formOf(noticeForms, strings.ToLower(m.group(1)))) + " " + m.group(2)
		}),
		// W 42nd St & 5th Ave, I-95 N, Hwy. 61 S
		doubtfulRule("SARB", `\b(?:([NSEW])\.? )?(\d+(?:st|nd|rd|th)) (St|Ave|Blvd|Rd)\b(\.?)`, func(m match) (string, bool) {
			street := map[string]string{"St": "Street", "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road"}[m.group(3)]
			if m.group(1) != "" {
				street = compass(m.group(1)) + " " + m.group(2) + " " + street
			} else {
				street = m.group(2) + " " + street
			}
			return street + m.stop(), m.apart()
		}),
		newRule("NSEW", `\b(I-\d{1,3}|US-\d{1,3}|(?:Highway|Hwy\.?|Route|Rte\.?) \d{1,3}) ([NSEW])\b`, func(m match) string { return m.group(1) + " " + compass(m.group(2)) }),
		newRule("/", `\b([Ff]lat) (\d{1,2})/(\d{1,2})\b`, func(m match) string { return m.group(1) + " " + m.group(2) + ", " + m.group(3) }),
		// prices, amounts and dates with a stroke: 8.90/15.50, 4 doses/24 hrs, thru 12/31, your letter of 11/12
		doubtfulRule("/", `\b(\d+\.\d\d) ?/ ?(\d+\.\d\d)\b`, func(m match) (string, bool) {
			return m.group(1) + " or " + m.group(2), m.apart() && !pointed(m.after()) && !strings.HasSuffix(m.before(), "/")
		}),
		newRule("/", `(\d (?:doses?|tablets?|capsules?|times|puffs|drops|litres?|liters?|pills)) ?/ ?(\d+ ?(?:h|hrs?|hours?|days?|d|weeks?|wks?)\b)`, func(m match) string { return m.group(1) + " per " + m.group(2) }),
		doubtfulRule("/", `\b((?i:thru|valid to|expires?|exp\.?|(?:e-?mail|letter|invoice|order|message|call|visit|appointment|meeting) (?:of|from)) )(\d{1,2})/(\d{1,2})\b`, func(m match) (string, bool) {
			month, day := m.group(2), m.group(3)
			if e.dayFirst && atoi(day) <= 12 || atoi(month) > 12 {
				month, day = day, month
			}
			mo, d := atoi(month), atoi(day)
			return m.group(1) + e.sayDay(mo, day), mo >= 1 && mo <= 12 && d >= 1 && d <= 31 && m.apart() && !strings.HasPrefix(m.after(), "/")
		}),
		newRule("$", `\${2,}`, func(match) string { return "" }),
		newRule("ea", `(\d|oz\.?|lbs?\.?|pcs?\.?) ea\b\.?`, func(m match) string { return m.group(1) + " each" + m.stop() }),
		// 530–520 B.C., 1500 BCE–AD 300
		newRule("-–—", `\b(BCE?|B\.C\.(?:E\.)?|CE) ?[-–—] ?(AD \d|\d)`, func(m match) string { return m.group(1) + " to " + m.group(2) }),
		// the code that was sent is 482 913
		newRule(digits, `\b((?i:code|pin|passcode|otp)(?: is)?:? )(\d{3})[ -](\d{3})\b`, func(m match) string {
			return m.group(1) + digitByDigit(m.group(2)) + ", " + digitByDigit(m.group(3))
		}),
		doubtfulRule(digits, `\b0\d{3} \d{4}\b`, func(m match) (string, bool) { return sayGroups(m.group(0)), m.apart() }), // 0800 1111
		// and 75008 Paris
		doubtfulRule(digits, `\b(\d{5}) ([A-Z][\pL-]+)`, func(m match) (string, bool) {
			return digitByDigit(m.group(1)) + " " + m.group(2), m.apart() && !pointedBefore(m.before()) && !strings.HasSuffix(m.before(), "-") && (postTowns.has(strings.ToLower(m.group(2))) || hasStreet(m.before()))
		}),
		newRule("F", `(?i:\b(temp(?:erature)?\.?|fever)(?: is| was| of|:)? )(\d{2,3}(?:\.\d)?) ?F\b`, func(m match) string { return m.group(0)[:len(m.group(0))-1] + "°F" }),
	}
}

// postTowns are large towns with codes of five digits, which stand behind the code.
const postTowns wordList = " paris lyon marseille nice toulouse bordeaux lille strasbourg nantes montpellier rennes grenoble dijon cannes avignon berlin hamburg münchen munich köln cologne frankfurt stuttgart düsseldorf dresden leipzig bremen hannover hanover nürnberg nuremberg bonn heidelberg potsdam freiburg mainz madrid barcelona valencia sevilla seville bilbao málaga malaga granada zaragoza palma roma rome milano milan napoli naples torino turin firenze florence venezia venice bologna genova genoa palermo verona pisa siena helsinki praha prague athens ankara istanbul "

// hasStreet reports whether a text names a street of a country where the code
// stands before the town.
func hasStreet(s string) bool {
	s = strings.ToLower(s[max(len(s)-maxStreet, 0):])
	for _, street := range [...]string{"rue ", "avenue de", "boulevard de", "place de", "straße", "strasse", "str.", "platz", "allee", " weg ", "via ", "piazza", "viale ", "calle ", "plaza ", "paseo ", "rambla"} {
		if strings.Contains(s, street) {
			return true
		}
	}
	return false
}

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

// sayInventory says the number of a thing in a collection, year first:
// "1984.12.3".
func (e english) sayInventory(s string) string {
	var said strings.Builder
	for i, first := 0, true; i < len(s); first = false {
		n := i
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		part := s[i:n]
		switch {
		case first && len(part) == 4 && (part[0] == '1' || part[0] == '2'):
			said.WriteString(e.year(part))
		case part[0] == '0' && len(part) > 1, len(part) > 4:
			said.WriteString(digitByDigit(part))
		default:
			said.WriteString(e.cardinal(part))
		}
		if i = n; i < len(s) {
			said.WriteString(map[byte]string{'.': " point ", ',': ", "}[s[i]])
			i++
		}
	}
	return said.String()
}
