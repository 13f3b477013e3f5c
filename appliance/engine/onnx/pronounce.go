package onnx

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// A sentence is what is said at once, in phonemes, and the words of the writing
// that they are of.
type sentence struct {
	ipa    string
	words  []engine.Word // without their times
	wordOf []int         // the word of each byte of ipa that is a phoneme's; noWord for others
}

const noWord = -1

// A reader turns writing into the phonemes of one language.
type pronouncer struct {
	ph      phonemizer
	voice   string                  // eSpeak NG's
	tag     string                  // BCP 47
	rewrite func(ipa string) string // writes phonemes as the voice's model knows them
	words   wordCache               // words that were said alone
	scripts scripts                 // that it can read
}

// sentences are those of a text that is given to be spoken. Writing that the
// language cannot say is an engine.ErrCannotSay.
func (r *pronouncer) sentences(ctx context.Context, s string, o engine.SpeakOptions) ([]sentence, error) {
	all := text.SaySentences(s, text.Options{Language: r.tag, Locale: o.Locale, Lexicon: o.Lexicon})
	if err := r.scripts.check(s, all, r.tag); err != nil {
		return nil, err
	}
	var out []sentence
	for _, stretches := range all {
		one, err := r.pronounce(ctx, s, stretches)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// canSay returns the error with which sentences would refuse a text for its
// writing.
func (r *pronouncer) canSay(s string, o engine.SpeakOptions) error {
	if !strings.ContainsFunc(s, r.scripts.unreadable) {
		return nil
	}
	all := text.SaySentences(s, text.Options{Language: r.tag, Locale: o.Locale, Lexicon: o.Lexicon})
	return r.scripts.check(s, all, r.tag)
}

// pronounce turns the stretches of a sentence of s into phonemes: what a lexicon has
// phonemes for is said by them, and what stands between is read by eSpeak NG, as
// much as there is at once.
func (r *pronouncer) pronounce(ctx context.Context, s string, stretches []text.Spoken) (sentence, error) {
	if slices.ContainsFunc(stretches, func(part text.Spoken) bool { return part.Phonemes != "" }) {
		if whole, ok, err := r.inContext(ctx, s, stretches); ok || err != nil {
			return whole, err
		}
	}
	var out sentence
	var run []spokenWord // of what eSpeak NG is to read
	var said strings.Builder
	flush := func() error {
		if said.Len() == 0 {
			return nil
		}
		ipa, of, err := r.phonemes(ctx, said.String(), run)
		said.Reset()
		run = nil
		out.add(ipa, of)
		return err
	}
	for _, part := range stretches {
		if part.From < part.To {
			out.words = append(out.words, engine.Word{Text: s[part.From:part.To], From: part.From, To: part.To})
		}
		word := len(out.words) - 1 // what is said for no letters belongs to the word before
		if part.Phonemes == "" {
			said.WriteString(part.Text)
			for _, w := range strings.Fields(part.Text) {
				if strings.ContainsFunc(w, isSounding) {
					run = append(run, spokenWord{w, word})
				}
			}
			continue
		}
		if err := flush(); err != nil {
			return out, err
		}
		ipa := r.rewrite(part.Phonemes)
		of := make([]int, len(ipa))
		for i := range of {
			of[i] = word
		}
		out.add(ipa, of)
		out.mark(part.Text)
	}
	return out, flush()
}

// inContext has eSpeak NG read the whole sentence and then puts the phonemes that
// stretches have in place of what it made of those words, so that it reads the words
// around as parts of a sentence: an "a" that is alone or last is the name of the
// letter. It is false where the phonemes cannot be told apart by words.
func (r *pronouncer) inContext(ctx context.Context, s string, stretches []text.Spoken) (sentence, bool, error) {
	var out sentence
	var run []spokenWord
	var said strings.Builder
	given := map[int]string{} // by the place in out.words
	for _, part := range stretches {
		if part.From < part.To {
			out.words = append(out.words, engine.Word{Text: s[part.From:part.To], From: part.From, To: part.To})
			if part.Phonemes != "" {
				given[len(out.words)-1] = r.rewrite(part.Phonemes)
			}
		}
		said.WriteString(part.Text)
		for _, w := range strings.Fields(part.Text) {
			if strings.ContainsFunc(w, isSounding) {
				run = append(run, spokenWord{w, len(out.words) - 1})
			}
		}
	}
	ipa, of, err := r.phonemes(ctx, said.String(), run)
	if err != nil {
		return sentence{}, false, err
	}
	ok := out.replace(ipa, of, given)
	return out, ok, nil
}

// replace appends phonemes, and those given for words in place of theirs. It is false
// where one of those words has none of its own.
func (s *sentence) replace(ipa string, of []int, given map[int]string) bool {
	replaced := 0
	last := noWord
	at := 0
	for _, w := range strings.Fields(ipa) {
		at += strings.Index(ipa[at:], w)
		words := of[at : at+len(w)]
		at += len(w)
		word := slices.Max(words)
		by, ok := given[word]
		if !ok {
			if slices.ContainsFunc(words, func(i int) bool { return given[i] != "" }) {
				return false
			}
			s.add(w, words)
			continue
		}
		if slices.ContainsFunc(words, func(i int) bool { return i != word && i != noWord }) {
			return false
		}
		behind := w[len(strings.TrimRightFunc(w, func(r rune) bool { return !isSounding(r) })):]
		if word == last { // of several words that have been replaced
			s.ipa += behind
		} else {
			replaced++
			s.add(by+behind, slices.Repeat([]int{word}, len(by+behind)))
			last = word
		}
		for len(s.wordOf) < len(s.ipa) {
			s.wordOf = append(s.wordOf, noWord)
		}
	}
	return replaced == len(given)
}

// add appends phonemes.
func (s *sentence) add(ipa string, of []int) {
	if ipa == "" {
		return
	}
	if s.ipa != "" {
		s.ipa += " "
		s.wordOf = append(s.wordOf, noWord)
	}
	s.ipa += ipa
	s.wordOf = append(s.wordOf, of...)
}

// mark appends the punctuation behind a word that eSpeak NG has not read, as the
// voices were taught it.
func (s *sentence) mark(said string) {
	behind := said[strings.LastIndexFunc(said, isSounding)+1:]
	for _, m := range []string{"?", "!", ".", ":", ";", ","} {
		if strings.Contains(behind, m) {
			s.ipa += m
			s.wordOf = append(s.wordOf, noWord)
			return
		}
	}
}

// spokenWord is a word that is said, and which word of the writing it is said
// for.
type spokenWord struct {
	text string
	word int
}

// phonemes are those of a text of these words, and the word of each of their
// bytes.
func (r *pronouncer) phonemes(ctx context.Context, said string, words []spokenWord) (string, []int, error) {
	ipa, err := r.ph.Phonemize(ctx, said, r.voice)
	if err != nil {
		return "", nil, err
	}
	ipa = r.rewrite(ipa)
	if of, ok := alignByPosition(ipa, words); ok {
		return ipa, of, nil
	}
	alone := make([]string, len(words))
	for i, w := range words {
		if alone[i], err = r.pronounceWord(ctx, w.text); err != nil {
			return "", nil, err
		}
	}
	return ipa, alignBySound(ipa, words, alone), nil
}

// alignByPosition gives each word of the phonemes to the word of the text in its place,
// where there are as many: eSpeak NG says some words as one ("of the") and some
// as several (what is joined by a hyphen).
func alignByPosition(ipa string, words []spokenWord) ([]int, bool) {
	if len(strings.Fields(ipa)) != len(words) {
		return nil, false
	}
	for _, w := range words {
		if !plainWord(w.text) {
			return nil, false
		}
	}
	of := make([]int, len(ipa))
	at, between := -1, true
	for i, r := range ipa {
		if between && r != ' ' {
			at++
		}
		between = r == ' '
		for n := range len(string(r)) {
			of[i+n] = noWord
			if !between {
				of[i+n] = words[at].word
			}
		}
	}
	return of, true
}

// plainWord reports whether a word is letters alone, but for what stands around
// them.
func plainWord(w string) bool {
	w = strings.TrimFunc(w, func(r rune) bool { return !isSounding(r) })
	return !strings.ContainsFunc(w, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
	})
}

// isSounding reports whether a rune is more than punctuation.
func isSounding(r rune) bool { return !unicode.IsPunct(r) && !unicode.IsSpace(r) }
