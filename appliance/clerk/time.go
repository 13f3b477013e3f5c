package clerk

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

var written = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(\d{1,2}):(\d\d)\b`) })

// mostNotes is how many times of day are noted behind a question: each is five or six
// tokens to be read after the user's last word.
const mostNotes = 2

// Note is what somebody notes behind a question with a time of day in it that the
// facts write in another way: theirs. "When does the boat at a quarter to six
// leave?" has "17:45". Empty: there is nothing to note.
func (d *Desk) Note(asked string) string {
	if d == nil || len(d.clock) == 0 || len(asked) > longest {
		return ""
	}
	var notes []string
	for _, at := range d.asksFor(asked, "") {
		for _, form := range d.clock[at] {
			if !strings.Contains(asked, form) && !slices.Contains(notes, form) {
				notes = append(notes, form)
			}
		}
	}
	if len(notes) > mostNotes {
		return ""
	}
	return strings.Join(notes, ", ")
}

// clockIn are the times of day that a text writes with a colon, by their minutes.
func clockIn(told string) map[int][]string {
	out := map[int][]string{}
	for _, m := range written().FindAllStringSubmatch(told, -1) {
		hour, _ := oneNumber(m[1])
		minute, _ := oneNumber(m[2])
		if at := int(hour)*60 + int(minute); !slices.Contains(out[at], m[0]) {
			out[at] = append(out[at], m[0])
		}
	}
	return out
}
