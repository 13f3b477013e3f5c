package clerk

import (
	"regexp"
	"strings"
	"sync"
)

// Opening hours as they are written on doors: "Mon-Fri 9-5, Sat 10:00–14:00, closed
// Sun". A sentence of them is read with its words in full.

type shortPatterns struct{ heading, open, closed, day *regexp.Regexp }

var shorts = sync.OnceValue(func() shortPatterns {
	const (
		day = `(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|mon|mo|tues|tue|tu|weds|` +
			`wed|we|thurs|thur|thu|th|fri|fr|sat|sa|sun|su)\b`
		days = `\b(` + day + `(?:(?: ?[-–—/&,+] ?| (?:to|and|through|thru) )` + day + `)*):?`
		time = `(\d{1,2}(?:[:.]\d\d)?(?: ?(?:am\b|pm\b|a\.m\.|p\.m\.|h\b))?|noon|midnight)`
		then = `(?:[,;] ?| and )?`
	)
	return shortPatterns{
		heading: regexp.MustCompile(`(?i)\b(?:our |the )?(?:opening |business |office )?(?:hours|times)(?: are)?:? ?`),
		open: regexp.MustCompile(`(?i)` + then + ` ?(?:(?:we are |we're )?open )?(?:on )?` + days + ` (?:from )?` +
			time + ` ?(?:[-–—]|to|till|until) ?` + time),
		closed: regexp.MustCompile(`(?i)` + then + ` ?(?:(?:we are |we're )?closed (?:on )?` + days + `|` + days +
			` closed)`),
		day: regexp.MustCompile(`(?i)` + day),
	}
})

// dayNamed is the day that a short form begins like.
func dayNamed(short string) string {
	for _, d := range strings.Fields(days) {
		if strings.HasPrefix(d, strings.ToLower(short[:2])) {
			return d
		}
	}
	return short
}

// inFull is a sentence with the hours of days written out; without such it is as it
// was.
func inFull(sentence string) string {
	p := shorts()
	if !p.open.MatchString(sentence) {
		return sentence
	}
	named := func(s string) string {
		s = p.day.ReplaceAllStringFunc(s, dayNamed)
		return strings.TrimSpace(strings.NewReplacer("–", " to ", "—", " to ", "-", " to ", "through", "to", "thru",
			"to", "/", " and ", "&", " and ", "+", " and ", ",", " and ").Replace(s))
	}
	s := p.open.ReplaceAllStringFunc(sentence, func(m string) string {
		f := p.open.FindStringSubmatch(m)
		clock := func(t string) string { return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(t), "h")) }
		return "; open on " + named(f[1]) + " from " + clock(f[2]) + " to " + clock(f[3])
	})
	s = p.closed.ReplaceAllStringFunc(s, func(m string) string {
		f := p.closed.FindStringSubmatch(m)
		return "; closed on " + named(f[1]+f[2])
	})
	return strings.TrimLeft(p.heading.ReplaceAllString(s, ""), "-*• ;")
}
