package engines

import (
	"context"
	"math"
	"slices"

	"parley/appliance/audio"
	"parley/appliance/audio/shape"
	"parley/appliance/engine"
)

const (
	// voiceLUFS is the loudness of the engines' voices.
	voiceLUFS = -23
	// peakLimit is the highest peak of a voice, -1 dB below full scale, since codecs and sound
	// cards slightly exceed the sample values.
	peakLimit = 0.891

	slowest, fastest = 0.25, 3 // speeds that the engines accept
)

// shaped is a voice whose sound or loudness may be changed.
type shaped struct {
	engine.Synthesizer
	identity string // see engine.IdentityOf
	shape    shape.Settings
	rate     float64 // speed relative to the voice's own
	pitchHz  float64 // mean pitch; 0 if unknown
	gainDB   float64 // gain of everything it says
}

// Identity returns what distinguishes the voice from others, or "".
func (s shaped) Identity() string { return s.identity }

// Language returns the language of the voice, or "".
func (s shaped) Language() string { return engine.LanguageOf(s.Synthesizer) }

// CanSay implements engine.TextChecker.
func (s shaped) CanSay(text string, o engine.SpeakOptions) error {
	return engine.CanSay(s.Synthesizer, text, o)
}

// Speak implements engine.Synthesizer. The shaper delays its output by at most 80 ms of sound, so
// the pieces are cut at other positions.
func (s shaped) Speak(ctx context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	if s.rate != 0 {
		o.ModelSpeed = min(max(s.rate, slowest), fastest)
	}
	if s.shape == (shape.Settings{}) && s.gainDB == 0 {
		return s.Synthesizer.Speak(ctx, text, o, emit)
	}
	hz := s.RateHz()
	settings := s.shape
	settings.Gain += s.gainDB
	p := shaping{shaper: shape.New(hz, settings, s.pitchHz), limiter: audio.NewLimiter(hz, peakLimit)}
	return s.Synthesizer.Speak(ctx, text, o, func(in engine.Sound) error {
		out := p.process(in)
		if len(out.PCM) == 0 && !out.Last {
			return nil
		}
		return emit(out)
	})
}

// shaping is a speech in progress.
type shaping struct {
	shaper   *shape.Shaper
	limiter  *audio.Limiter
	emitted  int // samples
	taken    int
	words    []engine.Word // whose sound has not been emitted yet
	phonemes []engine.Phoneme
}

func (s *shaping) process(in engine.Sound) engine.Sound {
	s.taken += len(in.PCM)
	out := engine.Sound{Last: in.Last,
		PCM: s.limiter.Process(nil, s.shaper.Process(slices.Clone(in.PCM), in.Last), in.Last)}
	s.emitted += len(out.PCM)
	s.words, s.phonemes = append(s.words, in.Words...), append(s.phonemes, in.Phonemes...)
	n := 0
	for ; n < len(s.words); n++ {
		w := s.words[n]
		w.Begin, w.End = s.shaper.Moved(w.Begin), s.shaper.Moved(w.End)
		if w.End > s.emitted && !in.Last {
			break
		}
		out.Words = append(out.Words, w)
	}
	s.words = slices.Delete(s.words, 0, n)
	for n = 0; n < len(s.phonemes); n++ {
		ph := s.phonemes[n]
		ph.Begin, ph.End = s.shaper.Moved(ph.Begin), s.shaper.Moved(ph.End)
		if ph.End > s.emitted && !in.Last {
			break
		}
		out.Phonemes = append(out.Phonemes, ph)
	}
	s.phonemes = slices.Delete(s.phonemes, 0, n)
	out.TotalSamples = max(s.shaper.Moved(max(in.TotalSamples, s.taken)), s.emitted)
	if in.Last {
		out.TotalSamples = s.emitted
	}
	return out
}

// decibels returns the gain between two loudness values, or 0 if it is inaudible.
func decibels(from, to float64) float64 {
	if db := to - from; math.Abs(db) >= 0.05 {
		return db
	}
	return 0
}
