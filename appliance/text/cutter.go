// Package text prepares written language for speech. It cuts a stream of text into sentences as
// they are completed, removes mark-up, and writes out numbers, dates and abbreviations as
// words.
package text

import "unicode"

// maxSentence is the length in runes at which a sentence without an end is cut anyway: about 20
// s of speech, as much as a listener follows in one breath and a synthesizer should make before
// the first sound is heard.
const maxSentence = 250

// Cutter cuts text that arrives in pieces into sentences. How the text is divided into pieces
// does not affect the sentences. The zero value is ready to use, by one goroutine.
type Cutter struct {
	// Stars returns the positions of the stars in a sentence, or a part of one, that are not
	// emphasis and stay. It is called once for each sentence, in order; nil: none stay.
	Stars func(sentence string) []int
	// Language is the BCP 47 tag of the text, for Early; empty: English.
	Language string
	// GoesOn reports that the newest sentence was cut for its length and continues.
	GoesOn bool

	buf     []rune
	of      []origin // one for each rune of buf
	scanned int      // nothing before buf[scanned] ends the sentence
	ended   bool     // the last sentence was cut at its stop: closing signs after it are dropped
}

// Push adds a piece and returns the sentences that it completes, without Markdown, emoji and
// surrounding space. Each piece is valid UTF-8.
func (c *Cutter) Push(piece string) []string {
	var sentences []string
	for _, r := range piece {
		if !c.add(r, origin{}) {
			continue
		}
		for _, s := range c.complete() {
			sentences = append(sentences, s.s)
		}
	}
	return sentences
}

// complete removes and returns the complete sentences.
func (c *Cutter) complete() []traced {
	var all []traced
	for at := c.next(); at > 0; at = c.next() {
		if s := c.take(at); s.s != "" {
			all = append(all, s)
		}
	}
	return all
}

// Rest returns the remaining text after the last piece, possibly empty, and resets the Cutter.
func (c *Cutter) Rest() string {
	c.ended = false
	return c.take(len(c.buf)).s
}

// Sentences cuts a whole text into sentences.
func Sentences(s string) []string {
	var all []string
	for _, t := range sentences(trace(s)) {
		all = append(all, t.s)
	}
	return all
}

// add appends r and reports whether it did. White space becomes one space, one newline, or two
// newlines for a paragraph, so that the buffer stays small.
func (c *Cutter) add(r rune, o origin) bool {
	n := len(c.buf)
	if c.ended && (terminates(r) || closes(r)) {
		return false
	}
	c.ended = false
	switch {
	case !unicode.IsSpace(r):
		c.append(r, o)
	case n == 0 || r == '\r':
		return false
	case r == '\n' || r == '\u2028' || r == '\u2029':
		if c.buf[n-1] == ' ' {
			c.buf[n-1] = '\n'
			// The space may have been scanned already; the newline is judged anew.
			c.scanned = min(c.scanned, n-1)
		} else if c.buf[n-1] != '\n' || n < 2 || c.buf[n-2] != '\n' {
			c.append('\n', o)
		} else {
			return false
		}
	case c.buf[n-1] == ' ' || c.buf[n-1] == '\n':
		return false
	default:
		c.append(' ', o)
	}
	return true
}

func (c *Cutter) append(r rune, o origin) {
	c.buf, c.of = append(c.buf, r), append(c.of, o)
}

// take removes and returns buf[:at] as a sentence.
func (c *Cutter) take(at int) traced {
	var w tracer
	for i, r := range c.buf[:at] {
		w.put(string(r), c.of[i])
	}
	for at < len(c.buf) && unicode.IsSpace(c.buf[at]) {
		at++
	}
	c.buf = c.buf[:copy(c.buf, c.buf[at:])]
	c.of = c.of[:copy(c.of, c.of[at:])]
	c.scanned = 0
	return plain(w.text(), c.Stars)
}

// next returns the end of the sentence at the head of the buffer, 0 while it is unknown.
func (c *Cutter) next() int {
	for c.scanned < len(c.buf) {
		v := judge(c.buf, c.scanned)
		if v.unsure {
			break
		}
		if v.end {
			c.GoesOn = false
			return v.at
		}
		c.scanned = v.at
	}
	if len(c.buf) >= maxSentence {
		c.GoesOn = true
		return longCut(c.buf)
	}
	return 0
}

// longCut returns the last good position to cut a sentence that is too long: the end of a
// clause in its last two thirds, else a space, else its end.
func longCut(buf []rune) int {
	for i := len(buf) - 2; i > len(buf)/3; i-- {
		if clauseEnds(buf, i) {
			return i + 1
		}
	}
	for i := len(buf) - 1; i > 0; i-- {
		if unicode.IsSpace(buf[i]) {
			return i
		}
	}
	return len(buf)
}

// clauseEnds reports whether a clause may end with buf[i]. At the end of buf, only a comma
// after a letter may end one.
func clauseEnds(buf []rune, i int) bool {
	if i+1 == len(buf) {
		return buf[i] == ',' && i > 0 && unicode.IsLetter(buf[i-1])
	}
	switch buf[i] {
	case ',', ';', ':', '–':
		return unicode.IsSpace(buf[i+1])
	case '—', '，', '、', '；', '：':
		return true
	case '-':
		return unicode.IsSpace(buf[i+1]) && i > 0 && unicode.IsSpace(buf[i-1])
	}
	return false
}
