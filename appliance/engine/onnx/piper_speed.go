package onnx

import (
	"context"
	"errors"
	"math"

	"parley/appliance/engine"
)

const (
	// maxModelSpeed is the highest speed given to the model. Each id lasts at least a frame, and
	// lengths are rounded up, half a frame on average: given 2, a voice is 1.6 times as fast, and
	// given 3 to 4 twice as fast. Beyond that vowels are as short as everything else.
	maxModelSpeed = 4
	// maxStretch is the largest factor for lengths: given 0.25, a voice takes 3.2 times as long.
	maxStretch = 2
)

// runEncoder runs the encoder. At another speed than 1 it runs it a second time, with lengths
// corrected to that speed; the encoder takes a tenth of the time of the stages.
func (p *Piper) runEncoder(ctx context.Context, inputs, outputs []Value, b phrase, o engine.SpeakOptions) error {
	if err := p.encoder.RunUntil(ctx, inputs, outputs); err != nil || o.Speed == 1 {
		return err
	}
	frames, err1 := Floats(outputs[2])
	lengths, err2 := Floats(outputs[3])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if len(frames) != len(lengths) || len(frames) < b.end || framesAt(lengths, 1) != framesOf(frames) {
		return nil // another exporter: its tensors have another meaning
	}
	scales, err := Floats(inputs[scalesInput])
	if err != nil {
		return err
	}
	scales[1] *= float32(stretchFactor(lengths[b.begin:b.end], o.Speed))
	if err := destroy(outputs); err != nil {
		return err
	}
	clear(outputs)
	return p.encoder.RunUntil(ctx, inputs, outputs)
}

// stretchFactor returns the factor for lengths, in frames, with which the whole lasts as long as at
// speed 1 divided by speed.
func stretchFactor(lengths []float32, speed float64) float64 {
	want := int(math.Round(float64(framesAt(lengths, speed)) / speed))
	low, high := min(speed/maxModelSpeed, 1), float64(maxStretch)
	for range 20 { // accurate to a millionth
		if middle := math.Sqrt(low * high); framesAt(lengths, middle) < want {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// framesAt returns the total number of frames of scaled lengths, each rounded up as in the model.
func framesAt(lengths []float32, by float64) (sum int) {
	for _, l := range lengths {
		sum += int(math.Ceil(float64(l * float32(by))))
	}
	return sum
}
