package text

import (
	"slices"
	"strings"
)

var hindiMonths = [12]string{"जनवरी", "फ़रवरी", "मार्च", "अप्रैल", "मई", "जून", "जुलाई", "अगस्त", "सितंबर", "अक्टूबर",
	"नवंबर", "दिसंबर"}

var hindiUnits = map[string]string{
	"kg": "किलोग्राम", "g": "ग्राम", "mg": "मिलीग्राम", "km": "किलोमीटर", "m": "मीटर", "cm": "सेंटीमीटर",
	"mm": "मिलीमीटर", "l": "लीटर", "L": "लीटर", "ml": "मिलीलीटर", "mL": "मिलीलीटर",
	"km/h": "किलोमीटर प्रति घंटा", "°C": "डिग्री सेल्सियस", "°": "डिग्री", "GB": "जीबी", "MB": "एमबी", "W": "वाट",
	"V": "वोल्ट",
}

// hindiLetters are the names of A to Z.
var hindiLetters = [26]string{"ए", "बी", "सी", "डी", "ई", "एफ़", "जी", "एच", "आई", "जे", "के", "एल", "एम", "एन", "ओ",
	"पी", "क्यू", "आर", "एस", "टी", "यू", "वी", "डब्ल्यू", "एक्स", "वाई", "ज़ेड"}

// hindiShort are abbreviations, and what is said for them.
var hindiShort = [][2]string{
	{"डॉ.", "डॉक्टर"}, {"प्रो.", "प्रोफ़ेसर"}, {"पं.", "पंडित"}, {"नं.", "नंबर"}, {"सं.", "संख्या"}, {"मो.", "मोबाइल"},
	{"कि.मी.", "किलोमीटर"}, {"कि.ग्रा.", "किलोग्राम"}, {"मि.ली.", "मिलीलीटर"}, {"मि.ग्रा.", "मिलीग्राम"},
	{"किमी", "किलोमीटर"}, {"किग्रा", "किलोग्राम"}, {"ई.पू.", "ईसा पूर्व"},
}

// hindiRules write out what eSpeak NG drops or says in English within Hindi.
func hindiRules() []rule {
	var short []rule
	for _, s := range hindiShort {
		short = append(short, newRule(`(^|[^\p{Devanagari}])`+strings.ReplaceAll(s[0], ".", `\.`)+
			`($|[^\p{Devanagari}])`, func(m match) string {
			return m.group(1) + s[1] + spaceBetween(m.group(2)) + m.group(2)
		}))
	}
	return slices.Concat(foreignSignsOf["hi"].first(), short, []rule{
		doubtfulRule(`\b\d{1,3}(?:,\d{2,3})+\b`, func(m match) (string, bool) {
			return strings.ReplaceAll(m.group(0), ",", ""), m.apart()
		}),
		// ₹100.50, रु. 250
		newRule(`(?:₹|रु\.|रू\.|\bRs\.?) ?(\d+)(?:\.(\d{1,2}))?( (?:हज़ार|हजार|लाख|करोड़))?(?:/-)?`,
			func(m match) string {
				said := m.group(1)
				switch part := strings.TrimLeft(m.group(2), "0"); {
				case m.group(3) != "" && part != "":
					return said + "." + m.group(2) + m.group(3) + " रुपये"
				case part != "":
					if len(m.group(2)) == 1 {
						part += "0"
					}
					return said + " रुपये " + part + " पैसे"
				}
				return said + m.group(3) + " रुपये"
			}),
		doubtfulRule(`([$€£])(\d+(?:\.\d+)?)`, func(m match) (string, bool) {
			return m.group(2) + " " + map[string]string{"$": "डॉलर", "€": "यूरो", "£": "पाउंड"}[m.group(1)],
				!startsWord(m.after())
		}),
		doubtfulRule(`\b(0?[1-9]|[12]\d|3[01])[/.-](0?[1-9]|1[0-2])[/.-]((?:19|20)\d{2})\b`,
			func(m match) (string, bool) {
				return strings.TrimLeft(m.group(1), "0") + " " + hindiMonths[atoi(m.group(2))-1] + " " + m.group(3),
					m.apart()
			}),
		doubtfulRule(`\b([01]?\d|2[0-3]):([0-5]\d)(?: ?बजे)?`, func(m match) (string, bool) {
			hour := strings.TrimLeft(m.group(1), "0")
			if hour == "" {
				hour = "0"
			}
			if minute := strings.TrimLeft(m.group(2), "0"); minute != "" {
				return hour + " बजकर " + minute + " मिनट", m.apart() && !strings.HasPrefix(m.after(), ":")
			}
			return hour + " बजे", m.apart() && !strings.HasPrefix(m.after(), ":")
		}),
		doubtfulRule(`(\d) ?(km/h|°C|°|kg|km|cm|mm|mg|ml|mL|GB|MB|g|l|L|m|W|V)`, func(m match) (string, bool) {
			return m.group(1) + " " + hindiUnits[m.group(2)], !startsWord(m.after())
		}),
		// +91 98765 43210
		doubtfulRule(`(\+?)\b(\d{2,5}(?:[ -]\d{2,8}){1,4}|\d{7,})\b`, func(m match) (string, bool) {
			groups := strings.FieldsFunc(m.group(2), func(r rune) bool { return r == ' ' || r == '-' })
			longest := 0
			for i, g := range groups {
				longest, groups[i] = max(longest, len(g)), apartDigits(g)
			}
			plus := ""
			if m.group(1) != "" {
				plus = "प्लस "
			}
			return plus + strings.Join(groups, ", "), longest > 4 && m.apart() && !strings.HasSuffix(m.group(2), "000")
		}),
		// CO2, aB3-x9Z
		doubtfulRule(`\b[A-Za-z]+\d[A-Za-z0-9-]*|\b\d+[A-Za-z][A-Za-z0-9-]*\d[A-Za-z0-9]*`,
			func(m match) (string, bool) {
				return hindiCode(m.group(0)), m.apart()
			}),
	})
}

// hindiCode says the letters of a code by their names, and its figures one by one.
func hindiCode(s string) string {
	var said []string
	for _, r := range strings.ToUpper(s) {
		switch {
		case r >= 'A' && r <= 'Z':
			said = append(said, hindiLetters[r-'A'])
		case r == '-':
			said = append(said, ",")
		default:
			said = append(said, string(r))
		}
	}
	return strings.ReplaceAll(strings.Join(said, " "), " ,", ",")
}

// spaceBetween parts a word that is written out from a figure behind it.
func spaceBetween(next string) string {
	if startsDigit(next) {
		return " "
	}
	return ""
}
