package expression

import (
	"encoding/binary"
	"math"
	"slices"
)

// This file shows what the models say before it is mapped to the 48 names, so that it can be compared with what
// people say.

// TextLabels returns the names of the text model's labels, in the order of the data sets.
func TextLabels() []string { return slices.Clone(textLabels[:]) }

// HasLabels reports for each of TextLabels whether a text has it: whether its probability is above the label's
// threshold, which is the one with the highest F1 on the development split of GoEmotions.
func (m *Meter) HasLabels(text string) []bool {
	thresholds := textWeights[textBuckets+2*4*len(textLabels):]
	has := make([]bool, len(textLabels))
	for i, p := range m.text.probabilities(text) {
		has[i] = p > float64(math.Float32frombits(binary.LittleEndian.Uint32(thresholds[4*i:])))
	}
	return has
}

// VoiceFeatures returns the features of a recording (mono at 16 kHz) that the voice model reads, in its order.
func (m *Meter) VoiceFeatures(pcm []float32) []float64 {
	s := m.NewSound()
	s.Hear(pcm)
	f := describe(s.all())
	values := make([]float64, len(m.voice.Features))
	for i, name := range m.voice.Features {
		values[i] = f[name]
	}
	return values
}
