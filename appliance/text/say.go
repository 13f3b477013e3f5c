package text

import (
	"strings"
	"unicode"
)

// Options say how a text is read aloud.
type Options struct {
	// Language is the BCP 47 tag of what the voice speaks. Of English ("en" and
	// what begins with "en-") all is written out; other languages are rid of what
	// nobody says, and their numbers are left to espeak-ng but for what it reads sign by sign
	// (language.go).
	Language string
	// Locale is the BCP 47 tag of where the text was written; empty: Language.
	Locale string
	// Lexicon says how words are pronounced; nil: none.
	Lexicon Lexicon
}

// Speakable reports whether a text has anything that is said: a letter, or a digit, or
// a sign that is read as a word.
func Speakable(s string, o Options) bool {
	has := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	}
	return has(s) || has(Verbalize(s, Options{Language: "en", Locale: o.Locale, Lexicon: o.Lexicon}))
}

// Spoken is a stretch of what is said: one word, or several that are said for
// one another's letters.
type Spoken struct {
	// Text is what is said, with the punctuation and the space behind it. Joined,
	// the texts of all stretches are the whole that is said.
	Text string
	// Phonemes are how it is said where a lexicon gives phonemes: IPA, with
	// stresses, for the letters and digits of Text. They are for the synthesizer as
	// they are, in place of what it would make of Text.
	Phonemes string
	// From and To are the bytes of the written text that it is said for: s[From:To].
	// They never overlap and never go back; where a long number is cut in two, the
	// second part may be said for none.
	From, To int
}

// Say writes s as it is said, stretch by stretch. What is not said (mark-up,
// emoji, control characters) is in no stretch. The stretches of a text without
// anything to say are none.
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

// SaySentences is Say, cut into what is said in one breath: sentences, and
// parts of sentences that are longer than a synthesizer should be given at once.
func SaySentences(s string, o Options) [][]Spoken {
	var all [][]Spoken
	at := 0
	for _, written := range sentences(trace(s)) {
		for _, said := range sentences(o.verbalize(written)) {
			stretches := said.stretches()
			if len(stretches) == 0 {
				continue
			}
			// What was cut within a stretch is said for what is left of it.
			first := &stretches[0]
			first.From = max(first.From, at)
			first.To = max(first.To, first.From)
			at = stretches[len(stretches)-1].To
			all = append(all, stretches)
		}
	}
	return all
}

// Verbalize writes s as it is said, as one text.
func Verbalize(s string, o Options) string { return o.verbalize(trace(s)).s }

// sentences cuts a text into sentences, without what is for the eye only.
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

// stretches cuts a text between its words, where it knows for which letters
// each is said.
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

// wordEnd is where the word that begins at i ends, with the space behind it. A
// word that a lexicon has is one by itself, also where a hyphen joins it to
// others.
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

// stretch is t as one, false if there is nothing in it but punctuation.
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

// sayable reports whether r is more than punctuation or space.
func sayable(r rune) bool { return !unicode.IsPunct(r) && !unicode.IsSpace(r) }
