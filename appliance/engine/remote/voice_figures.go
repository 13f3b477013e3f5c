package remote

import (
	"math"
	"strings"
	"sync"
	"unicode"

	"parley/appliance/audio"
)

const (
	// sharedLUFS is the loudness that all voices share.
	sharedLUFS = -23
	// peakLimit is the highest peak of a voice, -1 dB below full scale.
	peakLimit = 0.891
	// maxGainDB bounds the correction of a server's loudness. One that differs by more sends noise.
	maxGainDB = 15
	// learnFrom is the length of a speech from which its loudness counts: a word alone is louder or
	// softer than a sentence.
	learnFrom = VoiceRateHz
	// usualPerLetter is the number of samples of a letter before a voice has spoken: 14 letters and
	// spaces a second.
	usualPerLetter = VoiceRateHz / 14
	// learnPart is the weight of the newest speech.
	learnPart = 4
)

// voiceFigures are what a voice was measured to be like.
type voiceFigures struct {
	mu        sync.Mutex
	perLetter float64 // samples of a letter or space at its own speed
	lufs      float64 // loudness; 0 before it is known
}

func newVoiceFigures() *voiceFigures { return &voiceFigures{perLetter: usualPerLetter} }

// get returns the samples of a letter, and the gain that gives the voice the shared loudness.
func (f *voiceFigures) get() (perLetter float64, gain float32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	db := 0.0
	if f.lufs != 0 {
		db = min(max(sharedLUFS-f.lufs, -maxGainDB), maxGainDB)
	}
	return f.perLetter, float32(math.Pow(10, db/20))
}

// learn measures a whole speech.
func (f *voiceFigures) learn(pcm []float32, letters int, speed float64) {
	if len(pcm) < learnFrom || letters == 0 {
		return
	}
	lufs := audio.Loudness(pcm, VoiceRateHz)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.perLetter += (float64(len(pcm))*speed/float64(letters) - f.perLetter) / learnPart
	switch {
	case math.IsInf(lufs, 0):
	case f.lufs == 0:
		f.lufs = lufs
	default:
		f.lufs += (lufs - f.lufs) / learnPart
	}
}

// letters counts what takes time in a text: its characters, with one space between words.
func letters(text string) int { return len([]rune(strings.Join(strings.Fields(text), " "))) }

// rest returns what is to be said of text, whose sound has stopped: from the word in which it
// stopped, as far as its length tells.
func (s *speech) rest(text string) string {
	perLetter, _ := s.voice.figures.get()
	left := int(float64(s.sent) * speedOf(s.options) / perLetter)
	for at := strings.TrimLeftFunc(text, unicode.IsSpace); ; {
		end := strings.IndexFunc(at, unicode.IsSpace)
		word := at
		if end >= 0 {
			word = at[:end]
		}
		if left < len([]rune(word)) || end < 0 {
			if left >= len([]rune(word)) || !hasSpeech(at) {
				return ""
			}
			return at
		}
		left -= len([]rune(word)) + 1
		at = strings.TrimLeftFunc(at[end:], unicode.IsSpace)
	}
}
