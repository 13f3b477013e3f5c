package text

import (
	"regexp"
	"unicode"
)

// Haste says where a sentence may be cut when there is no time for all
// of it.
type Haste int

// How hasty: at a clause ("I'm sorry,", "Sure,"); at a phrase of
// four words or more ("The museum is open | from ten"), where a speaker who
// thinks as he talks would draw breath; or behind any word after four that does
// not hold the next one ("The conference is now | being recorded").
const (
	AtClause Haste = iota
	AtPhrase
	AtWord
)

const (
	// minPhrase is how many words a phrase has that is spoken by itself: shorter
	// ones sound like an interrupted speaker.
	minPhrase = 4
	// minStopped is how many small letters stand before a full stop that ends a
	// sentence whatever follows: shorter words may be abbreviated.
	minStopped = 3
)

// phraseBeginners are words before which English speakers pause.
var phraseBeginners = regexp.MustCompile(`(?i)^(?:about|after|and|as|at|because|before|but|by|during|for|from|if|in|into|near|on|or|since|so|that|through|to|under|until|when|where|which|while|who|with|without)$`)

// phraseHolders are words after which nobody pauses: what they belong to is
// still to come.
var phraseHolders = regexp.MustCompile(`(?i)^(?:a|an|are|be|been|can|could|did|do|does|had|has|have|her|his|is|its|may|might|must|my|no|not|our|shall|should|the|their|this|these|those|very|was|were|will|would|your)$`)

// wordHolders are words, beside phraseHolders and phraseBeginners, behind which
// a sentence is not cut even in the greatest haste: a noun, a verb or a number
// follows. Numbers themselves wait for their unit.
var wordHolders = regexp.MustCompile(`(?i)^(?:am|i|he|she|it|we|you|they|i'm|it's|you're|we're|they're|there's|that's|of|than|too|more|most|please|every|each|any|some|` +
	`mr\.?|mrs\.?|ms\.?|dr\.?|number|room|floor|platform|gate|exit|line|level|` +
	`one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|half|quarter|.*\d.*)$`)

// starOpen reports whether a star that may begin a stage direction or an emphasis has
// none behind it yet.
func starOpen(buf []rune) bool {
	open := false
	for i, r := range buf {
		if r == '*' {
			open = !open && (i+1 == len(buf) || unicode.IsLetter(buf[i+1]))
		}
	}
	return open
}

// Early returns the beginning of the sentence under way, as far as it can be
// spoken by itself, for a voice that cannot wait for more; empty when there is
// no such place yet. What does not end with a clause has so many words at least,
// and a clause as many as inClause says. The rest follows as the
// next sentence, unless the sentence ended with it: a full stop is sure to be one
// only by what follows it, which a slow model needs a tenth of a second for. It is
// not cut within a stage direction, which is told by all of it.
func (c *Cutter) Early(h Haste, inClause, least int) (begin string, ended bool) {
	within := func(at int) bool { return c.Stars != nil && starOpen(c.buf[:at]) }
	if within(len(c.buf)) {
		return "", false
	}
	if stopsHere(c.buf) {
		begin = c.take(len(c.buf)).s
		c.ended = true
		return begin, true
	}
	for i := len(c.buf) - 1; i > 0; i-- {
		if clauseEndsSoon(c.buf, i) && words(c.buf[:i+1]) >= inClause && !within(i+1) {
			return c.take(i + 1).s, false
		}
	}
	at := 0
	switch least = max(least, minPhrase); h {
	case AtPhrase:
		at = phraseEnd(c.buf, least)
	case AtWord:
		at = wordEnd(c.buf, least)
	}
	if at == 0 || within(at) {
		return "", false
	}
	return c.take(at).s, false
}

// stopsHere reports whether buf ends with a stop that ends a sentence in all
// likelihood: behind a word of small letters that is no abbreviation.
func stopsHere(buf []rune) bool {
	at := len(buf) - 1
	if at < minStopped || !terminates(buf[at]) || terminates(buf[at-1]) {
		return false
	}
	for _, r := range buf[at-minStopped : at] {
		if !unicode.IsLower(r) {
			return false
		}
	}
	return kindOfStop(buf, at, at+1) == plainStop && !dotted(lastWord(string(buf)))
}

// dotted reports whether a word has a full stop inside, or begins as an address
// does: then more of it may follow.
func dotted(word string) bool { return address.MatchString(word) }

var address = regexp.MustCompile(`(?i)^(?:https?:|www\.)|[.@/].*\pL`)

// clauseEndsSoon is clauseEnds also for a comma that nothing follows yet, if a
// letter stands before it.
func clauseEndsSoon(buf []rune, i int) bool {
	if i == len(buf)-1 {
		return buf[i] == ',' && unicode.IsLetter(buf[i-1])
	}
	return clauseEnds(buf, i)
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

// wordEnd returns where the last word ends behind which a sentence may be cut, 0
// if too few words stand before that.
func wordEnd(buf []rune, least int) int {
	for i := len(buf) - 1; i > 0; i-- {
		if buf[i] != ' ' || words(buf[:i]) < least {
			continue
		}
		last := lastWord(string(buf[:i]))
		if !phraseHolders.MatchString(last) && !phraseBeginners.MatchString(last) && !wordHolders.MatchString(last) {
			return i
		}
	}
	return 0
}
