package clerk

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"parley/appliance/text"
)

// hours are when something is open, or that it is not.
type hours struct {
	about    map[string]bool
	days     uint8 // Monday is 1; everyDay: of all days, or of none in particular
	from, to int   // minutes of the day; unknown: not told
	closed   bool
	vague    bool // only sometimes: on the first Monday of the month, in summer
}

const (
	everyDay = 1<<7 - 1
	unknown  = -1
)

type timePatterns struct{ time, span, until, since, clause *regexp.Regexp }

const timeWords = `(?:(half past|(?:a )?quarter past|(?:a )?quarter to) )?` +
	`(\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight)(?:[:.](\d\d))?` +
	`(?: ?(am|pm|a\.m\.|p\.m\.|o'clock))?(?: in the (morning|afternoon|evening)| at (night))?`

var clocks = sync.OnceValue(func() timePatterns {
	return timePatterns{
		time: regexp.MustCompile(`(?i)\b((?:at|by|around|about|until|till) )?` + timeWords + `(?:[^a-z0-9]|$)`),
		span: regexp.MustCompile(`(?i)\b(?:from |between )?` + timeWords + ` (?:to|and|until|till) ` + timeWords +
			`(?:[^a-z0-9]|$)`),
		until: regexp.MustCompile(`(?i)\b(?:until|till|closes? (?:already )?at) ` + timeWords + `(?:[^a-z0-9]|$)`),
		since: regexp.MustCompile(`(?i)\b(?:from|opens? (?:only )?at|after) ` + timeWords + `(?:[^a-z0-9]|$)`),
		clause: regexp.MustCompile(`(?i)(?:(?:;|,? (?:and|but)) (?:it |they )?(?:is |are )?(?:closed |open )?(?:on ` +
			`|at )|,? (?:and|but) (?:otherwise )?open from |, on |[,;]? \(?(?:closed|except) (?:on |for )?` + aDay +
			`|, (?:on )?` + aDay + ` (?:we are |it is )?closed)`),
	}
})

const aDay = `(?:mon|tues|wednes|thurs|fri|satur|sun)days?`

// minutes is a time of day; sure is false where it may be one of the morning or
// of the afternoon. part: of the day, which is said elsewhere.
func minutes(m []string, part string) (at int, sure bool) {
	before, hour, minute, mark := strings.ToLower(m[1]), strings.ToLower(m[2]), m[3], strings.ToLower(m[4])
	if m[5]+m[6] != "" {
		part = strings.ToLower(m[5] + m[6])
	}
	switch hour {
	case "noon":
		return 12 * 60, true
	case "midnight":
		return 24 * 60, true
	}
	n, ok := oneNumber(hour)
	if !ok || n > 24 {
		return unknown, false
	}
	at = int(n) * 60
	if minute != "" {
		more, _ := oneNumber(minute)
		at += int(more)
	}
	switch {
	case strings.HasSuffix(before, "quarter to"):
		at -= 15
	case strings.HasPrefix(before, "half"):
		at += 30
	case before != "":
		at += 15
	}
	switch {
	case strings.HasPrefix(mark, "p"), in(part, "afternoon evening night"):
		if at < 12*60 {
			at += 12 * 60
		}
		return at, true
	case strings.HasPrefix(mark, "a"), part == "morning":
		return at % (12 * 60), true
	}
	return at, at >= 13*60 || strings.HasPrefix(hour, "0")
}

// hoursIn are those that a sentence tells: its clauses may be of other days. "It"
// and "we" are whose desk it is.
func hoursIn(sentence string, subject map[string]bool) []hours {
	var out []hours
	rest, opens := sentence, false
	about := subject
	for rest != "" {
		clause := rest
		if at := clocks().clause.FindStringIndex(rest); at != nil && at[0] > 0 {
			clause, rest = rest[:at[0]], strings.TrimLeft(rest[at[0]:], ";, (")
		} else {
			rest = ""
		}
		words := split(clause)
		opens = opens || slices.ContainsFunc(words, func(w string) bool { return in(w, "open opens close closes") })
		h, ok := hoursOf(clause, words, opens)
		if len(h.about) > 0 {
			about = h.about
		}
		if ok {
			h.about = about
			out = append(out, h)
		}
	}
	return out
}

// hoursOf are those of a clause; false where it tells none. opens: its sentence
// speaks of opening.
func hoursOf(clause string, words []string, opens bool) (h hours, ok bool) {
	p := clocks()
	h = hours{
		days:  daysIn(words),
		from:  unknown,
		to:    unknown,
		about: map[string]bool{},
	}
	if h.days == 0 {
		h.days = everyDay
	}
	except := len(words) > 0 && words[0] == "except" && h.days != everyDay
	h.closed = except
	for i, w := range words {
		h.vague = h.vague || in(w, sometimes) && (!except || i > 0)
		h.closed = h.closed || w == "closed"
		if !in(w, timely+" "+empty+" open opens opened closed close closes stay stays only") && dayOf(w) < 0 &&
			!isNumber(w) {
			h.about[stem(w)] = true
		}
	}
	if at := p.span.FindStringIndex(clause); at != nil { // "from 7 to 10, until 11 at weekends"
		rest := clause[at[1]:]
		h.vague = h.vague || p.span.MatchString(rest) || p.until.MatchString(rest) || p.since.MatchString(rest)
	}
	if m := p.span.FindStringSubmatch(clause); m != nil {
		from, sureFrom := minutes(m[:7], "")
		to, sureTo := minutes(m[6:], "")
		if from == unknown || to == unknown {
			return h, false
		}
		if !sureTo && to <= from {
			to += 12 * 60
		}
		if !sureFrom && !sureTo && from < 6*60 && to <= 7*60 { // "from one to five"
			from, to = from+12*60, to+12*60
		}
		h.vague = h.vague || h.closed && h.days != everyDay // which of both is of the day?
		h.from, h.to, h.closed = from, to, false
		timed := sureFrom || sureTo || m[3]+m[4]+m[5]+m[6]+m[9]+m[10]+m[11]+m[12] != ""
		return h, from < to && (opens || timed)
	}
	if m := p.until.FindStringSubmatch(clause); m != nil && opens {
		if at, sure := minutes(m, ""); at != unknown {
			if !sure && at < 12*60 {
				at += 12 * 60
			}
			h.to, h.closed = at, false
			return h, true
		}
	}
	if m := p.since.FindStringSubmatch(clause); m != nil && opens {
		if at, _ := minutes(m, ""); at != unknown {
			h.from, h.closed = at, false
			return h, true
		}
	}
	return h, (h.closed || h.vague && opens) && h.days != everyDay
}

// sometimes are words for days that no weekday tells.
const sometimes = "first second third fourth last month year season summer winter spring autumn holiday holidays " +
	"public except christmas easter eve " +
	"january february march april june july august september october november december today tomorrow tonight yesterday"

// daysIn are the days of the week that words name; 0: none.
func daysIn(words []string) uint8 {
	var out uint8
	last, spanning := -1, false
	for _, w := range words {
		switch w {
		case "weekday", "weekdays":
			out |= 0b0011111
		case "weekend", "weekends":
			out |= 0b1100000
		case "to", "through", "till", "until":
			spanning = last >= 0
			continue
		}
		day := dayOf(w)
		if day >= 0 && spanning {
			for d := last; d != day; d = (d + 1) % 7 {
				out |= 1 << d
			}
		}
		if day >= 0 {
			out |= 1 << day
		}
		last, spanning = day, false
	}
	return out
}

// dayOf is which day of the week a word names, Monday 0; -1: none.
func dayOf(w string) int {
	w = strings.TrimSuffix(w, "s")
	if !in(w, days) {
		return -1
	}
	for i, d := range strings.Fields(days) {
		if d == w {
			return i
		}
	}
	return -1
}

// asksOpening are words of a question that asks whether one may come.
const asksOpening = "open opened closed come visit"

// isOpen answers whether something is open on a day or at an hour.
func (d *Desk) isOpen(asked string) Leaning {
	if len(d.hours) == 0 || !yesOrNo(asked) {
		return Open
	}
	all := text.Sentences(asked)
	sentence := all[len(all)-1]
	words := split(sentence)
	opening, shut, part := false, false, ""
	about := map[string]bool{}
	for _, w := range words {
		opening = opening || in(w, asksOpening)
		if in(w, "close closes closing shut shuts "+sometimes) {
			return Open // it asks when, or for what is so then
		}
		shut = shut || w == "closed"
		if in(w, "morning afternoon evening night") {
			part = w
		}
		if !in(w, timely+" "+empty+" "+asksOpening+" still already") && dayOf(w) < 0 && !isNumber(w) {
			about[stem(w)] = true
		}
	}
	day := daysIn(words)
	at := d.asksFor(sentence, part)
	if day == 0 && len(at) == 0 {
		return Open
	}
	leaning := d.openFor(about, day, at, part)
	switch {
	case leaning == Yes && (!opening || in("come", strings.Join(words, " ")) || in("visit", strings.Join(words, " "))):
		return Open // it is open; whether the rest is so is another question
	case shut && leaning == Yes:
		return No
	case shut && leaning == No:
		return Yes
	}
	return leaning
}

// asksFor are the times that a question may mean, in minutes.
func (d *Desk) asksFor(sentence, part string) []int {
	for _, m := range clocks().time.FindAllStringSubmatch(sentence, -1) {
		at, sure := minutes(m[1:], part)
		switch {
		case at == unknown || m[1]+m[4]+m[5]+m[6]+m[7] == "": // a number of something else
		case sure || at >= 12*60:
			return []int{at}
		default:
			return []int{at, at + 12*60}
		}
	}
	return nil
}

// at says whether it is open at all of these times; with none, on the day, or in
// that part of it.
func (h hours) at(times []int, part string) Leaning {
	if h.closed {
		return No
	}
	span := [2]int{-1, -1}
	switch part {
	case "morning":
		span = [2]int{8 * 60, 12 * 60}
	case "afternoon":
		span = [2]int{13 * 60, 17 * 60}
	case "evening", "night":
		span = [2]int{18*60 + 30, 22 * 60}
	}
	if len(times) == 0 {
		switch {
		case span[0] < 0:
			return Yes
		case h.to != unknown && h.to <= span[0] || h.from != unknown && h.from >= span[1]:
			return No
		case h.from != unknown && h.to != unknown && h.from <= span[0]+120 && h.to >= span[1]-120:
			return Yes
		}
		return Open
	}
	in, out := 0, 0
	for _, t := range times {
		switch {
		case h.from != unknown && t < h.from, h.to != unknown && t >= h.to:
			out++
		case h.from != unknown && h.to != unknown:
			in++
		}
	}
	switch len(times) {
	case in:
		return Yes
	case out:
		return No
	}
	return Open
}

// openFor says whether what a question is about is open on these days (0: on any)
// at these times.
func (d *Desk) openFor(about map[string]bool, day uint8, times []int, part string) Leaning {
	if len(about) == 0 {
		about = d.subject
	}
	var usual, special []hours
	for _, h := range d.hours {
		switch {
		case shared(h.about, about) == 0:
		case h.vague && (h.days&day != 0 || h.days == everyDay):
			return Open
		case h.days == everyDay:
			usual = append(usual, h)
		case day != 0 && h.days&day != 0 && h.days&day != day:
			return Open // the one day and not the other
		case h.days&day == day: // also those of any day, where none is asked for
			special = append(special, h)
		}
	}
	if len(usual) > 1 || len(usual)+len(special) == 0 {
		return Open // of several one does not know which is meant
	}
	var all []Leaning
	for _, h := range special {
		if h.closed && day == 0 {
			continue
		}
		if len(usual) == 1 {
			h = h.within(usual[0])
		}
		all = append(all, h.at(times, part))
	}
	if len(usual) == 1 && (day == 0 || len(special) == 0) {
		all = append(all, usual[0].at(times, part))
	}
	if len(all) == 0 || slices.ContainsFunc(all, func(l Leaning) bool { return l != all[0] }) {
		return Open
	}
	return all[0]
}

// within are hours whose begin or end, where it is not told, is the usual one.
func (h hours) within(usual hours) hours {
	if h.from == unknown {
		h.from = usual.from
	}
	if h.to == unknown {
		h.to = usual.to
	}
	return h
}
