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
	// voiceLUFS is how loud the engines make their voices.
	voiceLUFS = -23
	// peakLimit is what no voice passes, -1 dB below full scale: what codecs and
	// sound cards make of a wave goes a little beyond its samples.
	peakLimit = 0.891

	slowest, fastest = 0.25, 3 // speeds that the engines take
)

// shaped is a voice that is made to sound other than it does, or louder.
type shaped struct {
	engine.Synthesizer
	shape   shape.Settings
	rate    float64 // of its speech beside its own
	pitchHz float64 // its mean pitch; 0 where it is not known
	gainDB  float64 // dB, of all that it says
}

// Language is that of the voice; empty where it does not say it.
func (s shaped) Language() string { return engine.LanguageOf(s.Synthesizer) }

// CanSay is that of the voice.
func (s shaped) CanSay(text string, o engine.SpeakOptions) error {
	return engine.CanSay(s.Synthesizer, text, o)
}

// Speak is that of the voice. Its pieces are cut elsewhere: what the shape looks
// ahead, at most 80 ms of sound, comes with the next one.
func (s shaped) Speak(ctx context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	if s.rate != 0 {
		o.ModelSpeed = min(max(s.rate, slowest), fastest)
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

// shaping is one speech on its way.
type shaping struct {
	shaper   *shape.Shaper
	limiter  *audio.Limiter
	emitted  int // samples
	taken    int
	words    []engine.Word // whose sound has not been given yet
	phonemes []engine.Phoneme
}

func (p *shaping) process(in engine.Sound) engine.Sound {
	p.taken += len(in.PCM)
	out := engine.Sound{Last: in.Last,
		PCM: p.limiter.Process(nil, p.shaper.Process(slices.Clone(in.PCM), in.Last), in.Last)}
	p.emitted += len(out.PCM)
	p.words, p.phonemes = append(p.words, in.Words...), append(p.phonemes, in.Phonemes...)
	n := 0
	for ; n < len(p.words); n++ {
		w := p.words[n]
		w.Begin, w.End = p.shaper.Moved(w.Begin), p.shaper.Moved(w.End)
		if w.End > p.emitted && !in.Last {
			break
		}
		out.Words = append(out.Words, w)
	}
	p.words = slices.Delete(p.words, 0, n)
	for n = 0; n < len(p.phonemes); n++ {
		ph := p.phonemes[n]
		ph.Begin, ph.End = p.shaper.Moved(ph.Begin), p.shaper.Moved(ph.End)
		if ph.End > p.emitted && !in.Last {
			break
		}
		out.Phonemes = append(out.Phonemes, ph)
	}
	p.phonemes = slices.Delete(p.phonemes, 0, n)
	out.TotalSamples = max(p.shaper.Moved(max(in.TotalSamples, p.taken)), p.emitted)
	if in.Last {
		out.TotalSamples = p.emitted
	}
	return out
}

// decibels by which a sound at one loudness is brought to another, that nobody
// hears are none.
func decibels(from, to float64) float64 {
	if db := to - from; math.Abs(db) >= 0.05 {
		return db
	}
	return 0
}
