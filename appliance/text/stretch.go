package text

import (
	"strings"
	"unicode"
)

// A Stretch is a part of a text that is said in one go: a sentence, or a part of
// a long one.
type Stretch struct {
	From, To int // bytes of the text
	// GoesOn says that its sentence does not end with it, and Paragraph that a
	// paragraph does.
	GoesOn, Paragraph bool
}

// Stretches cuts a whole text where Sentences does. Together they are the text
// as it is written, but for the space between them: what is only for the eye
// belongs to the one before. A text with nothing to say has none.
func Stretches(s string) []Stretch {
	var c Cutter
	var all []Stretch
	take := func(end int) {
		from := c.of[0].from
		if said := c.take(end); said.s != "" {
			all = append(all, Stretch{From: from})
		}
	}
	for i, r := range s {
		if !c.add(r, origin{from: i}) {
			continue
		}
		for end := c.next(); end > 0; end = c.next() {
			take(end)
		}
	}
	if len(c.buf) > 0 {
		take(len(c.buf))
	}
	if len(all) > 0 {
		all[0].From = len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	}
	for i := range all {
		end := len(s)
		if i+1 < len(all) {
			end = all[i+1].From
		}
		all[i].endAt(s, end)
	}
	return all
}

// endAt ends a stretch before the one that begins at end, and says how.
func (t *Stretch) endAt(s string, end int) {
	written := strings.TrimRightFunc(s[t.From:end], unicode.IsSpace)
	t.To = t.From + len(written)
	gap := s[t.To:end]
	t.Paragraph = strings.Count(gap, "\n") > 1 || strings.ContainsRune(gap, '\u2029')
	last := strings.TrimRightFunc(written, func(r rune) bool {
		return !terminates(r) && (closes(r) ||
			!unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(",;:-–—", r))
	})
	ended := last == "" || strings.ContainsAny(gap, "\n\r\u2028\u2029")
	for _, r := range last[max(len(last)-len("…"), 0):] {
		ended = ended || terminates(r)
	}
	t.GoesOn = !ended && end < len(s)
}
