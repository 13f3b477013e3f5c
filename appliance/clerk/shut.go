package clerk

import (
	"regexp"
	"strings"
	"sync"
)

// shutOn finds a sentence that gives a day off as the reason: "we are closed on
// Thursdays".
var shutOn = sync.OnceValue(func() *regexp.Regexp {
	const who = `(?:we|it|the [a-z ]+)`
	return regexp.MustCompile(`(?i)^(?:no, )?(?:(?:` + who + ` (?:is|are)|we're|it's) closed (?:on )?(` + aDay +
		`)|on (` + aDay + `),? (?:` + who + ` (?:is|are)|we're|it's) closed)\W*$`)
})

// Shuts reports whether a sentence says that it is closed on a day on which the facts
// have it open: so small models explain that it is not open at an hour.
func (d *Desk) Shuts(sentence string) bool {
	if d == nil {
		return false
	}
	m := shutOn().FindStringSubmatch(strings.ReplaceAll(strings.TrimSpace(sentence), "’", "'"))
	return m != nil && d.isOpen("Are you open on "+strings.TrimSuffix(m[1]+m[2], "s")+"?") == Yes
}
