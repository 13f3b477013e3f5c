package onnx

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"parley/appliance/engine"
)

// Random numbers come from this package and not from ONNX Runtime, whose generator continues from
// call to call, so that no sound could be reproduced.

// newRand returns the random generator of a call: the same for the same seed and number.
func newRand(o engine.SpeakOptions, number uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(o.Seed), number))
}

const (
	// piperNoise and piperLengthNoise are the scales of the noise in the sound and in the durations
	// with which Piper's voices were trained.
	piperNoise, piperLengthNoise = 0.667, 0.8
	// speedDeviation is the standard deviation of the speed of a voice whose model has no noise
	// input: a twenty-fifth.
	speedDeviation = 0.04
)

// noise returns n normally distributed numbers, or zeros if scale is 0.
func noise(dice *rand.Rand, n int, scale float64) []float32 {
	out := make([]float32, n)
	if scale == 0 {
		return out
	}
	for i := range out {
		out[i] = float32(scale * dice.NormFloat64())
	}
	return out
}

// encoderInputs returns the inputs of the encoder, including noise if it accepts any. Without noise
// input only the speed varies.
func (p *Piper) encoderInputs(ids []int64, o engine.SpeakOptions, dice *rand.Rand) ([]Value, error) {
	if !p.noiseInput {
		return p.modelInputs(ids, o.Speed*o.ModelSpeed*randomSpeed(dice, o.Temperature))
	}
	inputs, err := p.modelInputs(ids, o.Speed*o.ModelSpeed)
	n := len(ids)
	v, wrong := NewTensor(noise(dice, lengthNoiseChannels*n, piperLengthNoise*o.Temperature), 1, lengthNoiseChannels,
		int64(n))
	if wrong == nil {
		inputs = append(inputs, v)
	}
	return inputs, errors.Join(err, wrong)
}

// addNoise moves the numbers of a latent by noise with their standard deviations in spread.
func addNoise(latent []float32, spread Value, dice *rand.Rand, temperature float64) error {
	far, err := Floats(spread)
	if err != nil {
		return err
	}
	if len(far) != len(latent) {
		return fmt.Errorf("onnx: a latent of %d numbers has a spread of %d", len(latent), len(far))
	}
	for i, x := range noise(dice, len(latent), piperNoise*temperature) {
		latent[i] += far[i] * x
	}
	return nil
}

// randomSpeed returns a random speed factor.
func randomSpeed(dice *rand.Rand, temperature float64) float64 {
	return math.Exp(temperature * speedDeviation * dice.NormFloat64())
}
