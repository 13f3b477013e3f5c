package onnx

import (
	"context"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"parley/appliance/engine"
)

// A sound is a phoneme of a sentence and which of the model's ids are its.
type sound struct {
	symbol     string
	begin, end int
}

// A breath is what the model says in one call: a sentence, or a part of one
// that has very many phonemes.
type breath struct {
	ids []int64
	// The ids from begin to end are said. Those before were said already, those
	// behind stand for what is to come: the model says what is between them as
	// the middle of a sentence.
	begin, end int
	sounds     []sound // at least one, between them
}

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
		if b := p.breath(before, part, after); len(b.sounds) > 0 {
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

// breath turns phonemes, and those before and after them, into the numbers that
// the model takes: ^ _ (phoneme _)… $, over decomposed code points.
func (p *Piper) breath(before, ipa, after string) breath {
	var ids []int64
	var sounds []sound
	all := before + ipa + after
	if !strings.ContainsAny(all[max(len(all)-1, 0):], ".?!,;:") {
		all += "." // voices learned from sentences that end
	}
	ids = append(append(ids, p.config.ids[piperBegin]...), p.config.ids[piperPad]...)
	b := breath{end: -1}
	prefix := -1 // where a stress mark waits for its phoneme
	for i, r := range all {
		if i == len(before) && i > 0 {
			b.begin, sounds, prefix = len(ids), nil, -1
		}
		if i == len(before)+len(ipa) && after != "" {
			b.end, b.sounds = len(ids), sounds
		}
		known := p.config.ids[r]
		if known == nil || r == piperBegin || r == piperEnd || r == piperPad {
			p.tellUnknown(r)
			continue
		}
		begin := len(ids)
		ids = append(append(ids, known...), p.config.ids[piperPad]...)
		switch {
		case r == 'ˈ' || r == 'ˌ':
			prefix = begin
		case lengthens(r):
			if n := len(sounds); n > 0 && sounds[n-1].end == begin {
				sounds[n-1].symbol += string(r)
				sounds[n-1].end = len(ids)
			}
		case !unicode.IsLetter(r):
			prefix = -1
		default:
			if prefix < 0 {
				prefix = begin
			}
			sounds = append(sounds, sound{string(r), prefix, len(ids)})
			prefix = -1
		}
	}
	b.ids = append(ids, p.config.ids[piperEnd]...)
	if b.end < 0 {
		b.end, b.sounds = len(b.ids), sounds
	}
	return b
}

// lengthens reports whether r belongs to the phoneme before it: length marks,
// modifier letters such as ʲ, combining marks.
func lengthens(r rune) bool {
	return r != 'ˈ' && r != 'ˌ' && (unicode.Is(unicode.Lm, r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Sk, r))
}

func (p *Piper) tellUnknown(r rune) {
	if p.Log != nil && p.unknown.met(r) {
		p.Log.Warn("the voice does not know a phoneme and leaves it out", "phoneme", string(r), "language", p.Language())
	}
}

// place says where in the samples of a sentence its sounds are, from the frames
// of each id; nil when those are not known.
func place(sounds []sound, frames []float32) []engine.Phoneme {
	if len(frames) == 0 {
		return nil
	}
	at := make([]int, len(frames)+1)
	for i, f := range frames {
		at[i+1] = at[i] + int(f)*piperHop
	}
	phonemes := make([]engine.Phoneme, 0, len(sounds))
	for _, s := range sounds {
		phonemes = append(phonemes, engine.Phoneme{Symbol: s.symbol, Begin: at[s.begin], End: at[s.end]})
	}
	return phonemes
}

// onceForEach tells the first time that a rune is met from later ones.
type onceForEach struct {
	mu   sync.Mutex
	seen map[rune]bool
}

func (o *onceForEach) met(r rune) (first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen[r] {
		return false
	}
	if o.seen == nil {
		o.seen = make(map[rune]bool)
	}
	o.seen[r] = true
	return true
}
