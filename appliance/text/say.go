package text

import (
	"strings"
	"unicode"
)

// Options are how a text is pronounced.
type Options struct {
	// Language is the BCP 47 tag of the voice's language. English ("en" and tags that begin
	// with "en-") is written out completely. Of other languages mark-up is removed, and their
	// numbers are left to eSpeak NG, except for those that it would read sign by sign
	// (language.go).
	Language string
	// Locale is the BCP 47 tag of where the text was written; empty: Language.
	Locale string
	// Lexicon has the pronunciation of words; nil: none.
	Lexicon Lexicon
}

// Speakable reports whether a text has anything to say: a letter, a digit, or a sign that is
// spoken as a word.
func Speakable(s string, o Options) bool {
	hasLetterOrDigit := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	}
	return hasLetterOrDigit(s) ||
		hasLetterOrDigit(Verbalize(s, Options{Language: "en", Locale: o.Locale, Lexicon: o.Lexicon}))
}

// Spoken is a unit of spoken text: one word, or several words that stand for the same letters
// of the written text.
type Spoken struct {
	// Text is the spoken text with the punctuation and space after it. The joined texts of all
	// units are the whole spoken text.
	Text string
	// Phonemes are the pronunciation where a lexicon gives one: IPA with stresses, for the
	// letters and digits of Text. The synthesizer uses them in place of its own.
	Phonemes string
	// From and To delimit the bytes of the written text that the unit stands for: s[From:To].
	// They never overlap and never go backwards; if a long number is cut in two, the second
	// part may stand for none.
	From, To int
}

// Say returns s as it is spoken, in units. What is not spoken (mark-up, emoji, control
// characters) is in no unit. A text without anything to say has no units.
func Say(s string, o Options) []Spoken {
	var all []Spoken
	for _, sentence := range SaySentences(s, o) {
		if n := len(all); n > 0 {
			all[n-1].Text += " "
		}
		all = append(all, sentence...)
	}
	return all
}

// SaySentences is Say, cut into sentences, and into parts of sentences that are too long for a
// synthesizer to be given at once.
func SaySentences(s string, o Options) [][]Spoken {
	var all [][]Spoken
	at := 0
	for _, written := range sentences(trace(s)) {
		for _, said := range sentences(o.verbalize(written)) {
			stretches := said.stretches()
			if len(stretches) == 0 {
				continue
			}
			// A part cut within a unit stands for the rest of the unit.
			first := &stretches[0]
			first.From = max(first.From, at)
			first.To = max(first.To, first.From)
			at = stretches[len(stretches)-1].To
			all = append(all, stretches)
		}
	}
	return all
}

// Verbalize returns s as it is spoken, as one text.
func Verbalize(s string, o Options) string { return o.verbalize(trace(s)).s }

// sentences cuts a text into sentences, without mark-up.
func sentences(t traced) []traced {
	var c Cutter
	var all []traced
	t = withoutTags(t)
	for i, r := range t.s {
		if c.add(r, t.of[i]) {
			all = append(all, c.complete()...)
		}
	}
	if rest := c.take(len(c.buf)); rest.s != "" {
		all = append(all, rest)
	}
	return all
}

// stretches cuts a text between words, where the origin of each word is known.
func (t traced) stretches() []Spoken {
	var all []Spoken
	lead := "" // punctuation before the first word
	for i := 0; i < len(t.s); {
		word := t.slice(i, t.wordEnd(i))
		i += len(word.s)
		next, ok := word.stretch()
		n := len(all)
		switch {
		case !ok && n == 0:
			lead += word.s
		case !ok:
			all[n-1].Text += word.s
		case n > 0 && next.From < all[n-1].To:
			all[n-1].Text += next.Text
			all[n-1].To = max(all[n-1].To, next.To)
		default:
			next.Text = lead + next.Text
			lead = ""
			all = append(all, next)
		}
	}
	if all == nil && lead != "" {
		o := t.origin(0, len(t.s))
		all = []Spoken{{Text: lead, From: o.from, To: o.to}}
	}
	return all
}

// wordEnd returns the end of the word that begins at i, with the space after it. A word of a
// lexicon is a word of its own, even where a hyphen joins it to others.
func (t traced) wordEnd(i int) int {
	by, known := (*pronunciation)(nil), false
	for j, r := range t.s[i:] {
		if alnum(r) {
			if known && by != t.of[i+j].by {
				return i + j
			}
			by, known = t.of[i+j].by, true
		}
		if r == ' ' {
			return i + j + 1
		}
	}
	return len(t.s)
}

// stretch returns t as one unit, or false if it is only punctuation.
func (t traced) stretch() (Spoken, bool) {
	begin := strings.IndexFunc(t.s, sayable)
	if begin < 0 {
		return Spoken{}, false
	}
	end := len(strings.TrimRightFunc(t.s, func(r rune) bool { return !sayable(r) }))
	o := t.origin(begin, end)
	said := Spoken{Text: t.s, From: o.from, To: o.to}
	for i, r := range t.s {
		if by := t.of[i].by; alnum(r) && by != nil {
			said.Phonemes = by.phonemes
			break
		}
	}
	return said, o.from < o.to
}

// sayable reports whether r is neither punctuation nor space.
func sayable(r rune) bool { return !unicode.IsPunct(r) && !unicode.IsSpace(r) }
