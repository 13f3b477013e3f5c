package onnx

import (
	"strings"
	"sync"
	"unicode"

	"parley/appliance/engine"
)

// An alphabet encodes phonemes as a model's ids. It must not be copied.
type alphabet struct {
	ids                 map[rune][]int64
	begin, between, end []int64 // ids before all phonemes, after each of them, and after all
	// onUnknown is called once for each phoneme that the model does not know; it may be nil.
	onUnknown func(r rune)

	mu       sync.Mutex
	reported map[rune]bool
}

// A sound is a phoneme of a sentence with its range of model ids.
type sound struct {
	symbol     string
	begin, end int
	offset     int // byte position in the spoken phonemes
}

// A wordSpan is a written word with its range of model ids, which is empty if the word has no sound
// of its own.
type wordSpan struct {
	word       engine.Word
	begin, end int
}

// A phrase is the input of one model call: a sentence, or a part of one with very many phonemes.
type phrase struct {
	ids []int64
	// The ids from begin to end are spoken. Those before were spoken already and those after stand
	// for what follows: the model speaks the ids between them as the middle of a sentence.
	begin, end int
	sounds     []sound // at least one, between begin and end
	words      []wordSpan
	pauseMS    int    // silence before the phrase, unless it is the first
	index      uint64 // position among the phrases of the text
}

// phrase encodes phonemes, with those before and after them, as decomposed code points.
func (a *alphabet) phrase(before, ipa, after string) phrase {
	var ids []int64
	var sounds []sound
	all := before + ipa + after
	if !strings.ContainsAny(all[max(len(all)-1, 0):], ".?!,;:") {
		all += "." // voices were trained on complete sentences
	}
	ids = append(append(ids, a.begin...), a.between...)
	b := phrase{end: -1, pauseMS: betweenSentencesMS}
	prefix := -1 // position of a stress mark that belongs to the next phoneme
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

// lengthens reports whether r belongs to the phoneme before it: length marks, modifier letters such
// as ʲ, combining marks.
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

// assignWords assigns the words of the sentence to the phrase, whose phonemes begin at position
// part of the sentence's. next is the first word that no phrase has, before and after the call. A
// word without phonemes of its own gets an empty range.
func (p *phrase) assignWords(s sentence, part, next int) int {
	for _, sound := range p.sounds {
		w := noWord
		if at := part + sound.offset; at < len(s.wordOf) {
			w = s.wordOf[at]
		}
		if n := len(p.words); n > 0 && w == next-1 {
			p.words[n-1].end = sound.end
		}
		for ; next <= w; next++ {
			p.words = append(p.words, wordSpan{s.words[next], sound.begin, sound.begin})
			if next == w {
				p.words[len(p.words)-1].end = sound.end
			}
		}
	}
	return next
}

// assignRest assigns the remaining words to the last phrase of a sentence.
func (p *phrase) assignRest(s sentence, next int) {
	at := p.sounds[len(p.sounds)-1].end
	for _, w := range s.words[next:] {
		p.words = append(p.words, wordSpan{w, at, at})
	}
}

// timings returns the sample positions of the phrase's sounds and words, from the frames of each
// id, or nil if those are unknown.
func (p phrase) timings(frames []float32, hop int) (phonemes []engine.Phoneme, words []engine.Word) {
	if len(frames) == 0 {
		return nil, nil
	}
	at := make([]int, len(frames)+1)
	for i, f := range frames {
		at[i+1] = at[i] + int(f)*hop
	}
	phonemes = make([]engine.Phoneme, 0, len(p.sounds))
	for _, s := range p.sounds {
		phonemes = append(phonemes, engine.Phoneme{Symbol: s.symbol, Begin: at[s.begin], End: at[s.end]})
	}
	for _, s := range p.words {
		w := s.word
		w.Begin, w.End = at[s.begin], at[s.end]
		words = append(words, w)
	}
	return phonemes, words
}
