package text

import (
	"regexp"
	"strings"
	"sync"
)

// prescribed are words that say that a text is about medicine, where "tabs." are
// tablets and "PO" is no post office.
var prescribed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:mg|mcg|ml|daily|dispense|refills?|rx|orally|by mouth|with (?:food|water|meals?)|after meals?|before (?:meals?|bed)|at bedtime|once a day|a day|[bt]\.?i\.?d|q\.?d|prn|q\d{1,2}h|doses?|pain|pharmac\w+|prescri\w+|tablets?|capsules?|patient)\b|\d ?m?c?g\b`)
})

// dosage are the short forms of prescriptions.
const dosage = ` qd:once_a_day bid:twice_a_day bd:twice_a_day tid:three_times_a_day tds:three_times_a_day qid:four_times_a_day qds:four_times_a_day prn:as_needed po:by_mouth qhs:at_bedtime `

// medicineRules say what stands on prescriptions. They come first.
func (e english) medicineRules() []rule {
	medical := func(m match) bool { return prescribed().MatchString(m.text) }
	return []rule{
		newRule("xX×", `\b(\d{1,2}) ?[xX×] ?(?:/|a|per) ?(day|d|night|week|wk|month|mo|year|yr|hour|hr)\b\.?`, func(m match) string { // 2x/day
			times := map[string]string{"1": "once", "2": "twice"}[m.group(1)]
			if times == "" {
				times = m.group(1) + " times"
			}
			name := unitName(m.group(2))
			if name == "d" {
				name = "day"
			}
			return times + " " + article(name) + name + m.stop()
		}),
		// 2 tabs., 1-2 caps, ½ tab
		doubtfulRule("tTcC", `(\d|½|\b(?i:one|two|three|half)|\d ?(?:mg|mcg|g)) ?((?i:tabs?|caps?|gtts?|supps?))\b(\.?)`, func(m match) (string, bool) {
			short := strings.ToLower(strings.TrimSuffix(strings.ToLower(m.group(2)), "s"))
			name := map[string]string{"tab": "tablet", "cap": "capsule", "gtt": "drop", "supp": "suppository"}[short]
			if n := lastWord(m.before() + m.group(1)); !strings.HasSuffix(m.group(1), "g") && !strings.HasSuffix(strings.ToLower(n), "half") && strings.TrimLeft(n, "0") != "1" && n != "1/2" && n != "one" && !strings.HasSuffix(n, "/2") && !strings.HasSuffix(n, "/4") {
				name = pluralWord(name)
			} else if strings.HasSuffix(m.group(1), "g") && strings.HasSuffix(strings.ToLower(m.group(2)), "s") { // 500 mg caps
				name = pluralWord(name)
			}
			return m.group(1) + " " + name + m.stop(), medical(m)
		}),
		newRule(".", `\b([bBtTqQ])\.([iI])\.([dD])\b\.?`, func(m match) string {
			return formOf(dosage, strings.ToLower(m.group(1))+"id") + m.stop()
		}),
		newRule(".", `\bp\.r\.n\b\.?`, func(m match) string { return "as needed" + m.stop() }),
		doubtfulRule("qQ", `\b[qQ]\.? ?(\d{1,2}) ?(h|hrs?|wks?|mo)\b\.?`, func(m match) (string, bool) { // q4h, q.2 wk
			name := map[byte]string{'h': " hours", 'w': " weeks", 'm': " months"}[m.group(2)[0]]
			return "every " + m.group(1) + name + m.stop(), m.group(2)[0] == 'h' || medical(m)
		}),
		newRule("y", `(\d)[ -]?y/?o\b( \pL)?`, func(m match) string { // 6 y/o, a 22yo man
			if m.group(2) == "" {
				return m.group(1) + " years old"
			}
			return m.group(1) + " year old" + m.group(2)
		}),
		doubtfulRule("DOSNdosn", `\b(QD|BID|BD|TID|TDS|QID|QDS|PRN|PO|QHS|tid|qid|tds|qds|prn)\b`, func(m match) (string, bool) {
			return formOf(dosage, strings.ToLower(m.group(1))), medical(m) && m.apart() && !strings.HasPrefix(strings.ToLower(strings.TrimLeft(m.after(), " ")), "box") && !strings.HasPrefix(m.after(), "-") && !strings.HasPrefix(m.after(), " number")
		}),
		doubtfulRule("x×", ` [x×] ?(\d{1,2}) ?(days?|d|weeks?|wks?)\b`, func(m match) (string, bool) {
			if m.group(2) == "d" {
				return " for " + m.group(1) + " days", medical(m)
			}
			return " for " + m.group(1) + " " + m.group(2), medical(m)
		}),
	}
}
