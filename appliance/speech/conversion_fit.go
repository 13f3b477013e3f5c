package speech

import (
	"context"
	"math"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

const (
	// fitting is the inaudible relative error of a phrase's length: a twentieth.
	fitting = 0.05
	// maxTries is how often a phrase is synthesised: with an estimated speed, with a corrected
	// one, and once more if it would run into the next phrase.
	maxTries = 3
)

// fitter synthesises phrases to given lengths.
type fitter struct {
	voice   engine.Synthesizer
	options engine.SpeakOptions
	// perLetter is how many samples the voice takes for a letter at speed 1, by the phrases so
	// far; 0: unknown.
	perLetter float64
}

// fitted is a synthesised phrase.
type fitted struct {
	engine.Speech
	begin, end int // of its voice, in samples
}

// fit synthesises text so that its voice takes want samples at the voice's rate, as closely as
// the voice can, and at most most samples if possible.
func (f *fitter) fit(ctx context.Context, text string, want, most int) (fitted, error) {
	letters := float64(max(len(text), 1))
	speed := 1.0
	if f.perLetter > 0 {
		speed = clampSpeed(f.perLetter * letters / float64(max(want, 1)))
	}
	var best fitted
	off := math.Inf(1)
	for range maxTries {
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
		if took > most {
			far += float64(took-most) / float64(max(want, 1))
		}
		if far < off {
			best, off = fitted{said, begin, end}, far
		}
		next := clampSpeed(speed * float64(took) / float64(max(min(want, most), 1)))
		if far <= fitting || math.Abs(next/speed-1) < 0.01 {
			break
		}
		speed = next
	}
	return best, nil
}

// clampSpeed limits a speed to what is still intelligible.
func clampSpeed(speed float64) float64 {
	return min(max(speed, contract.MinSpeed), contract.MaxSpeed)
}
