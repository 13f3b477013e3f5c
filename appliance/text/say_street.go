package text

import (
	"regexp"
	"strings"
)

// streetForms are how the last word of a street's name is shortened.
const streetForms = ` St:Street Ave:Avenue Blvd:Boulevard Rd:Road Dr:Drive Ln:Lane Ct:Court Pl:Place Ter:Terrace
 Cir:Circle Pkwy:Parkway Hwy:Highway Sq:Square Cres:Crescent Trl:Trail Plz:Plaza Expy:Expressway `

const (
	points      = `(NW|NE|SW|SE|[NSEW])`
	streetName  = `(?:[A-Z][a-z]+(?:'s)?|\d+(?:st|nd|rd|th)|[A-Za-z-]*(?:first|second|third|th))`
	streetShort = `(St|Ave|Blvd|Rd|Dr|Ln|Ct|Pl|Ter|Cir|Pkwy|Hwy|Sq|Cres|Trl|Plz|Expy)`
	streetWhole = `(?:Street|Avenue|Boulevard|Road|Drive|Lane|Court|Place|Terrace|Circle|Parkway|Highway|Square|` +
		`Crescent|Trail|Plaza|Expressway|Way|Row|Walk)`
)

// streetNamed is a street's name before its last word, with a number or a direction.
var streetNamed = regexp.MustCompile(`(\b\d+[A-Za-z]? |\b` + points + `\.? )?\b(?:` + streetName + ` ){1,3}$`)

// streetRules say the names of streets, and where on a road something is.
func (e english) streetRules() []rule {
	return []rule{
		// Main St., Oak Ct, 42nd St & 5th Ave
		doubtfulRule("SABRDLCPTHE", `\b`+streetShort+`\b\.?`, e.sayStreet),
		newRule("NSEW", `\b`+points+`\.? ((?:`+streetName+` ){1,3}`+streetWhole+`\b)|\b([NSEW])\. `+
			`((?i:wing|entrance|side|gate|campus|exit|tower|lobby|stairs|parking)\b)`,
			func(m match) string { return compass(m.group(1)+m.group(3)) + " " + m.group(2) + m.group(4) }),
		newRule("NSEW", `\b(\d{1,5}) `+points+`\.? ([A-Z][a-z]+\b)`,
			func(m match) string { return m.group(1) + " " + compass(m.group(2)) + " " + m.group(3) }),
		newRule("A", `\bApt\b\.? ?#?(\d)`, func(m match) string { return "apartment " + m.group(1) }),
		// Pennsylvania Avenue NW, I-95 N
		doubtfulRule("NSEW", `\b(`+streetWhole+`|I-\d{1,3}|US-\d{1,3}|(?:Hwy\.?|Highway|Route|Rte\.?) \d{1,3}),? `+
			points+`\b`,
			func(m match) (string, bool) {
				return m.group(1) + " " + compass(m.group(2)), !strings.HasPrefix(m.after(), "-") // S-W one
			}),
		doubtfulRule(digits, `\b(\d{3,4})((?: `+streetName+`){1,4} `+streetWhole+`\b)`, func(m match) (string, bool) {
			house := e.sayNumbered(m.group(1))
			if len(m.group(1)) == 4 && house != digitByDigit(m.group(1)) { // "1600" is "sixteen hundred"
				house = e.year(m.group(1))
			}
			return house + m.group(2), m.apart() && !pointedBefore(m.before())
		}),
	}
}

// sayStreet writes the last word of a street's name out. "St" may be a saint's and "Dr" a
// doctor's: before a name they are, but behind the number of a house.
func (e english) sayStreet(m match) (string, bool) {
	short, named := m.group(1), streetNamed.FindStringSubmatch(m.before())
	name := strings.ToLower(lastWord(m.before()))
	if named == nil || titles.has(name) || sentenceStarters.has(name) {
		return "", false
	}
	if next := strings.TrimLeft(m.after(), " "); (short == "St" || short == "Dr") && named[1] == "" && next != "" {
		word, _, titled := strings.Cut(next, ".")
		doctor := titled && titles.has(strings.ToLower(word)) && word != "Dr" // Elm Dr. Mr. Lee
		if next[0] >= 'A' && next[0] <= 'Z' && !doctor && (endOfSentence(m.after()) == "" || m.stop() == "") {
			return "", false
		}
		if doctor {
			return formOf(streetForms, short) + ".", true
		}
	}
	return formOf(streetForms, short) + m.stop(), true
}

// compass says a direction.
func compass(s string) string {
	return strings.NewReplacer("NW", "Northwest", "NE", "Northeast", "SW", "Southwest", "SE", "Southeast",
		"N", "North", "S", "South", "E", "East", "W", "West").Replace(s)
}
