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
	// piperThreads is how many cores one call takes: two make it half as fast
	// again as one where both are free.
	piperThreads = 2

	// firstPiece is how many frames the first piece of sound has, 0.26 s at
	// 22,050 Hz: it is waited for, and plays while the next is made. longestPiece
	// and longestStep are how many the last part of the model, and each of those
	// before it, are run for at once: what they compute again at each joint, 64
	// frames and 20, costs less the fewer there are, but none may hold two slow cores
	// for more than 60 ms.
	firstPiece, longestPiece, longestStep = 22, 80, 320
	// unhurriedPiece and unhurriedStep are the same where nobody waits for the first piece: such
	// passages give way to whoever is more urgent. In pieces of 120 the last part is
	// quickest, 0.32 ms a frame where it is 0.33 in those of 80 and 0.36 in one of 960;
	// the flow takes 0.07 in steps of 640 and 0.08 to 0.1 in shorter ones.
	unhurriedPiece, unhurriedStep = 120, 640
	// secondStep is how many the parts before the last are run for behind a first
	// piece that was waited for, in one passage: the second piece has to be there
	// before the first has been played, also where a language model takes a step in
	// each gap between passages.
	secondStep = 160
	// shortStep is how many frames all parts behind the front are run for in one
	// passage.
	shortStep = 2 * firstPiece
)

// sound is the sound of one breath as it comes out of the model.
type streamedSound struct {
	p          *Piper
	frames     []float32 // each id's
	begin      int       // first frame that is wanted
	end        int       // and the one behind the last
	whole      int       // frames of all of it
	buffers    [stageCount + 1]*frameBuffer
	step       int
	first      []float32 // the first piece, where it was made with the text
	longPieces bool      // nobody waits for the first piece
}

// shortText is how many ids a text may have whose first sound is made in the
// same passage of the gate as its front part: some nine words, all of it 60 ms
// on two slow cores. In between, a language model would take its next step.
const shortText = 90

// sound has the model take a breath, and returns the sound that comes of it and
// the frames of each id.
func (p *Piper) synthesize(ctx context.Context, b phrase, o engine.SpeakOptions) (phraseSound, []float32, error) {
	if p.wholeModel != nil {
		w, err := p.synthesizeWhole(ctx, b, o)
		return w, w.frames, err
	}
	// Also of a breath behind another: by what it is, not by who waits now, so that
	// the same text always gives the same samples.
	w := &streamedSound{p: p, longPieces: o.LongPieces || b.index > 0}
	err := w.atGate(ctx, o.Urgency, func(ctx context.Context) (err error) {
		if err = w.runEncoder(ctx, b, o); err != nil {
			return err
		}
		if !w.longPieces && len(b.ids) <= shortText && w.end > w.begin {
			w.first, err = w.nextPiece(ctx)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return w, w.frames, nil
}

// runEncoder runs the front part.
func (w *streamedSound) runEncoder(ctx context.Context, b phrase, o engine.SpeakOptions) (err error) {
	p := w.p
	dice := newRand(o, b.index)
	inputs, err := p.encoderInputs(b.ids, o, dice)
	outputs := make([]Value, p.encoderOutputs)
	defer func() { err = errors.Join(err, destroy(inputs), destroy(outputs)) }()
	if err != nil {
		return err
	}
	if err := p.runEncoder(ctx, inputs, outputs, b, o); err != nil {
		return err
	}
	latent, err1 := Floats(outputs[0])
	frames, err2 := Floats(outputs[2])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if p.noiseInput && o.Temperature > 0 {
		if err := addNoise(latent, outputs[4], dice, o.Temperature); err != nil {
			return err
		}
	}
	if len(frames) != len(b.ids) {
		return fmt.Errorf("onnx: %s: durations of %d ids, given were %d", p.encoder.name, len(frames), len(b.ids))
	}
	w.frames, w.begin, w.end, w.whole = frames, framesOf(frames[:b.begin]), framesOf(frames[:b.end]), framesOf(frames)
	shape := outputs[0].GetShape()
	if len(shape) != 3 || shape[0] != 1 || int(shape[2]) != w.whole {
		return fmt.Errorf("onnx: %s: a latent of shape %v for %d frames of %d ids", p.encoder.name, shape, w.whole,
			len(frames))
	}
	w.buffers[flowStage] = newTrack(latent, int(shape[1]), w.whole)
	for i, at := stageCount, w.begin; i > flowStage; i-- { // each part is wanted from where the next one looks back to
		w.buffers[i] = &frameBuffer{begin: at * p.rateUpTo(i)}
		at = max(at-p.reachOf(i-1), 0)
	}
	return nil
}

func framesOf(each []float32) (sum int) {
	for _, f := range each {
		sum += int(f)
	}
	return sum
}

// length and skipped are those of pieces.
func (w *streamedSound) length() int  { return (w.end - w.begin) * piperHop }
func (w *streamedSound) skipped() int { return w.begin * piperHop }

// rateUpTo is how many places a frame has before a part.
func (p *Piper) rateUpTo(i int) int {
	rate := 1
	for _, s := range p.stages[:i] {
		rate *= s.rate
	}
	return rate
}

// reachOf is how far a part looks, in whole frames.
func (p *Piper) reachOf(i int) int {
	rate := p.rateUpTo(i)
	return (p.stages[i].reach + rate - 1) / rate
}

// made is up to which frame there is sound.
func (w *streamedSound) made() int { return w.buffers[stageCount].end() / piperHop }

// nextEnds is up to where the next step and the next piece of it go. The first is
// as short as can be where it is waited for; the step behind it is as long as may
// be, since each joint costs the flow 64 frames more than there are; and no piece
// is longer than twice what was made before it, so that it is ready in time. Where
// nobody waits, each is as long as costs least.
func (w *streamedSound) nextEnds() (step, piece int) {
	at := w.made()
	left, made := w.end-at, at-w.begin
	mostStep, mostPiece := longestStep, min(max(firstPiece, 2*made), longestPiece)
	switch {
	case w.longPieces:
		mostStep, mostPiece = unhurriedStep, unhurriedPiece
	case w.urgent():
		mostStep = secondStep
	}
	if at >= w.step {
		switch {
		case made == 0 && !w.longPieces && left > firstPiece:
			w.step = at + min(firstPiece, (left+1)/2)
		case left < mostStep+firstPiece:
			w.step = w.end
		default:
			w.step = at + evenPart(left, mostStep)
		}
	}
	return w.step, at + evenPart(w.step-at, mostPiece)
}

// urgent reports whether what is made next is waited for, or will be soon.
func (w *streamedSound) urgent() bool { return !w.longPieces && w.made()-w.begin <= firstPiece }

// evenPart is the length of the first of the equal parts, at most so long, in
// which something is cut, so that no scrap is left at its end.
func evenPart(length, most int) int {
	n := max((length+most-1)/most, 1)
	return (length + n - 1) / n
}

// piece makes the next piece of sound; none is left when it is nil. The first that
// is waited for passes the gate once, and so does a short rest; others for each part
// by itself.
func (w *streamedSound) piece(ctx context.Context, u *engine.Urgency) (pcm []float32, err error) {
	if pcm, w.first = w.first, nil; pcm != nil || w.made() >= w.end {
		return pcm, nil
	}
	step, to := w.nextEnds()
	if w.made() == w.begin && !w.longPieces || step-w.made() <= shortStep {
		err = w.atGate(ctx, u, func(ctx context.Context) error { pcm, err = w.nextPiece(ctx); return err })
		return pcm, err
	}
	if !w.prepared(to) {
		passages := []func(context.Context, int) error{w.flow, w.coarse}
		if w.urgent() {
			passages = []func(context.Context, int) error{w.prepare}
		}
		for _, part := range passages {
			if err := w.atGate(ctx, u, func(ctx context.Context) error { return part(ctx, step) }); err != nil {
				return nil, err
			}
		}
	}
	err = w.atGate(ctx, u, func(ctx context.Context) error { pcm, err = w.sound(ctx, to); return err })
	return pcm, err
}

// atGate runs a passage with the cores for it. Where nobody waits for the sound, it
// gives way once.
func (w *streamedSound) atGate(ctx context.Context, u *engine.Urgency, work func(context.Context) error) error {
	if w.longPieces {
		return w.p.gate.DoRestartableOnce(ctx, u, w.p.threads(), work)
	}
	return w.p.atGate(ctx, u, func() error { return work(ctx) })
}

// nextPiece makes the next piece at once.
func (w *streamedSound) nextPiece(ctx context.Context) ([]float32, error) {
	step, to := w.nextEnds()
	if !w.prepared(to) {
		if err := w.prepare(ctx, step); err != nil {
			return nil, err
		}
	}
	return w.sound(ctx, to)
}

// prepared reports whether the last part can make sound up to a frame.
func (w *streamedSound) prepared(to int) bool {
	return w.buffers[fineStage].end() >= min(to+w.p.reachOf(fineStage), w.whole)*coarseRate
}

// sound runs the last part, up to a frame.
func (w *streamedSound) sound(ctx context.Context, to int) ([]float32, error) {
	out := w.buffers[stageCount]
	if err := w.p.stages[fineStage].extend(ctx, out, w.buffers[fineStage], to*coarseRate,
		w.whole*coarseRate); err != nil {
		return nil, err
	}
	pcm := out.rows[0]
	out.dropBefore(out.end())
	return pcm, nil
}

// setOptimization runs both parts before the last.
func (w *streamedSound) prepare(ctx context.Context, step int) error {
	if err := w.flow(ctx, step); err != nil {
		return err
	}
	return w.coarse(ctx, step)
}

// flow runs the first part behind the front, so far that the last can go to step.
func (w *streamedSound) flow(ctx context.Context, step int) error {
	_, to := w.needed(step)
	return w.p.stages[flowStage].extend(ctx, w.buffers[flowStage+1], w.buffers[flowStage], to, w.whole)
}

// coarse runs the part behind it.
func (w *streamedSound) coarse(ctx context.Context, step int) error {
	to, _ := w.needed(step)
	return w.p.stages[coarseStage].extend(ctx, w.buffers[coarseStage+1], w.buffers[coarseStage], to, w.whole)
}

// needed is how far the parts before the last have to be run for sound up to step.
func (w *streamedSound) needed(step int) (coarse, flow int) {
	allCoarse := min(w.end+w.p.reachOf(fineStage), w.whole)
	allFlow := min(allCoarse+w.p.reachOf(coarseStage), w.whole)
	coarse = w.p.extendTo(coarseStage, step+w.p.reachOf(fineStage), allCoarse)
	return coarse, w.p.extendTo(flowStage, coarse+w.p.reachOf(coarseStage), allFlow)
}

// extendTo is to, or all that is wanted of a part where it looks nearly as far
// anyway: what it would be run for once more is more than what is left.
func (p *Piper) extendTo(i, to, all int) int {
	if all-to < p.reachOf(i)+firstPiece {
		return all
	}
	return to
}

// atGate runs work with the cores for it.
func (p *Piper) atGate(ctx context.Context, u *engine.Urgency, work func() error) error {
	return p.gate.Do(ctx, u, p.threads(), work)
}

func (p *Piper) threads() int {
	if p.wholeModel != nil {
		return p.wholeModel.Threads()
	}
	return p.encoder.Threads()
}
