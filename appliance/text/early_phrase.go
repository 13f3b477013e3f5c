package text

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
)

const (
	// minPhrase is the least number of words of a phrase that is spoken on its own.
	minPhrase = 4
	// minStopped is how many lower-case letters must precede a full stop that ends a sentence
	// whatever follows: shorter words may be abbreviations.
	minStopped = 3
)

// listed reports whether a word is in a list of the language, which may lack the list.
func (c *Cutter) listed(list, word string) bool {
	code, _, _ := strings.Cut(cmp.Or(c.Language, "en"), "-")
	return listed("early", strings.ToLower(code)+" "+list).has(strings.ToLower(bare(word)))
}

// Early returns the beginning of the unfinished sentence, as far as it can be spoken on its
// own, for a voice that cannot wait for more; empty if there is none yet. The beginning ends at
// a punctuation mark ("I'm sorry,") after inClause words or more, or before a conjunction or
// preposition after inPhrase, and at least four, words ("The museum is open | from ten"); 0
// disables either. Names, numbers, quotations, brackets and stage directions are never divided.
// The rest follows as the next sentence, unless ended reports that the sentence ended with it:
// what follows a full stop confirms it, and a slow model needs a tenth of a second for that.
func (c *Cutter) Early(inClause, inPhrase int) (begin string, ended bool) {
	if enclosed(c.buf) {
		return "", false
	}
	at := len(c.buf)
	if ended = stopsHere(c.buf); !ended {
		at = c.cutPoint(inClause, inPhrase)
	}
	if at > 0 {
		c.ended, begin = ended, c.take(at).s
	}
	return begin, ended
}

// cutPoint returns where Early cuts: after the last clause, else before the last phrase; 0:
// nowhere.
func (c *Cutter) cutPoint(inClause, inPhrase int) (phrase int) {
	for i := len(c.buf) - 1; i > 0; i-- {
		mark := clauseEnds(c.buf, i)
		if !mark && (phrase > 0 || !unicode.IsSpace(c.buf[i])) || enclosed(c.buf[:i]) {
			continue
		}
		before, rest := strings.Fields(string(c.buf[:i])), string(c.buf[i+1:])
		whole := strings.LastIndexFunc(rest, unicode.IsSpace) + 1 // the last word may be incomplete
		after, coming := strings.Fields(rest[:whole]), rest[whole:]
		switch n := len(before); {
		case mark && inClause > 0 && n >= inClause && !c.joined(before, after, coming, false):
			return i + 1
		case !mark && inPhrase > 0 && n >= max(inPhrase, minPhrase) && len(after) > 0 &&
			c.begins(before[n-1], after[0]) && !c.joined(before, after[1:], coming, true):
			phrase = i
		}
	}
	return phrase
}

// begins reports whether a phrase begins with word: a conjunction or preposition that belongs
// neither to the word before nor to a name.
func (c *Cutter) begins(before, word string) bool {
	return c.listed("before", word) && !isName(word) && !c.listed("before", before) && !c.listed("behind", before)
}

// joined reports whether a name or number may continue across a position: "Vienna, | Austria",
// "10 km | to 12 km", "Gone | with the Wind". It is also true while this is unknown, because
// the text that follows, or the first word of a phrase, is missing.
func (c *Cutter) joined(before, after []string, coming string, phrase bool) bool {
	n := len(before)
	number := c.isNumber(before[n-1]) || n > 1 && c.isNumber(before[n-2]) && !isName(before[n-2])
	for phrase && len(after) > 0 && c.listed("behind", after[0]) { // an article
		after = after[1:]
	}
	switch alone := n == 1 && c.listed("alone", before[0]); {
	case alone, !number && !isName(before[n-1]):
		return false
	case len(after) == 0:
		return phrase || number || strings.IndexFunc(coming, unicode.IsLower) != 0
	}
	return isName(after[0]) || c.isNumber(after[0])
}

// isNumber reports whether a word has a digit, or is a number word or part of one.
func (c *Cutter) isNumber(word string) bool {
	last := word[strings.LastIndexByte(word, '-')+1:]
	return strings.ContainsFunc(word, unicode.IsDigit) || c.listed("number", word) || c.listed("number", last)
}

// isName reports whether a word within a sentence may be part of a name.
func isName(word string) bool {
	word = strings.ReplaceAll(bare(word), "’", "'")
	return strings.IndexFunc(word, unicode.IsUpper) == 0 && word != "I" && !strings.HasPrefix(word, "I'")
}

// bare returns a word without surrounding signs.
func bare(word string) string {
	return strings.TrimFunc(word, func(r rune) bool { return !IsWordRune(r) })
}

// enclosed reports whether a quotation, a bracket or a star is open at the end of buf.
func enclosed(buf []rune) bool {
	depth, quoted, single, starred := 0, false, false, false
	for i, r := range buf {
		switch apart := i == 0 || unicode.IsSpace(buf[i-1]); {
		case r == '"':
			quoted = !quoted
		case strings.ContainsRune("'‘’", r) && (apart || i+1 == len(buf) || !unicode.IsLetter(buf[i+1])):
			single = apart // an apostrophe has letters around it
		case r == '*': // begins or ends a stage direction or emphasis
			starred = !starred && (i+1 == len(buf) || unicode.IsLetter(buf[i+1]))
		case strings.ContainsRune("([{«“„「『（【《〈", r):
			depth++
		case strings.ContainsRune(")]}»”」』）】》〉", r):
			depth = max(depth-1, 0)
		}
	}
	return depth > 0 || quoted || single || starred
}

// stopsHere reports whether buf ends with a stop that very probably ends a sentence: after a
// lower-case word that is not an abbreviation.
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
	return kindOfStop(buf, at, at+1) == plainStop && !address.MatchString(lastWord(string(buf)))
}

// address matches a word that may continue: it has a full stop within, or begins like an
// address.
var address = regexp.MustCompile(`(?i)^(?:https?:|www\.)|[.@/].*\pL`)
