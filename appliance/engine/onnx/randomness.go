package onnx

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"parley/appliance/engine"
)

// Chance is ours and not ONNX Runtime's: its generator goes on from call to
// call, so that nobody could make the same sound again.

// newRand are the dice of a call: the same for the same seed and number.
func newRand(o engine.SpeakOptions, number uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(o.Seed), number))
}

const (
	// piperNoise and piperLengthNoise are the scales of the noise in the sound and
	// in the durations with which Piper's voices were taught to be used.
	piperNoise, piperLengthNoise = 0.667, 0.8
	// speedDeviation is by how much the pace of a voice varies whose model takes no
	// noise: a twenty-fifth, as a standard deviation.
	speedDeviation = 0.04
)

// noise are n numbers of a normal distribution, all 0 where nothing is left to
// chance.
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

// encoderInputs are what the front is given: its numbers, and noise where it takes
// some. A voice whose front does not varies in its pace alone.
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

// addNoise moves the numbers of a latent, each as far as it may be from its mean.
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

// throughput is by how much faster or slower a text is said.
func randomSpeed(dice *rand.Rand, temperature float64) float64 {
	return math.Exp(temperature * speedDeviation * dice.NormFloat64())
}
