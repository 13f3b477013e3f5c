package speech

import (
	"context"
	"math"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

const (
	// fitting is how far the length of a phrase may be from what is wanted, a
	// twentieth, which nobody hears.
	fitting = 0.05
	// mostTries is how often a phrase is made: with a guess, with what that shows,
	// and once more where it would run into the next phrase.
	mostTries = 3
)

// fitter says phrases in the time that others took for them.
type fitter struct {
	voice   engine.Synthesizer
	options engine.SpeakOptions
	// perLetter is how long the voice takes for a letter by itself, in samples, as
	// the phrases so far show; 0: not known.
	perLetter float64
}

// fitted is a phrase that was said.
type fitted struct {
	engine.Speech
	begin, end int // of the voice in it, in samples
}

// say says text so that its voice takes want samples at the voice's rate, as near
// as the voice can, and no more than room where that can be had.
func (f *fitter) say(ctx context.Context, text string, want, room int) (fitted, error) {
	letters := float64(max(len(text), 1))
	speed := 1.0
	if f.perLetter > 0 {
		speed = clampSpeed(f.perLetter * letters / float64(max(want, 1)))
	}
	var best fitted
	off := math.Inf(1)
	for range mostTries {
		o := f.options
		o.Speed = speed
		said, err := engine.SpeakWhole(ctx, f.voice, text, o)
		if err != nil {
			return fitted{}, err
		}
		begin, end := extent(said.PCM, said.RateHz)
		took := end - begin
		if took == 0 {
			return fitted{Speech: said}, nil
		}
		f.perLetter = float64(took) * speed / letters
		far := math.Abs(float64(took-want)) / float64(max(want, 1))
		if took > room {
			far += float64(took-room) / float64(max(want, 1))
		}
		if far < off {
			best, off = fitted{said, begin, end}, far
		}
		next := clampSpeed(speed * float64(took) / float64(max(min(want, room), 1)))
		if far <= fitting || math.Abs(next/speed-1) < 0.01 {
			break
		}
		speed = next
	}
	return best, nil
}

// clampSpeed keeps a speed within what is still understood.
func clampSpeed(speed float64) float64 {
	return min(max(speed, contract.MinSpeed), contract.MaxSpeed)
}
