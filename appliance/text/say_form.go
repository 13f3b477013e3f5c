package text

import "strings"

// halfDays ends ranges of hours: 10am–noon.
const halfDays = `[Nn]oon|[Mm]idday|[Mm]idnight`

// numberedParts are parts of a work that small Roman numbers follow.
const numberedParts = `(?i:act|scene|part|chapter|canto|appendix|page|pages|pp\.|p\.)`

// formRules bring what people write in forms, leaflets and contracts to the ways
// of writing that the other rules know. They come first of all.
func (e english) formRules() []rule {
	return []rule{
		// account numbers, before a part of them is taken for a telephone number
		newRule("N", `\bIBAN:? ?([A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){2,8})\b`, func(m match) string {
			return "IBAN " + readFours(m.group(1))
		}),
		newRule(digits, `\b[A-Z]{2}\d{2}(?: [A-Z0-9]{4}){3,7}(?: [A-Z0-9]{1,3})?\b|\b[A-Z]{2}\d{2}[A-Z]{0,4}\d{10,26}\b`, func(m match) string {
			return readFours(m.group(0))
		}),
		// (555) 010-9999 x4
		newRule("x", `(\d{3}[ .-]?\d{4}),? ?x\.? ?(\d{1,6})\b`, func(m match) string {
			return m.group(1) + ", extension " + digitByDigit(m.group(2))
		}),
		// § 12(3), section 5(2)(a)
		newRule("(", `((?i:§+ ?|\b(?:section|article|rule|clause|paragraph|regulation|sec\.|art\.) )\d+(?:\.\d+)*[A-Za-z]?)((?:\([0-9]{1,3}\)|\([a-z]\))+)`, func(m match) string {
			parts := strings.FieldsFunc(m.group(2), func(r rune) bool { return r == '(' || r == ')' })
			return m.group(1) + ", " + strings.Join(readAll(parts), ", ")
		}),
		newRule("/", `\b(Q[1-4]|H[12]|FY) ?/ ?((?:19|20)\d{2})\b`, func(m match) string { return m.group(1) + " " + e.year(m.group(2)) }),
		// ranges: 10am–noon, K–12, 1 Jan–31 Mar, 2-for-1
		newRule("-–—", `(\d ?`+halfDayBehind+`|\d) ?[-–—] ?(`+halfDays+`)\b`, func(m match) string { return m.group(1) + " to " + m.group(2) }),
		newRule("K", `\bK ?– ?(\d{1,2})\b`, func(m match) string { return "K-" + m.group(1) }),
		doubtfulRule("-–—", `\b`+dayPattern+` `+monthPattern+` ?[-–—] ?`+dayPattern+` `+monthPattern+`(?:,? (\d{4}))?\b`, func(m match) (string, bool) {
			from, ok := e.sayDayOf(m.group(1), m.group(2), "")
			to, ok2 := e.sayDayOf(m.group(3), m.group(4), m.group(5))
			return from + " to " + to, ok && ok2 && m.apart()
		}),
		newRule("f", `\b(\d|[Tt]wo|[Tt]hree)-for-(\d|one|two)\b`, func(m match) string { return m.group(1) + " for " + m.group(2) }),
		// of holidays nobody writes parts of a whole: 12/24 and 12/31
		doubtfulRule("/", `\b(\d{1,2})/(\d{1,2})\b`, func(m match) (string, bool) {
			const holidays, scored wordList = " 12/24 12/25 12/26 12/31 1/1 10/31 ", " scored got score answered scores with scoring "
			month, day := m.group(1), m.group(2)
			if e.dayFirst {
				month, day = day, month
			}
			before, after := strings.TrimRight(m.before(), " "), strings.TrimLeft(m.after(), " ")
			if !holidays.has(month+"/"+day) || scored.has(strings.ToLower(lastWord(before))) || strings.TrimRight(before, "/-–—") != before || strings.IndexAny(after, "/-–—\"") == 0 || unitFollows(after) {
				return "", false
			}
			return e.sayDay(atoi(month), day), m.apart()
		}),
		newRule("x", `\b(\d)x(\d)s\b`, func(m match) string { // 4x4s, before it is 4 s
			return e.cardinal(m.group(1)) + " by " + pluralWord(e.cardinal(m.group(2)))
		}),
		// 2 x 500 mg: so often, not so wide
		doubtfulRule("xX×", `\b(\d{1,2}) ?[xX×] ?(\d+(?:\.\d+)?) ?(mg|mcg|µg|μg|g|kg|ml|mL|cl|l|L)\b`, func(m match) (string, bool) {
			return e.cardinal(m.group(1)) + " times " + m.group(2) + " " + m.group(3), m.apart() && !endsNumber(m.before())
		}),
		newRule("B", `(\d) ?dB ?\(([A-C])\)`, func(m match) string { return m.group(1) + " decibels " + spell(m.group(2)) }),
		// £12.50/children £6
		newRule("/", `([$£€]\d+(?:\.\d\d)?) ?/ ?([A-Za-z]+ [$£€]\d)`, func(m match) string { return m.group(1) + ", " + m.group(2) }),
		newRule(".", `\b([A-Z][a-z]+) v\. ([A-Z])`, func(m match) string { return m.group(1) + " versus " + m.group(2) }),
		// Scene ii, pages iv to xii
		doubtfulRule("ivx", `\b(`+numberedParts+`) ([ivx]{2,5})(?:(?:[-–—]| to )([ivx]{2,5}))?\b`, func(m match) (string, bool) {
			from, to := roman(strings.ToUpper(m.group(2))), roman(strings.ToUpper(m.group(3)))
			if m.group(3) != "" {
				return m.group(1) + " " + e.cardinal(from) + " to " + e.cardinal(to), from != "" && to != "" && m.apart()
			}
			return m.group(1) + " " + e.cardinal(from), from != "" && m.apart()
		}),
		// Tue/Thu, 8:30a–5p, w/c 23 Nov
		newRule("/", `\b(`+shortDays+`)\.?/(`+shortDays+`)\b`, func(m match) string { return dayName(m.group(1)) + " and " + dayName(m.group(2)) }),
		newRule("p", `\b(\d{1,2}(?::[0-5]\d)?) ?a ?[-–—] ?(\d{1,2}(?::[0-5]\d)?) ?p\b`, func(m match) string {
			return m.group(1) + " am to " + m.group(2) + " pm"
		}),
		newRule("/", `\bw/c (\d)`, func(m match) string { return "week commencing " + m.group(1) }),
		newRule("/", `\b([wv])/([wv])\b`, func(m match) string {
			name := map[string]string{"w": "weight", "v": "volume"}
			return name[m.group(1)] + " by " + name[m.group(2)]
		}),
		newRule("/", `(\d ?(?:mg|mcg|µg|μg|g|ml|mL|l|L|IU)) ?/ ?(\d+(?:\.\d+)? ?(?:h|hrs?|hours?|d|days?|mL|ml|L|l)\b)`, func(m match) string { return m.group(1) + " per " + m.group(2) }),
		// 3 bed/2 bath: two things, not one or the other
		doubtfulRule("/", `\b(\d{1,2} ([a-z]+)) ?/ ?(\d{1,2} ([a-z]+))\b`, func(m match) (string, bool) {
			return m.group(1) + ", " + m.group(3), perUnit(m.group(2)) == "" && perUnit(strings.TrimSuffix(m.group(4), "s")) == "" && unitSign(m.group(4)) == ""
		}),
		newRule("c", `(\d) ?ct\b\.?( gold| diamond)?`, func(m match) string {
			if m.group(2) != "" {
				return m.group(1) + " carat" + m.group(2)
			}
			return m.group(1) + " count" + m.stop()
		}),
		newRule("r", `\b([Rr])ms\.? (\d)`, func(m match) string { return m.group(1) + "ooms " + m.group(2) }),
		newRule("N", `\bNos\.? (\d)`, func(m match) string { return "Numbers " + m.group(1) }),
		newRule("P", `\bPt\. ?(\d)`, func(m match) string { return "Part " + m.group(1) }),
		newRule("pm", `\b([Oo])p\. ?(\d)`, func(m match) string { return m.group(1) + "pus " + m.group(2) }),
		newRule("m", `\b(in [A-G](?:[- ](?:sharp|flat)|[♯♭])?) (min|maj)\b\.?`, func(m match) string {
			return m.group(1) + map[string]string{"min": " minor", "maj": " major"}[m.group(2)] + m.stop()
		}),
		// Your case # is 2024-00117, card ending in 4242, text 85258, ref. AB/1234/C
		newRule("#", `\b((?i:case|order|account|acct|ticket|claim|reference|ref|tracking|confirmation|invoice|room|phone)) #( is|:)`, func(m match) string { return m.group(1) + " number" + m.group(2) }),
		newRule("i", `\b((?i:card|account|number)s? (?i:ending|ends) (?:in|with):? )(\d{3,4})\b`, func(m match) string { return m.group(1) + digitByDigit(m.group(2)) }),
		newRule("tT", `\b([Tt]ext (?:[A-Z]+ to )?)(\d{5,6})\b`, func(m match) string { return m.group(1) + digitByDigit(m.group(2)) }),
		newRule("/", `\b([Rr]ef)(?:erence)?(?:\.|:)? ?([A-Z]{1,4}(?:/[A-Z0-9]{1,6})+)\b`, func(m match) string {
			return m.group(1) + "erence " + strings.Join(readAll(strings.Split(m.group(2), "/")), ", ")
		}),
		newRule(".", `(^|[ (])\.NET\b`, func(m match) string { return m.group(1) + "dot NET" }),
		// plate B-MW 4711
		doubtfulRule(digits, `\b((?i:plate|plates|registration|reg\.):? )([A-Z0-9]{1,4}(?:[ -][A-Z0-9]{1,4}){1,3})\b`, func(m match) (string, bool) {
			return m.group(1) + readGroups(m.group(2)), strings.ContainsAny(m.group(2), digits) && !startsWord(m.after())
		}),
	}
}
