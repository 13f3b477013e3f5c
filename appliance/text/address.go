package text

import (
	"regexp"
	"strings"
)

const (
	points      = `(NW|NE|SW|SE|[NSEW])`
	streetName  = `(?:[A-Z][a-z]+(?:'s)?|\d+(?:st|nd|rd|th)|[A-Za-z-]*(?:first|second|third|th))`
	streetWhole = `(?:Street|Avenue|Boulevard|Road|Drive|Lane|Court|Place|Terrace|Circle|Parkway|Highway|Square|` +
		`Crescent|Trail|Plaza|Expressway|Way|Row|Walk)`
)

// streetNamed matches a street's name without its last word, with a number or direction.
var streetNamed = regexp.MustCompile(`(\b\d+[A-Za-z]? |\b` + points + `\.? )?\b(?:` + streetName + ` ){1,3}$`)

// streetRules write out the names of streets, and positions along a road.
func (e english) streetRules() []rule {
	return []rule{
		e.says(`\b(P\.? ?O\.? Box) (\d{3,5})\b`, "P-O Box {r2}"),
		e.says(`\b([Uu]nit) (\d{1,3})/(\d{1,4} [A-Z][a-z])`, "$1 $2, $3"), // Unit 3/45 George St.
		// Main St., Oak Ct, 42nd St & 5th Ave
		rewrite(`\b([A-Z][a-z]{1,4})\b\.?`, e.sayStreet),
		e.says(`\b`+points+`\.? ((?:`+streetName+` ){1,3}`+streetWhole+`\b)`, "{P1} $2"),
		e.says(`\b([NSEW])\. ((?i:wing|entrance|side|gate|campus|exit|tower|lobby|stairs|parking)\b)`, "{P1} $2"),
		e.says(`\b(\d{1,5}) `+points+`\.? ([A-Z][a-z]+\b)`, "$1 {P2} $3"),
		e.says(`\bApt\b\.? ?#?(\d)`, "apartment $1"),
		// Pennsylvania Avenue NW, I-95 N
		e.says(`\b(`+streetWhole+`|I-\d{1,3}|US-\d{1,3}|(?:Hwy\.?|Highway|Route|Rte\.?) \d{1,3}),? `+points+`\b`,
			"$1 {P2}", func(m match) bool { return !strings.HasPrefix(m.after(), "-") }),
		rewrite(`\b(\d{3,4})((?: `+streetName+`){1,4} `+streetWhole+`\b)`, func(m match) (string, bool) {
			house := e.sayNumbered(m.group(1))
			if len(m.group(1)) == 4 && house != digitByDigit(m.group(1)) { // "1600" is "sixteen hundred"
				house = e.year(m.group(1))
			}
			return house + m.group(2), m.apart() && !pointedBefore(m.before())
		}),
		// post codes: SW1A 1AA, K1A 0B1, CA 94105, 90210-1234
		e.says(`\b([A-Z]{1,2}\d[A-Z0-9]?) (\d[ABD-HJLNP-UW-Z]{2}|\d[A-Z]\d)\b`, "{a1}, {a2}"),
		e.says(`\b([A-Z]{2}) (\d{5}(?:-\d{4})?)\b`, "{s1} {d2}"),
		e.says(`\b(\d{5}-\d{4})\b`, "{d1}", alone),
	}
}

// sayStreet writes out the last word of a street's name. "St" may be a saint and "Dr" a doctor:
// they are before a name, unless a house number precedes.
func (e english) sayStreet(m match) (string, bool) {
	short, name := m.group(1), m.wordBefore()
	street := listed("en", "streets").spoken[short]
	if street == "" {
		return "", false
	}
	named := streetNamed.FindStringSubmatch(m.before())
	if named == nil || stops("titles", name) || stops("starters", name) {
		return "", false
	}
	if next := m.rest(); (short == "St" || short == "Dr") && named[1] == "" && next != "" {
		word, _, titled := strings.Cut(next, ".")
		doctor := titled && stops("titles", strings.ToLower(word)) && word != "Dr" // Elm Dr. Mr. Lee
		if next[0] >= 'A' && next[0] <= 'Z' && !doctor && (endOfSentence(m.after()) == "" || m.stop() == "") {
			return "", false
		}
		if doctor {
			return street + ".", true
		}
	}
	return street + m.stop(), true
}

// compass returns the word for a direction.
func compass(s string) string {
	return strings.NewReplacer("NW", "Northwest", "NE", "Northeast", "SW", "Southwest", "SE", "Southeast",
		"N", "North", "S", "South", "E", "East", "W", "West").Replace(s)
}
