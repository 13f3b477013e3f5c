package clerk

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"parley/appliance/text"
)

// offer is what one clause of the facts asks for one thing.
type offer struct {
	line    int
	things  map[string]bool // stems, those of whom it is for among them
	whom    map[string]bool // those of people behind "for": "a ticket for a student"
	value   float64
	per     string // the stem of what it is one for: "dai"; empty: the thing
	rule    *ageRule
	certain bool
}

// times are the stems of units of time by which things are paid.
var times = sync.OnceValue(func() map[string]bool { return stemmed("hour day night week month minute") })

// neutral are stems beside a thing that make it no other one.
var neutral = sync.OnceValue(func() map[string]bool {
	return stemmed("ticket admission entrance entry cost costs price pay pays paid charge charged fee dollar euro " +
		"pound franc buck cent pence penny each per free nothing travel travels enter person visitor guest")
})

func stemmed(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[thing(w)] = true
	}
	return out
}

// thing is the stem of a word for something, one for one and for several.
func thing(w string) string {
	switch w {
	case "children", "kid", "kids":
		w = "child"
	case "people", "persons":
		w = "person"
	case "men":
		w = "man"
	case "women":
		w = "woman"
	}
	return stem(stem(w)) // "lockers", "locker"
}

type offerPatterns struct{ part, price, special, reduced, longer, least, whom *regexp.Regexp }

var offering = sync.OnceValue(func() offerPatterns {
	const number = `\d+(?:\.\d+)?`
	return offerPatterns{
		part: regexp.MustCompile(`[;,] (?:and |but )?| and | but |: `),
		price: regexp.MustCompile(`(?i)(?:[$€£] ?(` + number + `)|\b(` + number + `|[a-z]+(?:[- ][a-z]+)?) ` +
			`(dollars?|euros?|pounds?|francs?|bucks?|cents?|pence)|\b(free))\b(?: (?:an?|per|each|every|for each) ` +
			`([a-z]+)| each| apiece)?`),
		// What makes one price another one: whoever comes in a group, with a card, on a
		// Monday, for the second time.
		special: regexp.MustCompile(`(?i)\b(?:half|discounts?|reduction|percent|off|family|families|groups?|deposit|` +
			`package|combined|from|at least|more than|over|first|second|third|further|additional|extra|minimum|until|` +
			`before|after|on|with|without|if|when|plus|instead|up ` +
			`to|or|only|per|each|every|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays?|evenings?|` +
			`mornings?|afternoons?|members?|summer|winter)\b|%`),
		whom: regexp.MustCompile(`(?i)\b(?:for|of)\b`),
		// What may make several together cheaper than each alone.
		reduced: regexp.MustCompile(`(?i)\b(?:half|famil(?:y|ies)|groups?|combined|combo|packages?|bundles?|` +
			`discounts?|reductions?|reduced|percent|cheaper|off|second|third|every ` +
			`(?:other|second|third|fourth|fifth|sixth|tenth|\d+(?:th|rd|nd))|extra)\b|%`),
		longer: regexp.MustCompile(`(?i)\b(?:maximum|most|longer|daily|weekly|first|second|third|then|minimum|least|` +
			`further|additional|weeks?|weekends?|half|hours?,? .*days?|days?,? .*hours?)\b`),
		least: regexp.MustCompile(`(?i)\bgroups? (?:of|over|from|above|of more than)(?: at least)? (\d+|[a-z]+)\b`),
	}
})

// offersIn are those of a line.
func offersIn(at int, l line) []offer {
	p := offering()
	var out []offer
	lead := ""
	for _, part := range p.part.Split(l.text, -1) {
		found := p.price.FindAllStringSubmatchIndex(part, -1)
		if len(found) == 0 {
			if o, ok := elliptic(part, out); ok {
				out = append(out, o)
				lead = ""
				continue
			}
			lead += part + " " // "For children under 16, a helmet is"
			continue
		}
		m := found[0]
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return strings.ToLower(part[m[2*i]:m[2*i+1]])
		}
		o := offer{line: at, certain: len(found) == 1, per: thing(group(5))}
		if number := group(1) + group(2); number != "" {
			n := text.Numbers(number)
			if len(n) != 1 {
				o.certain = false
			} else if o.value = n[0].Value; in(group(3), "cent cents pence") {
				o.value /= 100
			}
		}
		whole := lead + part
		rest := lead + part[:m[0]] + " " + part[m[1]:]
		if rules := ageRules(line{text: whole}); len(rules) == 1 {
			o.rule = &rules[0]
			rest = strings.Replace(rest, rules[0].phrase, " ", 1)
			if rest == lead+part[:m[0]]+" "+part[m[1]:] {
				o.certain = false
			}
		} else if len(rules) > 1 {
			o.certain = false
		}
		o.certain = o.certain && len(text.Numbers(rest)) == 0 && !offering().special.MatchString(rest) && !negated(rest)
		o.things, o.whom = things(rest), map[string]bool{}
		if where := p.whom.FindStringIndex(rest); where != nil {
			for s := range things(rest[where[1]:]) {
				if people()[s] {
					o.whom[s] = true
				}
			}
		}
		if o.per != "" && !times()[o.per] && o.per != thing("person") {
			o.things[o.per] = true
		}
		out = append(out, o)
		lead = ""
	}
	return out
}

func negated(s string) bool {
	return slices.ContainsFunc(split(s), func(w string) bool { return in(w, negative) })
}

var bare = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^((?:an?|the) [a-z' -]+?|[a-z' -]+?)(?: pays?| costs?| is)? (\d+(?:\.\d+)?)[.]?$`)
})

// elliptic is the offer of a clause that leaves the currency to the one before it:
// "an adult pays 7 dollars, a child 4".
func elliptic(part string, before []offer) (offer, bool) {
	m := bare().FindStringSubmatch(part)
	if m == nil || len(before) == 0 || !before[len(before)-1].certain || len(ageRules(line{text: part})) > 0 ||
		offering().special.MatchString(part) || len(things(m[1])) == 0 {
		return offer{}, false
	}
	n, err := strconv.ParseFloat(m[2], 64)
	last := before[len(before)-1]
	return offer{
		line:    last.line,
		things:  things(m[1]),
		whom:    map[string]bool{},
		value:   n,
		per:     last.per,
		certain: err == nil,
	}, err == nil
}

// things are the stems of a text's nouns, and of what else it has beside grammar.
func things(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range split(s) {
		if len(w) > 1 && !in(w, empty) && !isNumber(w) {
			out[thing(w)] = true
		}
	}
	return out
}
