package text

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
)

const (
	// minPhrase is how many words a phrase has that is spoken by itself.
	minPhrase = 4
	// minStopped is how many small letters stand before a full stop that ends a
	// sentence whatever follows: shorter words may be abbreviated.
	minStopped = 3
)

// listed reports whether a word is in a list of the language, which may have none.
func (c *Cutter) listed(list, word string) bool {
	code, _, _ := strings.Cut(cmp.Or(c.Language, "en"), "-")
	return listed("early", strings.ToLower(code)+" "+list).has(strings.ToLower(bare(word)))
}

// Early returns the beginning of the sentence under way, as far as it can be said by
// itself, for a voice that cannot wait for more; empty when there is no such place yet.
// It ends at a mark ("I'm sorry,") behind inClause words or more, or before a conjunction
// or preposition behind inPhrase, and four, or more ("The museum is open | from ten"); 0
// is never. No name, number, quotation, bracket or stage direction is cut in two. The rest
// follows as the next sentence, unless the sentence ended with it: a full stop is sure to
// be one only by what follows, which a slow model needs a tenth of a second for.
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

// cutPoint is where Early cuts: behind the last clause, else before the last phrase; 0: nowhere.
func (c *Cutter) cutPoint(inClause, inPhrase int) (phrase int) {
	for i := len(c.buf) - 1; i > 0; i-- {
		mark := clauseEnds(c.buf, i)
		if !mark && (phrase > 0 || !unicode.IsSpace(c.buf[i])) || enclosed(c.buf[:i]) {
			continue
		}
		before, rest := strings.Fields(string(c.buf[:i])), string(c.buf[i+1:])
		whole := strings.LastIndexFunc(rest, unicode.IsSpace) + 1 // the last word may go on
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

// begins reports whether a phrase begins with a word that belongs to none before, nor to a name.
func (c *Cutter) begins(before, word string) bool {
	return c.listed("before", word) && !isName(word) && !c.listed("before", before) && !c.listed("behind", before)
}

// joined reports whether a name or a number may go on over a place: "Vienna, |
// Austria", "10 km | to 12 km", "Gone | with the Wind"; also while that cannot be said,
// since what follows, in a phrase its first word, is not known.
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

// isNumber reports whether a word has a digit, or is a number or a part of one.
func (c *Cutter) isNumber(word string) bool {
	last := word[strings.LastIndexByte(word, '-')+1:]
	return strings.ContainsFunc(word, unicode.IsDigit) || c.listed("number", word) || c.listed("number", last)
}

// isName reports whether a word within a sentence may be part of a name.
func isName(word string) bool {
	word = strings.ReplaceAll(bare(word), "’", "'")
	return strings.IndexFunc(word, unicode.IsUpper) == 0 && word != "I" && !strings.HasPrefix(word, "I'")
}

// bare is a word without what stands around it.
func bare(word string) string {
	return strings.TrimFunc(word, func(r rune) bool { return !IsWordRune(r) })
}

// enclosed reports whether a quotation, a bracket, or a star is open at the end of buf.
func enclosed(buf []rune) bool {
	depth, quoted, single, starred := 0, false, false, false
	for i, r := range buf {
		switch apart := i == 0 || unicode.IsSpace(buf[i-1]); {
		case r == '"':
			quoted = !quoted
		case strings.ContainsRune("'‘’", r) && (apart || i+1 == len(buf) || !unicode.IsLetter(buf[i+1])):
			single = apart // an apostrophe has letters around it
		case r == '*': // that begins a stage direction or an emphasis, or ends it
			starred = !starred && (i+1 == len(buf) || unicode.IsLetter(buf[i+1]))
		case strings.ContainsRune("([{«“„「『（【《〈", r):
			depth++
		case strings.ContainsRune(")]}»”」』）】》〉", r):
			depth = max(depth-1, 0)
		}
	}
	return depth > 0 || quoted || single || starred
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
	return kindOfStop(buf, at, at+1) == plainStop && !address.MatchString(lastWord(string(buf)))
}

// address is a word of which more may follow: it has a full stop inside, or begins so.
var address = regexp.MustCompile(`(?i)^(?:https?:|www\.)|[.@/].*\pL`)
