package onnx

import (
	"context"
	"errors"
	"fmt"

	"parley/appliance/engine"
)

const (
	// piperHop is the number of samples of a frame of a Piper model.
	piperHop = 256
	// coarseRate is the number of values per frame between the two parts of the decoder.
	coarseRate = 8
	// piperThreads is how many cores one call uses: two make it half as fast again as one, if both
	// are free.
	piperThreads = 2

	// firstPiece is the length of the first piece of sound in frames, 0.26 s at 22,050 Hz: the
	// listener waits for it, and it plays while the next one is made. longestPiece and longestStep
	// limit a run of the last stage and of the stages before it. What they compute again at each
	// joint, 20 frames and 64, costs less the fewer joints there are, but no run may hold two slow
	// cores for more than 60 ms.
	firstPiece, longestPiece, longestStep = 22, 80, 320
	// unhurriedPiece and unhurriedStep are the same limits if nobody waits for the first piece;
	// such runs yield to more urgent work. The last stage is fastest in pieces of 120: 0.32 ms a
	// frame, 0.33 in those of 80 and 0.36 in one of 960. The flow takes 0.07 in steps of 640 and
	// 0.08 to 0.1 in shorter ones.
	unhurriedPiece, unhurriedStep = 120, 640
	// secondStep is the length of the step of the earlier stages after an urgent first piece, in
	// one passage of the gate. The second piece must be ready before the first has been played,
	// even if a language model takes a step in each gap between passages.
	secondStep = 160
	// shortStep is the length up to which all stages run in one passage.
	shortStep = 2 * firstPiece
)

// streamedSound is the sound of one phrase as the model computes it.
type streamedSound struct {
	voice      *Piper
	frames     []float32 // of each id
	begin      int       // first frame to emit
	end        int       // frame after the last to emit
	whole      int       // total frames
	buffers    [stageCount + 1]*frameBuffer
	step       int
	first      []float32 // the first piece, if it was made together with the encoder's output
	longPieces bool      // nobody waits for the first piece
}

// shortText is how many ids a text may have for its first sound to be made in the same passage of
// the gate as the encoder's output: some nine words, 60 ms on two slow cores in all. In between, a
// language model would take its next step.
const shortText = 90

// synthesize runs the encoder on a phrase, and returns its sound and the frames of each id.
func (p *Piper) synthesize(ctx context.Context, b phrase, o engine.SpeakOptions) (phraseSound, []float32, error) {
	if p.wholeModel != nil {
		sound, err := p.synthesizeWhole(ctx, b, o)
		return sound, sound.frames, err
	}
	// A phrase after another one uses long pieces too. That depends on the phrase only and not on
	// whether a caller waits, so the same text always gives the same samples.
	sound := &streamedSound{voice: p, longPieces: o.LongPieces || b.index > 0}
	err := sound.atGate(ctx, o.Urgency, func(ctx context.Context) (err error) {
		if err = sound.runEncoder(ctx, b, o); err != nil {
			return err
		}
		if !sound.longPieces && len(b.ids) <= shortText && sound.end > sound.begin {
			sound.first, err = sound.nextPiece(ctx)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return sound, sound.frames, nil
}

// runEncoder runs the encoder.
func (s *streamedSound) runEncoder(ctx context.Context, b phrase, o engine.SpeakOptions) (err error) {
	p := s.voice
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
		return fmt.Errorf("onnx: %s: durations for %d ids, expected %d", p.encoder.name, len(frames), len(b.ids))
	}
	s.frames, s.begin, s.end, s.whole = frames, framesOf(frames[:b.begin]), framesOf(frames[:b.end]), framesOf(frames)
	shape := outputs[0].GetShape()
	if len(shape) != 3 || shape[0] != 1 || int(shape[2]) != s.whole {
		return fmt.Errorf("onnx: %s: a latent of shape %v for %d frames of %d ids", p.encoder.name, shape, s.whole,
			len(frames))
	}
	s.buffers[flowStage] = newFrameBuffer(latent, int(shape[1]), s.whole)
	for i, at := stageCount, s.begin; i > flowStage; i-- { // each stage must start where the next one looks back to
		s.buffers[i] = &frameBuffer{begin: at * p.rateUpTo(i)}
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

// length and skipped implement phraseSound.
func (s *streamedSound) length() int  { return (s.end - s.begin) * piperHop }
func (s *streamedSound) skipped() int { return s.begin * piperHop }

// rateUpTo returns the positions per frame before stage i.
func (p *Piper) rateUpTo(i int) int {
	rate := 1
	for _, s := range p.stages[:i] {
		rate *= s.rate
	}
	return rate
}

// reachOf returns the reach of stage i in whole frames.
func (p *Piper) reachOf(i int) int {
	rate := p.rateUpTo(i)
	return (p.stages[i].reach + rate - 1) / rate
}

// made returns the frame up to which there is sound.
func (s *streamedSound) made() int { return s.buffers[stageCount].end() / piperHop }

// nextEnds returns the ends of the next step and its next piece. An urgent first piece is as short
// as possible. The step after it is as long as allowed, since each joint costs the flow 64 frames;
// and no piece is longer than twice what was made before it, so that it is ready in time. If nobody
// waits, both have the length that costs least.
func (s *streamedSound) nextEnds() (step, piece int) {
	at := s.made()
	left, made := s.end-at, at-s.begin
	mostStep, mostPiece := longestStep, min(max(firstPiece, 2*made), longestPiece)
	switch {
	case s.longPieces:
		mostStep, mostPiece = unhurriedStep, unhurriedPiece
	case s.urgent():
		mostStep = secondStep
	}
	if at >= s.step {
		switch {
		case made == 0 && !s.longPieces && left > firstPiece:
			s.step = at + min(firstPiece, (left+1)/2)
		case left < mostStep+firstPiece:
			s.step = s.end
		default:
			s.step = at + evenPart(left, mostStep)
		}
	}
	return s.step, at + evenPart(s.step-at, mostPiece)
}

// urgent reports whether a listener waits for the next sound, or soon will.
func (s *streamedSound) urgent() bool { return !s.longPieces && s.made()-s.begin <= firstPiece }

// evenPart returns the length of the first of the equal parts, of at most most, into which length
// is divided, so that no short rest is left.
func evenPart(length, most int) int {
	n := max((length+most-1)/most, 1)
	return (length + n - 1) / n
}

// piece returns the next piece of sound, or nil at the end. An urgent first piece passes the gate
// once, as does a short rest; otherwise each stage passes separately.
func (s *streamedSound) piece(ctx context.Context, u *engine.Urgency) (pcm []float32, err error) {
	if pcm, s.first = s.first, nil; pcm != nil || s.made() >= s.end {
		return pcm, nil
	}
	step, to := s.nextEnds()
	if s.made() == s.begin && !s.longPieces || step-s.made() <= shortStep {
		err = s.atGate(ctx, u, func(ctx context.Context) error { pcm, err = s.nextPiece(ctx); return err })
		return pcm, err
	}
	if !s.prepared(to) {
		passages := []func(context.Context, int) error{s.flow, s.coarse}
		if s.urgent() {
			passages = []func(context.Context, int) error{s.prepare}
		}
		for _, part := range passages {
			if err := s.atGate(ctx, u, func(ctx context.Context) error { return part(ctx, step) }); err != nil {
				return nil, err
			}
		}
	}
	err = s.atGate(ctx, u, func(ctx context.Context) error { pcm, err = s.sound(ctx, to); return err })
	return pcm, err
}

// atGate runs work with the cores for it. If nobody waits for the sound, work yields once.
func (s *streamedSound) atGate(ctx context.Context, u *engine.Urgency, work func(context.Context) error) error {
	if s.longPieces {
		return s.voice.gate.DoRestartableOnce(ctx, u, s.voice.threads(), work)
	}
	return s.voice.atGate(ctx, u, func() error { return work(ctx) })
}

// nextPiece makes the next piece in one passage.
func (s *streamedSound) nextPiece(ctx context.Context) ([]float32, error) {
	step, to := s.nextEnds()
	if !s.prepared(to) {
		if err := s.prepare(ctx, step); err != nil {
			return nil, err
		}
	}
	return s.sound(ctx, to)
}

// prepared reports whether the last stage can make sound up to a frame.
func (s *streamedSound) prepared(to int) bool {
	return s.buffers[fineStage].end() >= min(to+s.voice.reachOf(fineStage), s.whole)*coarseRate
}

// sound runs the last stage up to a frame.
func (s *streamedSound) sound(ctx context.Context, to int) ([]float32, error) {
	out := s.buffers[stageCount]
	if err := s.voice.stages[fineStage].extend(ctx, out, s.buffers[fineStage], to*coarseRate,
		s.whole*coarseRate); err != nil {
		return nil, err
	}
	pcm := out.rows[0]
	out.dropBefore(out.end())
	return pcm, nil
}

// prepare runs the two stages before the last.
func (s *streamedSound) prepare(ctx context.Context, step int) error {
	if err := s.flow(ctx, step); err != nil {
		return err
	}
	return s.coarse(ctx, step)
}

// flow runs the first stage, as far as the last stage needs it to reach step.
func (s *streamedSound) flow(ctx context.Context, step int) error {
	_, to := s.needed(step)
	return s.voice.stages[flowStage].extend(ctx, s.buffers[flowStage+1], s.buffers[flowStage], to, s.whole)
}

// coarse runs the second stage likewise.
func (s *streamedSound) coarse(ctx context.Context, step int) error {
	to, _ := s.needed(step)
	return s.voice.stages[coarseStage].extend(ctx, s.buffers[coarseStage+1], s.buffers[coarseStage], to, s.whole)
}

// needed returns how far the stages before the last must run for sound up to step.
func (s *streamedSound) needed(step int) (coarse, flow int) {
	allCoarse := min(s.end+s.voice.reachOf(fineStage), s.whole)
	allFlow := min(allCoarse+s.voice.reachOf(coarseStage), s.whole)
	coarse = s.voice.extendTo(coarseStage, step+s.voice.reachOf(fineStage), allCoarse)
	return coarse, s.voice.extendTo(flowStage, coarse+s.voice.reachOf(coarseStage), allFlow)
}

// extendTo returns to, or all if the stage would look nearly that far anyway; the joint would cost
// more than the rest.
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
