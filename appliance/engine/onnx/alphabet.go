package onnx

import (
	"strings"
	"sync"
	"unicode"

	"parley/appliance/engine"
)

// An alphabet is how a model writes phonemes, as numbers. It is not copied.
type alphabet struct {
	ids                 map[rune][]int64
	begin, between, end []int64 // stand before all phonemes, behind each of them, behind all
	// onUnknown is told of each phoneme that the model does not know, once; nil:
	// nobody is.
	onUnknown func(r rune)

	mu       sync.Mutex
	reported map[rune]bool
}

// A sound is a phoneme of a sentence and which of the model's ids are its.
type sound struct {
	symbol     string
	begin, end int
	at         int // its place in the phonemes that are said, in bytes
}

// A wordSpan is a word of the writing, and which of the model's ids say it: none
// where it has no sound of its own.
type wordSpan struct {
	word       engine.Word
	begin, end int
}

// A breath is what the model says in one call: a sentence, or a part of one
// that has very many phonemes.
type phrase struct {
	ids []int64
	// The ids from begin to end are said. Those before were said already, those
	// behind stand for what is to come: the model says what is between them as
	// the middle of a sentence.
	begin, end int
	sounds     []sound // at least one, between them
	words      []wordSpan
	pauseMS    int    // the silence before it, where it is not the first
	index      uint64 // its place among those of the text
}

// phrase turns phonemes, and those before and after them, into the numbers that
// the model takes, over decomposed code points.
func (a *alphabet) phrase(before, ipa, after string) phrase {
	var ids []int64
	var sounds []sound
	all := before + ipa + after
	if !strings.ContainsAny(all[max(len(all)-1, 0):], ".?!,;:") {
		all += "." // voices learned from sentences that end
	}
	ids = append(append(ids, a.begin...), a.between...)
	b := phrase{end: -1, pauseMS: betweenSentencesMS}
	prefix := -1 // where a stress mark waits for its phoneme
	for i, r := range all {
		if i == len(before) && i > 0 {
			b.begin, sounds, prefix = len(ids), nil, -1
		}
		if i == len(before)+len(ipa) && after != "" {
			b.end, b.sounds = len(ids), sounds
		}
		known := a.ids[r]
		if known == nil {
			a.reportUnknown(r)
			continue
		}
		begin := len(ids)
		ids = append(append(ids, known...), a.between...)
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
			sounds = append(sounds, sound{string(r), prefix, len(ids), i - len(before)})
			prefix = -1
		}
	}
	b.ids = append(ids, a.end...)
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

func (a *alphabet) reportUnknown(r rune) {
	if a.onUnknown == nil {
		return
	}
	a.mu.Lock()
	first := !a.reported[r]
	if a.reported == nil {
		a.reported = make(map[rune]bool)
	}
	a.reported[r] = true
	a.mu.Unlock()
	if first {
		a.onUnknown(r)
	}
}

// assignWords gives a breath the words of its sentence that it says, whose phonemes
// begin at a place of the sentence's; next is the first word that no breath has,
// before and after. A word without phonemes of its own is said in no time.
func (b *phrase) assignWords(s sentence, part, next int) int {
	for _, sound := range b.sounds {
		w := noWord
		if at := part + sound.at; at < len(s.wordOf) {
			w = s.wordOf[at]
		}
		if n := len(b.words); n > 0 && w == next-1 {
			b.words[n-1].end = sound.end
		}
		for ; next <= w; next++ {
			b.words = append(b.words, wordSpan{s.words[next], sound.begin, sound.begin})
			if next == w {
				b.words[len(b.words)-1].end = sound.end
			}
		}
	}
	return next
}

// assignRest gives a breath, the last of its sentence, the words that are left.
func (b *phrase) assignRest(s sentence, next int) {
	at := b.sounds[len(b.sounds)-1].end
	for _, w := range s.words[next:] {
		b.words = append(b.words, wordSpan{w, at, at})
	}
}

// timings says where in the samples of a breath its sounds and its words are, from
// the frames of each id; nil when those are not known.
func (b phrase) timings(frames []float32, hop int) (phonemes []engine.Phoneme, words []engine.Word) {
	if len(frames) == 0 {
		return nil, nil
	}
	at := make([]int, len(frames)+1)
	for i, f := range frames {
		at[i+1] = at[i] + int(f)*hop
	}
	phonemes = make([]engine.Phoneme, 0, len(b.sounds))
	for _, s := range b.sounds {
		phonemes = append(phonemes, engine.Phoneme{Symbol: s.symbol, Begin: at[s.begin], End: at[s.end]})
	}
	for _, s := range b.words {
		w := s.word
		w.Begin, w.End = at[s.begin], at[s.end]
		words = append(words, w)
	}
	return phonemes, words
}
