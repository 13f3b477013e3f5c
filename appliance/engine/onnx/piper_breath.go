package onnx

import (
	"context"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// surroundings are what is said before and after a sentence without being a
// sentence of its own.
type surroundings struct {
	before string // written as it is
	goesOn bool
}

// maxBreath is how many code points of phonemes a breath has. A sentence of 250
// letters has about as many phonemes, but eSpeak NG spells out what it cannot
// read ("Chinese letter" for each): such a sentence had thousands, and the model
// takes all of a breath before the first of its sound.
const maxBreath = 300

// breaths turns a sentence into what the model is given, without what says
// nothing.
func (p *Piper) breaths(ctx context.Context, sentence string, around surroundings) ([]breath, error) {
	ipa, err := p.phonemes(ctx, sentence)
	if err != nil {
		return nil, err
	}
	before, err := p.before(ctx, around)
	if err != nil {
		return nil, err
	}
	var all []breath
	parts := cutPhonemes(ipa, maxBreath)
	for i, part := range parts {
		if i > 0 || utf8.RuneCountInString(before)+utf8.RuneCountInString(part) > maxBreath {
			before = ""
		}
		after := ""
		if around.goesOn && i == len(parts)-1 {
			after = standIn(part)
			if utf8.RuneCountInString(before+part+after) > maxBreath {
				after = ""
			}
		}
		if b := p.alphabet.breath(before, part, after); len(b.sounds) > 0 {
			all = append(all, b)
		}
	}
	return all, nil
}

// before is the phonemes of what was said before a sentence, with a space behind.
func (p *Piper) before(ctx context.Context, around surroundings) (string, error) {
	said := p.sentences(around.before)
	if len(said) == 0 {
		return "", nil
	}
	ipa, err := p.phonemes(ctx, said[len(said)-1])
	return ipa + " ", err
}

// standIn is what a part that goes on is followed by in the place of words that
// nobody knows yet: its own first two, since any words keep a voice from ending,
// and all of the part again would double what the model has to read before the
// first sound.
func standIn(part string) string {
	words := strings.Fields(part)
	return " " + strings.Join(words[:min(2, len(words))], " ")
}

// phonemes are those of a text, as decomposed code points.
func (p *Piper) phonemes(ctx context.Context, s string) (string, error) {
	ipa, err := p.ph.Phonemize(ctx, s, p.config.Espeak.Voice)
	return norm.NFD.String(ipa), err
}

// cutPhonemes cuts phonemes into parts of at most so many code points: between
// words where there are any, else where it must.
func cutPhonemes(ipa string, most int) []string {
	var parts []string
	begin, space, n := 0, 0, 0 // n code points since begin; space ends the last whole word
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
