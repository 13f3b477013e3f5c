package text

import (
	"strings"
	"unicode"
)

// Segment is a part of a text that is synthesised in one go: a sentence, or a part of a long
// one.
type Segment struct {
	From, To int // bytes of the text
	// GoesOn reports that its sentence continues after it, and Paragraph that it ends a
	// paragraph.
	GoesOn, Paragraph bool
}

// Segments cuts a whole text at the ends of Sentences. Together the segments are the written
// text, except for the space between them; mark-up belongs to the segment before it. A text
// without anything to say has none.
func Segments(s string) []Segment {
	var c Cutter
	var all []Segment
	take := func(end int) {
		from := c.of[0].from
		if said := c.take(end); said.s != "" {
			all = append(all, Segment{From: from})
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

// endAt ends a segment before the one that begins at end, and sets GoesOn and Paragraph.
func (st *Segment) endAt(s string, end int) {
	written := strings.TrimRightFunc(s[st.From:end], unicode.IsSpace)
	st.To = st.From + len(written)
	gap := s[st.To:end]
	st.Paragraph = strings.Count(gap, "\n") > 1 || strings.ContainsRune(gap, '\u2029')
	last := strings.TrimRightFunc(written, func(r rune) bool {
		return !terminates(r) && (closes(r) ||
			!unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(",;:-–—", r))
	})
	ended := last == "" || strings.ContainsAny(gap, "\n\r\u2028\u2029")
	for _, r := range last[max(len(last)-len("…"), 0):] {
		ended = ended || terminates(r)
	}
	st.GoesOn = !ended && end < len(s)
}
