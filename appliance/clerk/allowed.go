package clerk

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"parley/appliance/text"
)

type permissionPatterns struct{ asked, strict, granted, condition *regexp.Regexp }

var permissions = sync.OnceValue(func() permissionPatterns {
	return permissionPatterns{
		// The clause of a question that asks whether somebody may.
		asked: regexp.MustCompile(`(?i)(?:^|[.,;?!] |\b(?:and|so|but|then) )((?:may|can|could) ` +
			`[^.,;?!]+|(?:am|is|are) [^.,;?!]+ (?:allowed|permitted) [^.,;?!]+)[?.!]*$`),
		// Only these may, and nobody else; that others may is not said of "children
		// from 6 to 12 may climb", but likely no.
		strict: regexp.MustCompile(`(?i)\b(?:(?:must|have to|has to|needs? to) be|minimum age|maximum ` +
			`age|only|(?:is|are) (?:only )?for|(?:or|and) (?:over|above|older|up))\b`),
		granted: regexp.MustCompile(`(?i)\b(?:may|can|allowed|welcome|permitted)\b`),
		condition: regexp.MustCompile(`(?i)\b(?:unless|if|when|with|without|alone|accompanied|accompanying|` +
			`supervised|supervision|parents?|guardians?|consent|permission|except|together|own)\b`),
	}
})

// permitting are stems that a rule of who may do something has beside what it is
// about, and a question too.
var permitting = sync.OnceValue(func() map[string]bool {
	return stems("rent rental rented hire hired hiring ride riding drive driving use used using go enter entering " +
		"swim visit join play watch see attend come climb giving given " +
		"must may can allowed permitted welcome only least minimum maximum over above older under below younger " +
		"including guests visitors passengers riders customers pupils persons drivers patients members everybody " +
		"day night hour week cost costs dollar dollars euro euros pound pounds cent cents")
})

// allowed answers whether somebody of an age may do something, where one rule for
// ages is about just that: "I'm seventeen, may I rent an e-bike?" where people of 18
// or over may. That nothing stands against it is no yes: there may be other reasons.
func (d *Desk) allowed(asked string) Leaning {
	p := permissions()
	all := text.Sentences(strings.ReplaceAll(asked, "’", "'"))
	if len(d.rules) == 0 || len(all) == 0 {
		return Open
	}
	m := p.asked.FindStringSubmatch(all[len(all)-1])
	old := agesIn(asked)
	if m == nil || len(old) == 0 || p.condition.MatchString(m[1]) ||
		slices.ContainsFunc(split(m[1]), func(w string) bool {
			return in(w, negative+" free half discount pay cheaper too")
		}) {
		return Open
	}
	about := map[string]bool{}
	for s := range stems(m[1]) {
		if !people()[s] {
			about[s] = true
		}
	}
	out := Open
	for _, r := range d.rules {
		leaning, near := d.permits(r, about, old)
		switch {
		case !near:
		case leaning == Open || out != Open && out != leaning:
			return Open // one of several rules, or one with a condition
		default:
			out = leaning
		}
	}
	return out
}

// permits is what one rule says of somebody's ages; near: whether it is about what
// is asked.
func (d *Desk) permits(r ageRule, about map[string]bool, old []float64) (leaning Leaning, near bool) {
	p, things := permissions(), 0
	if turnsAway(r) && len(old) == 1 && r.holds(old[0]) {
		return Refused, true
	}
	for s := range about {
		if !permitting()[s] {
			things++
		}
		if !r.line.stems[s] && !permitting()[s] {
			return Open, false
		}
	}
	common := shared(r.line.stems, about)
	if common == 0 || things == 0 && common < len(about) {
		return Open, false
	}
	more := 0
	for s := range r.line.stems {
		if !about[s] && !permitting()[s] && !people()[s] {
			more++ // "electric bikes", where bikes are asked for
		}
	}
	refuses := slices.ContainsFunc(split(r.line.text), func(w string) bool { return w != "only" && in(w, negative) })
	strict := p.strict.MatchString(r.line.text)
	within := 0
	for _, n := range old {
		if r.holds(n) {
			within++
		}
	}
	switch {
	case !refuses && !strict && !p.granted.MatchString(r.line.text):
		return Open, false // it says what somebody pays, or must wear
	case more > 0 || isPriced(r.line.text) || p.condition.MatchString(r.line.text) || len(ageRules(r.line)) != 1 ||
		within > 0 && within < len(old):
		return Open, true
	case refuses && within > 0:
		return No, true
	case refuses || within > 0:
		return Granted, true
	case strict:
		return No, true
	}
	return Refused, true
}

// served are stems of what a place does with all who come.
var served = sync.OnceValue(func() map[string]bool {
	return stems("treat treated admit admitted accept accepted serve served see seen receive received take taken let")
})

// turnsAway reports whether a rule sends people of some age away, whatever they come
// for: "Children under 12 are not treated here."
func turnsAway(r ageRule) bool {
	words := split(r.line.text)
	if !slices.ContainsFunc(words, func(w string) bool {
		return w != "only" && in(w, negative)
	}) || permissions().condition.MatchString(r.line.text) || isPriced(r.line.text) || len(ageRules(r.line)) != 1 {
		return false
	}
	is := false
	for s := range r.line.stems {
		is = is || served()[s]
		if !served()[s] && !people()[s] && !permitting()[s] {
			return false
		}
	}
	return is
}
