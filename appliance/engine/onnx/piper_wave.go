package onnx

import (
	"context"
	"errors"
	"fmt"

	"parley/appliance/engine"
)

const (
	// piperHop is how many samples one frame of a Piper model has.
	piperHop = 256
	// coarseRate is how many values a frame has half way through the decoder.
	coarseRate = 8
	// piperThreads is how many cores one call takes: two make it a quarter
	// faster than one.
	piperThreads = 2

	// firstPiece is how many frames the first piece of sound has, and longestPiece
	// how many the longest: 0.26 and 1 s at 22,050 Hz. A longer one would hold
	// the cores for more than 60 ms on two slow ones.
	firstPiece, longestPiece = 22, 86
	// longestStep is for how many frames the parts before the last are run at
	// once: what they compute again at each joint is less the fewer there are.
	longestStep = 2 * longestPiece
)

// wave is the sound of one breath as it comes out of the model.
type wave struct {
	p      *Piper
	frames []float32 // each id's
	begin  int       // first frame that is wanted
	end    int       // and the one behind the last
	whole  int       // frames of all of it
	tracks [parts + 1]*track
	step   int
}

// wave has the model take a breath, and returns the sound that comes of it and
// the frames of each id.
func (p *Piper) wave(ctx context.Context, b breath, o engine.SpeakOptions) (pieces, []float32, error) {
	if p.whole != nil {
		w, err := p.inOne(ctx, b, o)
		return w, w.frames, err
	}
	var w *wave
	err := p.through(ctx, o.Urgency, func() (err error) {
		w, err = p.latent(b, o.Speed)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return w, w.frames, nil
}

// latent runs the front part.
func (p *Piper) latent(b breath, speed float64) (_ *wave, err error) {
	inputs, err := p.numbers(b.ids, speed)
	outputs := make([]Value, len(frontOf(false).outputs))
	defer func() { err = errors.Join(err, destroy(inputs), destroy(outputs)) }()
	if err != nil {
		return nil, err
	}
	if err := p.front.Run(inputs, outputs); err != nil {
		return nil, err
	}
	latent, err1 := Floats(outputs[0])
	frames, err2 := Floats(outputs[2])
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if len(frames) != len(b.ids) {
		return nil, fmt.Errorf("onnx: %s: durations of %d ids, given were %d", p.front.name, len(frames), len(b.ids))
	}
	w := &wave{p: p, frames: frames, begin: framesOf(frames[:b.begin]), end: framesOf(frames[:b.end]), whole: framesOf(frames)}
	shape := outputs[0].GetShape()
	if len(shape) != 3 || shape[0] != 1 || int(shape[2]) != w.whole {
		return nil, fmt.Errorf("onnx: %s: a latent of shape %v for %d frames of %d ids", p.front.name, shape, w.whole, len(frames))
	}
	w.tracks[flowPart] = newTrack(latent, int(shape[1]), w.whole)
	for i, at := parts, w.begin; i > flowPart; i-- { // each part is wanted from where the next one looks back to
		w.tracks[i] = &track{begin: at * p.rateUpTo(i)}
		at = max(at-p.reachOf(i-1), 0)
	}
	return w, nil
}

func framesOf(each []float32) (sum int) {
	for _, f := range each {
		sum += int(f)
	}
	return sum
}

// length and skipped are those of pieces.
func (w *wave) length() int  { return (w.end - w.begin) * piperHop }
func (w *wave) skipped() int { return w.begin * piperHop }

// rateUpTo is how many places a frame has before a part.
func (p *Piper) rateUpTo(i int) int {
	rate := 1
	for _, s := range p.behind[:i] {
		rate *= s.rate
	}
	return rate
}

// reachOf is how far a part looks, in whole frames.
func (p *Piper) reachOf(i int) int {
	rate := p.rateUpTo(i)
	return (p.behind[i].reach + rate - 1) / rate
}

// made is up to which frame there is sound.
func (w *wave) made() int { return w.tracks[parts].end() / piperHop }

// next is up to where the next step and the next piece of it go. Pieces grow:
// the first is short because it is waited for, the later ones are as long as
// what was made before them, for then there is time to make them.
func (w *wave) next() (step, piece int) {
	at := w.made()
	left := w.end - at
	grown := min(max(firstPiece, at-w.begin), longestStep)
	if at >= w.step {
		w.step = at + evenly(left, grown)
	}
	return w.step, at + evenly(w.step-at, longestPiece)
}

// evenly is the length of the first of the equal parts, at most so long, in
// which something is cut, so that no scrap is left at its end.
func evenly(length, most int) int {
	n := max((length+most-1)/most, 1)
	return (length + n - 1) / n
}

// piece makes the next piece of sound; none is left when it is nil. It passes
// the gate for what comes before the last part and for the last part, each by
// itself.
func (w *wave) piece(ctx context.Context, u *engine.Urgency) ([]float32, error) {
	if w.made() >= w.end {
		return nil, nil
	}
	step, to := w.next()
	if w.tracks[finePart].end() < min(to+w.p.reachOf(finePart), w.whole)*coarseRate {
		if err := w.p.through(ctx, u, func() error { return w.prepare(step) }); err != nil {
			return nil, err
		}
	}
	out := w.tracks[parts]
	err := w.p.through(ctx, u, func() error {
		return w.p.behind[finePart].extend(out, w.tracks[finePart], to*coarseRate, w.whole*coarseRate)
	})
	if err != nil {
		return nil, err
	}
	pcm := out.rows[0]
	out.forget(out.end())
	return pcm, nil
}

// prepare runs the parts before the last, so far that the last can go to step.
func (w *wave) prepare(step int) error {
	coarse := w.p.enough(step+w.p.reachOf(finePart), w.whole)
	flow := w.p.enough(coarse+w.p.reachOf(coarsePart), w.whole)
	if err := w.p.behind[flowPart].extend(w.tracks[flowPart+1], w.tracks[flowPart], flow, w.whole); err != nil {
		return err
	}
	return w.p.behind[coarsePart].extend(w.tracks[coarsePart+1], w.tracks[coarsePart], coarse, w.whole)
}

// enough is to, or all there is where little more is left.
func (p *Piper) enough(to, whole int) int {
	if whole-to < firstPiece {
		return whole
	}
	return to
}

// through runs work with the cores for it.
func (p *Piper) through(ctx context.Context, u *engine.Urgency, work func() error) error {
	return p.gate.Do(ctx, u, p.threads(), work)
}

func (p *Piper) threads() int {
	if p.whole != nil {
		return p.whole.Threads()
	}
	return p.front.Threads()
}
