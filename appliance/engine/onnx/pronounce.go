package onnx

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// A sentence is a sentence in phonemes, with the written words that they belong to.
type sentence struct {
	ipa    string
	words  []engine.Word // without times
	wordOf []int         // the word of each byte of ipa that belongs to a phoneme; noWord for other bytes
}

const noWord = -1

// A pronouncer converts text to the phonemes of one language.
type pronouncer struct {
	phonemizer phonemizer
	voice      string                  // name of the voice in eSpeak NG
	tag        string                  // BCP 47
	rewrite    func(ipa string) string // converts phonemes to the notation of the voice's model
	words      wordCache               // words that were pronounced alone
	scripts    scripts                 // that it can pronounce
}

// sentences returns the sentences of a text. Writing that the language cannot pronounce is an
// engine.ErrCannotSay.
func (p *pronouncer) sentences(ctx context.Context, s string, o engine.SpeakOptions) ([]sentence, error) {
	all := text.SaySentences(s, text.Options{Language: p.tag, Locale: o.Locale, Lexicon: o.Lexicon})
	if err := p.scripts.check(s, all, p.tag); err != nil {
		return nil, err
	}
	var out []sentence
	for _, stretches := range all {
		one, err := p.pronounce(ctx, s, stretches)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// canSay returns the error with which sentences would reject a text for its script.
func (p *pronouncer) canSay(s string, o engine.SpeakOptions) error {
	if !strings.ContainsFunc(s, p.scripts.unreadable) {
		return nil
	}
	all := text.SaySentences(s, text.Options{Language: p.tag, Locale: o.Locale, Lexicon: o.Lexicon})
	return p.scripts.check(s, all, p.tag)
}

// pronounce converts the stretches of a sentence of s to phonemes. Stretches with phonemes from a
// lexicon keep them; eSpeak NG pronounces what is between them, as much as possible at once.
func (p *pronouncer) pronounce(ctx context.Context, s string, stretches []text.Spoken) (sentence, error) {
	if slices.ContainsFunc(stretches, func(part text.Spoken) bool { return part.Phonemes != "" }) {
		if whole, ok, err := p.inContext(ctx, s, stretches); ok || err != nil {
			return whole, err
		}
	}
	var out sentence
	var run []spokenWord // words that eSpeak NG pronounces next
	var spoken strings.Builder
	flush := func() error {
		if spoken.Len() == 0 {
			return nil
		}
		ipa, of, err := p.phonemes(ctx, spoken.String(), run)
		spoken.Reset()
		run = nil
		out.add(ipa, of)
		return err
	}
	for _, part := range stretches {
		if part.From < part.To {
			out.words = append(out.words, engine.Word{Text: s[part.From:part.To], From: part.From, To: part.To})
		}
		word := len(out.words) - 1 // spoken text without letters belongs to the word before
		if part.Phonemes == "" {
			spoken.WriteString(part.Text)
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
		ipa := p.rewrite(part.Phonemes)
		of := make([]int, len(ipa))
		for i := range of {
			of[i] = word
		}
		out.add(ipa, of)
		out.mark(part.Text)
	}
	return out, flush()
}

// inContext lets eSpeak NG pronounce the whole sentence and then replaces its phonemes of some
// words by those of the stretches, so that it pronounces the other words in context: an "a" that is
// alone or last is the name of the letter. It returns false if the phonemes cannot be assigned to
// words.
func (p *pronouncer) inContext(ctx context.Context, s string, stretches []text.Spoken) (sentence, bool, error) {
	var out sentence
	var run []spokenWord
	var spoken strings.Builder
	given := map[int]string{} // by index in out.words
	for _, part := range stretches {
		if part.From < part.To {
			out.words = append(out.words, engine.Word{Text: s[part.From:part.To], From: part.From, To: part.To})
			if part.Phonemes != "" {
				given[len(out.words)-1] = p.rewrite(part.Phonemes)
			}
		}
		spoken.WriteString(part.Text)
		for _, w := range strings.Fields(part.Text) {
			if strings.ContainsFunc(w, isSounding) {
				run = append(run, spokenWord{w, len(out.words) - 1})
			}
		}
	}
	ipa, of, err := p.phonemes(ctx, spoken.String(), run)
	if err != nil {
		return sentence{}, false, err
	}
	ok := out.replace(ipa, of, given)
	return out, ok, nil
}

// replace appends phonemes and replaces those of the words in given. It returns false if one of
// those words has no phonemes of its own.
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
		if word == last { // several spoken words for one replaced word
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

// mark appends the punctuation after a word that eSpeak NG did not pronounce, as the voices were
// trained.
func (s *sentence) mark(spoken string) {
	behind := spoken[strings.LastIndexFunc(spoken, isSounding)+1:]
	for _, m := range []string{"?", "!", ".", ":", ";", ","} {
		if strings.Contains(behind, m) {
			s.ipa += m
			s.wordOf = append(s.wordOf, noWord)
			return
		}
	}
}

// spokenWord is a word as it is spoken, with the index of the written word.
type spokenWord struct {
	text string
	word int
}

// phonemes returns the phonemes of a text that consists of words, and the word of each byte.
func (p *pronouncer) phonemes(ctx context.Context, spoken string, words []spokenWord) (string, []int, error) {
	ipa, err := p.phonemizer.Phonemize(ctx, spoken, p.voice)
	if err != nil {
		return "", nil, err
	}
	ipa = p.rewrite(ipa)
	if of, ok := alignByPosition(ipa, words); ok {
		return ipa, of, nil
	}
	alone := make([]string, len(words))
	for i, w := range words {
		if alone[i], err = p.pronounceWord(ctx, w.text); err != nil {
			return "", nil, err
		}
	}
	return ipa, alignBySound(ipa, words, alone), nil
}

// alignByPosition assigns the words of the phonemes to the words of the text by position, if there
// are equally many. eSpeak NG pronounces some words as one ("of the") and some as several
// (hyphenated words).
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

// plainWord reports whether a word consists of letters, apart from surrounding punctuation.
func plainWord(w string) bool {
	w = strings.TrimFunc(w, func(r rune) bool { return !isSounding(r) })
	return !strings.ContainsFunc(w, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
	})
}

// isSounding reports whether a rune is neither punctuation nor space.
func isSounding(r rune) bool { return !unicode.IsPunct(r) && !unicode.IsSpace(r) }
