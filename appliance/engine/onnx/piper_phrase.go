package onnx

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"parley/appliance/engine"
)

// phraseContext is what precedes and follows a sentence without being a sentence of its own.
type phraseContext struct {
	before    string // phonemes, with a space at the end
	continues bool
}

// maxPhraseRunes limits the phonemes of a phrase, in code points. A sentence of 250 letters has
// about as many phonemes, but eSpeak NG spells out what it cannot read ("Chinese letter" for each
// character). Such a sentence had thousands, and the model processes all of a phrase before its
// first sound.
const maxPhraseRunes = 300

// phrases returns the phrases of a sentence, without those that have no sound.
func (p *Piper) phrases(s sentence, around phraseContext) []phrase {
	var all []phrase
	before := around.before
	parts := cutPhonemes(s.ipa, maxPhraseRunes)
	at, word := 0, 0
	for i, part := range parts {
		if i > 0 || utf8.RuneCountInString(before)+utf8.RuneCountInString(part) > maxPhraseRunes {
			before = ""
		}
		after := ""
		if around.continues && i == len(parts)-1 {
			after = placeholder(part)
			if utf8.RuneCountInString(before+part+after) > maxPhraseRunes {
				after = ""
			}
		}
		if b := p.alphabet.phrase(before, part, after); len(b.sounds) > 0 {
			b.sounds = phonologyOf(p.pronouncer.tag).joined(b.sounds)
			word = b.assignWords(s, at, word)
			all = append(all, b)
		}
		at += len(part)
	}
	if n := len(all); n > 0 {
		all[n-1].assignRest(s, word)
	}
	return all
}

// previousPhonemes returns the phonemes of the preceding text of the same sentence, or "" if that
// text cannot be pronounced.
func (p *Piper) previousPhonemes(ctx context.Context, o engine.SpeakOptions) (string, error) {
	if o.Previous == "" {
		return "", nil
	}
	previous, err := p.pronouncer.sentences(ctx, o.Previous, engine.SpeakOptions{Locale: o.Locale, Lexicon: o.Lexicon})
	var cannot engine.ErrCannotSay
	if errors.As(err, &cannot) {
		return "", nil
	}
	if err != nil || len(previous) == 0 {
		return "", err
	}
	return previous[len(previous)-1].ipa + " ", nil
}

// placeholder returns phonemes in place of the unknown words that follow part: its own first two
// words. Any words keep a voice from ending its sentence, and repeating all of the part would
// double the work before the first sound.
func placeholder(part string) string {
	words := strings.Fields(part)
	return " " + strings.Join(words[:min(2, len(words))], " ")
}

// cutPhonemes cuts phonemes into parts of at most most code points, between words if possible.
func cutPhonemes(ipa string, most int) []string {
	var parts []string
	begin, space, n := 0, 0, 0 // n code points since begin; space is the end of the last whole word
	for i, r := range ipa {
		if n == most {
			cut := i
			if space > begin {
				cut = space
			}
			parts = append(parts, ipa[begin:cut])
			n = utf8.RuneCountInString(ipa[cut:i])
			begin = cut
		}
		n++
		if r == ' ' {
			space = i + 1
		}
	}
	return append(parts, ipa[begin:])
}
