package onnx

import (
	"context"
	"errors"

	"parley/appliance/engine"
)

// wholeSound is the sound of a phrase whose model cannot be cut: a single piece.
type wholeSound struct {
	pcm     []float32 // nil after piece has returned it
	samples int
	skip    int // samples before pcm
	frames  []float32
}

// synthesizeWhole runs the whole model.
func (p *Piper) synthesizeWhole(ctx context.Context, b phrase, o engine.SpeakOptions) (w *wholeSound, err error) {
	w = &wholeSound{}
	err = p.atGate(ctx, o.Urgency, func() error {
		w.pcm, w.frames, err = p.runWhole(b.ids, o.Speed*o.ModelSpeed*randomSpeed(newRand(o, b.index), o.Temperature))
		return err
	})
	if len(w.frames) == len(b.ids) {
		w.skip = min(framesOf(w.frames[:b.begin])*piperHop, len(w.pcm))
		w.pcm = w.pcm[:min(framesOf(w.frames[:b.end])*piperHop, len(w.pcm))]
	}
	w.pcm = w.pcm[w.skip:]
	w.samples = len(w.pcm)
	return w, err
}

func (w *wholeSound) length() int  { return w.samples }
func (w *wholeSound) skipped() int { return w.skip }

func (w *wholeSound) piece(context.Context, *engine.Urgency) ([]float32, error) {
	pcm := w.pcm
	w.pcm = nil
	return pcm, nil
}

// modelInputs returns the inputs of the model. Its noise scales are 0: a Piper model adds noise to
// the sound and to the durations, and without it the same text gives the same samples, bit for bit,
// at the same word error. If the noise is an input, the scale of the durations' noise is 1.
func (p *Piper) modelInputs(ids []int64, speed float64) (inputs []Value, err error) {
	in := func(v Value, e error) {
		if e != nil {
			err = errors.Join(err, e)
			return
		}
		inputs = append(inputs, v)
	}
	n := int64(len(ids))
	in(NewTensor(ids, 1, n))
	in(NewTensor([]int64{n}, 1))
	in(NewTensor(p.scales(speed), 3))
	if p.config.NumSpeakers > 1 {
		in(NewTensor([]int64{0}, 1))
	}
	return inputs, err
}

// scalesInput is the index of the scales among the inputs.
const scalesInput = 2

// scales returns the scales of the noise in the sound, of the duration, and of the noise in the
// duration.
func (p *Piper) scales(speed float64) []float32 {
	var durationNoise float32
	if p.noiseInput {
		durationNoise = 1
	}
	return []float32{0, float32(p.config.Inference.LengthScale / speed), durationNoise}
}

// runWhole runs the whole model and returns its sound and, if the model reports them, the frames of
// each id.
func (p *Piper) runWhole(ids []int64, speed float64) (pcm, frames []float32, err error) {
	inputs, err := p.modelInputs(ids, speed)
	outputs := make([]Value, 1, 2)
	if p.hasDurations {
		outputs = append(outputs, nil)
	}
	defer func() { err = errors.Join(err, destroy(inputs), destroy(outputs)) }()
	if err != nil {
		return nil, nil, err
	}
	if err := p.wholeModel.Run(inputs, outputs); err != nil {
		return nil, nil, err
	}
	if pcm, err = Floats(outputs[0]); err != nil || !p.hasDurations {
		return pcm, nil, err
	}
	frames, err = Floats(outputs[1])
	return pcm, frames, err
}
