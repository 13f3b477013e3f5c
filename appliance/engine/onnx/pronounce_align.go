package onnx

import (
	"context"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// wordCache caches the phonemes of single words.
type wordCache struct {
	mu       sync.Mutex
	phonemes map[string]string
}

// maxCachedWords is the size of the cache: the words of an hour's conversation, in a quarter of a
// megabyte. When it is full, it is emptied.
const maxCachedWords = 4096

// pronounceWord returns the phonemes of a word by itself.
func (p *pronouncer) pronounceWord(ctx context.Context, word string) (string, error) {
	p.words.mu.Lock()
	ipa, ok := p.words.phonemes[word]
	p.words.mu.Unlock()
	if ok {
		return ipa, nil
	}
	ipa, err := p.phonemizer.Phonemize(ctx, word, p.voice)
	if err != nil {
		return "", err
	}
	ipa = p.rewrite(ipa)
	p.words.mu.Lock()
	defer p.words.mu.Unlock()
	if p.words.phonemes == nil || len(p.words.phonemes) >= maxCachedWords {
		p.words.phonemes = make(map[string]string)
	}
	p.words.phonemes[word] = ipa
	return ipa, nil
}

// A phone is a phoneme of a text without stress and length marks.
type phone struct {
	r      rune
	offset int  // byte position
	begins bool // the first after a space
	word   int  // index of the written word
	vowel  bool
	first  bool // the first of its word
}

// phones returns the phonemes of ipa.
func phones(ipa string) []phone {
	var all []phone
	begins := true
	for i, r := range ipa {
		switch {
		case r == ' ':
			begins = true
		case unicode.IsLetter(r) && !lengthens(r) && r != 'ˈ' && r != 'ˌ':
			all = append(all, phone{
				r:      r,
				offset: i,
				begins: begins,
				word:   noWord,
				vowel:  vowel(r),
			})
			begins = false
		}
	}
	return all
}

func vowel(r rune) bool {
	return strings.ContainsRune("aeiouyæøœɐɑɒɔəɚɛɜɤɨɪɯʊʉʌɵɘᵻAIOQWY", r)
}

// alignBySound assigns each phoneme of a text to the word that it sounds like. It aligns the
// phonemes of the text with those of its words, each pronounced alone, at the lowest edit distance.
// It always returns a result, however different they are.
func alignBySound(ipa string, words []spokenWord, alone []string) []int {
	got := phones(ipa)
	var want []phone
	for i, w := range words {
		of := phones(alone[i])
		for n := range of {
			of[n].word, of[n].first = w.word, n == 0
		}
		want = append(want, of...)
	}
	switch {
	case len(want) == 0:
	case len(got)*len(want) > maxAlignCells:
		for i := range got {
			got[i].word = want[i*len(want)/len(got)].word
		}
	default:
		align(got, want)
	}
	return spreadToBytes(ipa, got)
}

// maxAlignCells limits the table of align to two sentences of two thousand phonemes, four
// megabytes. Usual sentences have a tenth of that; longer ones are assigned evenly.
const maxAlignCells = 4 << 20

// The costs of replacing a phoneme by another, of omitting one, of a word that begins where the
// text has no space, and of a space within a word.
const (
	sameKind, otherKind = 5, 12
	leftOut             = 10
	noSpace, spaceIn    = 6, 4
)

// align assigns each phoneme in got to the word of its counterpart in want.
func align(got, want []phone) {
	const over, extra, missing = 0, 1, 2
	width := len(want) + 1
	from := make([]byte, (len(got)+1)*width)
	last, row := make([]int, width), make([]int, width)
	for j := 1; j < width; j++ {
		last[j], from[j] = j*leftOut, missing
	}
	for i, h := range got {
		row[0], from[(i+1)*width] = (i+1)*leftOut, extra
		for j, w := range want {
			best, how := last[j]+cost(h, w), byte(over)
			if c := last[j+1] + leftOut; c < best {
				best, how = c, extra
			}
			if c := row[j] + leftOut; c < best {
				best, how = c, missing
			}
			row[j+1], from[(i+1)*width+j+1] = best, how
		}
		last, row = row, last
	}
	for i, j := len(got), len(want); i > 0; {
		switch from[i*width+j] {
		case over:
			i, j = i-1, j-1
			got[i].word = want[j].word
		case extra: // the adjacent word: the next one at the beginning of a word, else the one before
			i--
			switch {
			case i > 0 && !got[i].begins:
				got[i].word = samePrevious
			case j < len(want):
				got[i].word = want[j].word
			default:
				got[i].word = want[j-1].word
			}
		default:
			j--
		}
	}
	for i := range got {
		if got[i].word == samePrevious {
			got[i].word = got[i-1].word
		}
	}
}

// samePrevious stands for the word of the previous phoneme until all others are known, so that a
// spoken word without a counterpart is not split.
const samePrevious = -2

func cost(h, w phone) int {
	c := 0
	switch {
	case h.r == w.r:
	case h.vowel == w.vowel:
		c = sameKind
	default:
		c = otherKind
	}
	switch {
	case w.first && !h.begins:
		c += noSpace
	case h.begins && !w.first:
		c += spaceIn
	}
	return c
}

// spreadToBytes assigns the bytes between phonemes: stress marks to the next phoneme, length marks
// to the last, spaces and punctuation to none.
func spreadToBytes(ipa string, got []phone) []int {
	of := make([]int, len(ipa))
	next, word := 0, noWord
	for i, r := range ipa {
		if next < len(got) && got[next].offset == i {
			word = got[next].word
			next++
		}
		at := noWord
		switch {
		case r == 'ˈ' || r == 'ˌ':
			if next < len(got) {
				at = got[next].word
			}
		case unicode.IsLetter(r) || lengthens(r):
			at = word
		}
		for n := range utf8.RuneLen(r) {
			of[i+n] = at
		}
	}
	return of
}
