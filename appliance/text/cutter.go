// Package text makes written language fit to be spoken: it cuts a stream of
// text into sentences as they are completed, takes away what is only for the
// eye, and writes out numbers, dates and abbreviations as words.
package text

import (
	"regexp"
	"strings"
	"unicode"
)

// maxSentence is the length in runes at which a sentence without an end is cut
// anyway: about 20 s of speech, as much as a listener follows in one breath
// and a synthesizer should make before the first sound is heard.
const maxSentence = 250

// A Cutter cuts text that arrives in pieces into sentences. Where the pieces
// are cut makes no difference to the sentences. The zero value is ready; it is
// used by one goroutine.
type Cutter struct {
	buf     []rune
	scanned int // nothing before buf[scanned] ends the sentence
}

// Push adds a piece and returns the sentences that it completes, without
// Markdown, emoji and surrounding space. Pieces are valid UTF-8 each.
func (c *Cutter) Push(piece string) []string {
	var sentences []string
	for _, r := range piece {
		if !c.add(r) {
			continue
		}
		for at := c.next(); at > 0; at = c.next() {
			if s := c.take(at); s != "" {
				sentences = append(sentences, s)
			}
		}
	}
	return sentences
}

// Rest returns what is left when no more pieces follow, empty when nothing
// is, and makes the Cutter as new.
func (c *Cutter) Rest() string {
	return c.take(len(c.buf))
}

// Haste says where a sentence may be cut when there is no time for all
// of it.
type Haste int

// How hasty: at a clause ("I'm sorry,", "Sure,"), or at a phrase of
// four words or more ("The museum is open | from ten"), where a speaker who
// thinks as he talks would draw breath.
const (
	AtClause Haste = iota
	AtPhrase
)

// minPhrase is how many words a phrase has that is spoken by itself: shorter
// ones sound like an interrupted speaker.
const minPhrase = 4

// phraseBeginners are words before which English speakers pause.
var phraseBeginners = regexp.MustCompile(`(?i)^(?:about|after|and|as|at|because|before|but|by|during|for|from|if|in|into|near|on|or|since|so|that|through|to|under|until|when|where|which|while|who|with|without)$`)

// phraseHolders are words after which nobody pauses: what they belong to is
// still to come.
var phraseHolders = regexp.MustCompile(`(?i)^(?:a|an|are|be|been|can|could|did|do|does|had|has|have|her|his|is|its|may|might|must|my|no|not|our|shall|should|the|their|this|these|those|very|was|were|will|would|your)$`)

// Early returns the beginning of the sentence under way, as far as it can be
// spoken by itself, for a voice that cannot wait for the end, if that has so many
// words at least; empty when there is no such place yet. The rest follows as the
// next sentence.
func (c *Cutter) Early(h Haste, least int) string {
	for i := len(c.buf) - 2; i > 0; i-- {
		if clauseEnds(c.buf, i) && words(c.buf[:i+1]) >= least {
			return c.take(i + 1)
		}
	}
	if h < AtPhrase {
		return ""
	}
	if at := phraseEnd(c.buf, max(least, minPhrase)); at > 0 {
		return c.take(at)
	}
	return ""
}

// phraseEnd returns where the last phrase begins whose first word is complete,
// 0 if too few words stand before it, or it belongs to the one before.
func phraseEnd(buf []rune, least int) int {
	end := len(buf) // of the word that is looked at, exclusive
	for i := len(buf) - 1; i > 0; i-- {
		if buf[i] != ' ' {
			continue
		}
		if end < len(buf) && phraseBeginners.MatchString(string(buf[i+1:end])) && words(buf[:i]) >= least && !phraseHolders.MatchString(lastWord(string(buf[:i]))) {
			return i
		}
		end = i
	}
	return 0
}

// Sentences cuts a whole text.
func Sentences(s string) []string {
	var c Cutter
	sentences := c.Push(s)
	if rest := c.Rest(); rest != "" {
		sentences = append(sentences, rest)
	}
	return sentences
}

// add appends r and says whether it did. White space is made one space, one
// newline or two (a paragraph), so that the buffer stays small.
func (c *Cutter) add(r rune) bool {
	n := len(c.buf)
	switch {
	case !unicode.IsSpace(r):
		c.buf = append(c.buf, r)
	case n == 0 || r == '\r':
		return false
	case r == '\n' || r == '\u2028' || r == '\u2029':
		if c.buf[n-1] == ' ' {
			c.buf[n-1] = '\n'
			// The space may have been passed already; the newline decides anew.
			c.scanned = min(c.scanned, n-1)
		} else if c.buf[n-1] != '\n' || n < 2 || c.buf[n-2] != '\n' {
			c.buf = append(c.buf, '\n')
		} else {
			return false
		}
	case c.buf[n-1] == ' ' || c.buf[n-1] == '\n':
		return false
	default:
		c.buf = append(c.buf, ' ')
	}
	return true
}

// take returns buf[:at] as a sentence and keeps the rest.
func (c *Cutter) take(at int) string {
	s := plain(string(c.buf[:at]))
	rest := c.buf[at:]
	for len(rest) > 0 && unicode.IsSpace(rest[0]) {
		rest = rest[1:]
	}
	c.buf = c.buf[:copy(c.buf, rest)]
	c.scanned = 0
	return s
}

// next returns where the sentence at the head of the buffer ends, 0 while that
// cannot be said.
func (c *Cutter) next() int {
	for c.scanned < len(c.buf) {
		v := judge(c.buf, c.scanned)
		if v.unsure {
			break
		}
		if v.end {
			return v.at
		}
		c.scanned = v.at
	}
	if len(c.buf) >= maxSentence {
		return longCut(c.buf)
	}
	return 0
}

// longCut finds the last good place to cut a sentence that has become too
// long: a clause in its later two thirds, else a space, else its end.
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

// clauseEnds reports whether a clause may end with buf[i].
func clauseEnds(buf []rune, i int) bool {
	if i+1 >= len(buf) {
		return false
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

// words counts the words of s.
func words(s []rune) int { return len(strings.Fields(string(s))) }
