package clerk

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// wish is one thing that a question names, and how many of it.
type wish struct {
	count  float64
	words  []string
	age    float64 // of whom it is for; negative: not told
	things map[string]bool
}

const (
	// framing are the words around what is asked for in a question for a price.
	framing = "what what's how much do does would will is are it its the this that all come comes to cost costs pay " +
		"pays price total sum in together altogether both be we we're i i'd i'm us me you your for my our " +
		"charge have if need want like rent hire buy get take book order please so then hello hi and plus with can " +
		"tell by there"
	// units of time are how long something is wanted.
	units = "hour hours day days night nights week weeks month months minute minutes"
)

// wishes are what a question names, each with its count, and for how long; false
// where it has a word that is neither that nor a question for a price.
func wishes(asked string) (all []wish, long float64, unit string, ok bool) {
	asked = strings.ToLower(strings.ReplaceAll(asked, "’", "'"))
	asked = ages().old.ReplaceAllStringFunc(asked, func(s string) string {
		return "child of " + ages().old.FindStringSubmatch(s)[1]
	})
	long = 1
	var now *wish
	var doing []string // "to print thirty pages"
	end := func() {
		if now != nil {
			all = append(all, *now)
		}
		now = nil
	}
	for clause := range strings.FieldsFuncSeq(asked, func(r rune) bool { return strings.ContainsRune(",.;:?!", r) }) {
		words := split(clause)
		for i := 0; i < len(words); i++ {
			w := words[i]
			n, number := 1.0, w == "a" || w == "an"
			if !number && isNumber(w) {
				n, number = oneNumber(w)
				number = number && n >= 1 && n == math.Trunc(n) && n <= mostCount
				if !number {
					return nil, 0, "", false
				}
			}
			next := ""
			if i+1 < len(words) {
				next = words[i+1]
			}
			switch {
			case number && in(next, units):
				if unit != "" || i > 0 && !in(words[i-1], "for") {
					return nil, 0, "", false
				}
				end()
				long, unit = n, thing(next)
				i++
			case now != nil && w == "of" && isNumber(next) && len(now.words) > 0:
				if now.age, ok = oneNumber(next); !ok {
					return nil, 0, "", false
				}
				i++
				end()
			case number:
				end()
				now = &wish{count: n, age: -1}
			case now != nil && !in(w, framing):
				now.words = append(now.words, w)
			case in(w, framing):
				end()
			case i > 0 && words[i-1] == "to" && len(all) == 0 && len(doing) == 0:
				doing = append(doing, w)
			default:
				return nil, 0, "", false
			}
		}
		end()
	}
	for i := range all {
		all[i].things = map[string]bool{}
		for _, w := range all[i].words {
			if in(w, empty) {
				return nil, 0, "", false // "two of us", "three more"
			}
			all[i].things[thing(w)] = true
		}
		if len(all[i].words) == 0 {
			return nil, 0, "", false
		}
		for _, w := range doing {
			all[i].things[thing(w)] = true
		}
		for s := range neutral() { // "adult tickets" are adults
			if len(all[i].things) > 1 {
				delete(all[i].things, s)
			}
		}
	}
	return all, long, unit, len(all) > 0
}

// bill is what follows of a question for a sum without a model.
type bill struct {
	terms, total string
	value        float64
	missing      bool // a part of what is asked for is not in the facts
}

// reckon makes the bill of a question where each of its parts has one price and no
// other word of it says anything; false: it is not sure.
func (d *Desk) reckon(asked string) (bill, bool) {
	all, long, unit, ok := wishes(asked)
	if !ok || len(all) > mostWishes {
		return bill{}, false
	}
	var b bill
	var terms []string
	pers := map[string]bool{}
	count, missing, sure := 0.0, 0, true
	for _, w := range all {
		count += w.count
	}
	for _, w := range all {
		o, found := d.offerOf(w, unit)
		switch {
		case d.strange(w):
			missing++
			continue
		case !found || unit != "" && o.per != unit && o.value != 0, d.reduced(w, count, unit),
			unit != "" && long > 1 && d.longer(o):
			sure = false
			continue
		}
		times, term := w.count, ""
		if w.count != 1 {
			term = plain(w.count) + " times "
		}
		if o.value != 0 && long != 1 {
			times *= long
			term += plain(long) + " times "
		}
		terms = append(terms, term+d.priced(o.value))
		b.value += times * o.value
		pers[o.per] = true
	}
	switch {
	case missing > 0 && sure && len(terms) > 0:
		return bill{missing: true}, true
	case missing > 0 || !sure || len(terms) == 1 && long == 1 && all[0].count == 1:
		return bill{}, false
	}
	b.terms = strings.Join(terms, " plus ") + thatIs
	b.total = " " + d.money.say(b.value)
	if unit == "" {
		timed := slices.DeleteFunc(slices.Sorted(maps.Keys(pers)), func(p string) bool { return !times()[p] })
		switch {
		case len(timed) > 1:
			return bill{}, false // one by the day and one by the hour
		case len(timed) == 1 && len(pers) == 1:
			b.total += unitSaid[timed[0]]
		}
	}
	b.total += "."
	return b, true
}

// reduced reports whether the facts may have another price for a thing where several
// are asked for together: a family's, a group's, a second one's.
func (d *Desk) reduced(w wish, count float64, unit string) bool {
	p := offering()
	persons := false
	for s := range w.things {
		persons = persons || people()[s]
	}
	for _, l := range d.lines {
		for _, part := range p.part.Split(l.text, -1) {
			found := strings.ToLower(p.reduced.FindString(part))
			if found == "" {
				continue
			}
			if m := p.least.FindStringSubmatch(part); m != nil {
				if n, ok := oneNumber(m[1]); ok && count < n {
					continue
				}
			}
			about := things(part)
			first, _, _ := strings.Cut(found, " ")
			only := !in(first, "half second third every extra") // it is for all who come
			for s := range about {
				only = only && (people()[s] || neutral()[s] || d.subject[s] || p.reduced.MatchString(s) ||
					in(s, "get group famili discount reduction"))
			}
			if shared(about, w.things) > 0 || unit != "" && about[unit] || only ||
				persons && in(found, "family families group groups") {
				return true
			}
		}
	}
	return false
}

// longer reports whether the line of an offer has another price for a longer time.
func (d *Desk) longer(o offer) bool { return offering().longer.MatchString(d.lines[o.line].text) }

// mostWishes is how many things one spoken question names.
const mostWishes = 6

var unitSaid = map[string]string{stem("hour"): " an hour", stem("day"): " a day", stem("night"): " a night",
	stem("week"): " a week", stem("month"): " a month", stem("minute"): " a minute"}

func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// priced is a price as the terms of a sum have it.
func (d *Desk) priced(value float64) string {
	for _, p := range d.money.prices {
		if p.value == value {
			return p.said
		}
	}
	return plain(value)
}

// strange reports whether the facts have no word for a thing, nor for what is near
// to it.
func (d *Desk) strange(w wish) bool {
	if len(w.words) == 0 || w.age >= 0 {
		return false
	}
	if all := " " + strings.Join(split(d.all), " ") + " "; general().MatchString(all) {
		return false
	}
	return !slices.ContainsFunc(w.words, func(word string) bool {
		s := stem(word)
		return people()[s] || people()[word] || d.tells(s) || d.tells(thing(word)) || in(word, timely) || d.kinTold(s)
	})
}

// kinTold reports whether the facts have a word near to one.
func (d *Desk) kinTold(s string) bool {
	return slices.ContainsFunc(kin()[s], func(k string) bool { return d.tells(stem(k)) })
}

// general finds a price of whatever it may be.
var general = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(` (?:everything|anything|(?:all|any|each|every|other|per) (?:other ` +
		`)?(?:items?|things?|pieces?|articles?|garments?|products?|others?)) `)
})

// offerOf is the one price of a thing.
func (d *Desk) offerOf(w wish, unit string) (offer, bool) {
	var exact, other []offer
	for _, o := range d.offers {
		// "under 14 is free"
		ofAge := o.rule != nil && w.age >= 0 && len(o.things) == 0 && covers(people(), stemsOf(w.words))
		if !covers(o.things, w.things) && !ofAge {
			continue
		}
		if w.age >= 0 && o.rule != nil && !o.rule.holds(w.age) {
			continue
		}
		same := true
		for s := range o.things {
			same = same && (w.things[s] || neutral()[s] || d.subject[s] || times()[o.per] && lent()[s])
		}
		switch {
		case same && (unit == "" || o.per == unit || o.value == 0):
			exact = append(exact, o)
		case same:
		default:
			other = append(other, o)
		}
	}
	// A rule for the age goes before the price of all, and that before a rule for who
	// knows whom.
	wanted := func(o offer) bool { return (o.rule != nil) == (w.age >= 0) }
	if slices.ContainsFunc(exact, wanted) {
		exact = slices.DeleteFunc(exact, func(o offer) bool { return !wanted(o) })
	}
	if w.age >= 0 && len(exact) > 0 && d.elsewhere(w.age, exact[0].line) {
		return offer{}, false
	}
	if len(exact) == 0 && w.age < 0 && len(other) == 1 && !timed(other[0]) && covers(w.things, other[0].whom) &&
		d.mentions(w.things) == 1 {
		exact = other // "a seat", where there are no seats but a child's
	}
	if len(exact) == 0 {
		return offer{}, false
	}
	for _, o := range exact {
		if d.otherTime(o) || !o.certain || o.value != exact[0].value || o.per != exact[0].per {
			return offer{}, false
		}
	}
	if o := exact[0]; o.per != "" && !times()[o.per] && !w.things[o.per] && o.per != thing("person") {
		return offer{}, false // "a dollar a page", where sheets are counted
	}
	return exact[0], true
}

// lent are stems of having something for a time: what is paid by the day is rented.
var lent = sync.OnceValue(func() map[string]bool {
	return stemmed("rent renting rented rental hire hiring hired lend lending lent borrow borrowing use using")
})

func stemsOf(words []string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		out[stem(w)] = true
	}
	return out
}

// elsewhere reports whether another line has a rule of prices for an age, whatever
// is paid for.
func (d *Desk) elsewhere(age float64, at int) bool {
	return slices.ContainsFunc(d.rules, func(r ageRule) bool {
		if !r.holds(age) || r.line.text == d.lines[at].text || !isPriced(r.line.text) {
			return false
		}
		for s := range things(r.line.text) {
			if !people()[s] && !neutral()[s] && !d.subject[s] {
				return false
			}
		}
		return true
	})
}

// timed reports whether what an offer is for has a time in its name ("an adult in
// the week").
func timed(o offer) bool { return shared(o.things, times()) > 0 }

// otherTime reports whether the line of an offer has a price by another time, too.
func (d *Desk) otherTime(o offer) bool {
	return slices.ContainsFunc(d.offers, func(p offer) bool {
		return p.line == o.line && times()[p.per] && p.per != o.per && covers(o.things, p.things)
	})
}

// covers reports whether all stems of few are among many.
func covers(many, few map[string]bool) bool {
	for s := range few {
		if !many[s] {
			return false
		}
	}
	return true
}

// mentions is how many lines of the facts have all of these stems.
func (d *Desk) mentions(wanted map[string]bool) int {
	n := 0
	for _, l := range d.lines {
		if covers(things(l.text), wanted) {
			n++
		}
	}
	return n
}
