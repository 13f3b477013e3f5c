package onnx

import (
	"context"
	"errors"
	"math"

	"parley/appliance/engine"
)

const (
	// maxModelSpeed is the most that the model is told. Each id lasts a frame at least, and
	// half of one more than it should, since lengths are rounded up: told 2, a voice is
	// 1.6 times as fast, and told 3 to 4 twice as fast. Beyond that vowels are as short
	// as everything else.
	maxModelSpeed = 4
	// maxStretch is by how much lengths are stretched at most: told 0.25, a voice takes 3.2
	// times as long.
	maxStretch = 2
)

// runEncoder runs the front part. Where another speed than the voice's own is asked for,
// it is run once more, with lengths that make the text as long as that: a front takes
// a tenth of the time of what is behind it.
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
		return nil // another exporter's: what it has there is something else
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

// stretchFactor is by what lengths in frames, as the model has them for a speed, are to be
// multiplied, so that the whole takes the time that it has at speed 1, by speed.
func stretchFactor(lengths []float32, speed float64) float64 {
	want := int(math.Round(float64(framesAt(lengths, speed)) / speed))
	low, high := min(speed/maxModelSpeed, 1), float64(maxStretch)
	for range 20 { // to a millionth
		if middle := math.Sqrt(low * high); framesAt(lengths, middle) < want {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// framesAt is how many frames lengths have that are multiplied, each rounded up as the
// model does.
func framesAt(lengths []float32, by float64) (sum int) {
	for _, l := range lengths {
		sum += int(math.Ceil(float64(l * float32(by))))
	}
	return sum
}
