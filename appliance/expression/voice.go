package expression

import "math"

// The classes of EmoDB (Burkhardt et al. 2005), in the order of the weights; the arousal of each; and how
// frequent each is expected to be in a conversation.
var (
	voiceClasses = [...]string{"anger", "boredom", "disgust", "fear", "happiness", "sadness", "neutral"}
	voiceArousal = [...]float64{0.59, -0.62, 0.35, 0.60, 0.51, -0.27, 0}
	voicePrior   = [...]float64{0.08, 0.08, 0.05, 0.08, 0.17, 0.10, 0.44}
)

const (
	maxDeviation = 5 // of a feature from its mean, in standard deviations
	// strangeFrom is the mean deviation from which a sound is not speech: 99 of 100 recordings of speech stay
	// below 1.21.
	strangeFrom = 1.25
	// minVoiced is how many frames with a pitch make a sound a voice: fewer than the shortest word has.
	minVoiced   = 10
	temperature = 1.2  // actors show feelings more clearly than other people
	priorShare  = 0.15 // share of voicePrior in the result
)

// voiceModel is a logistic regression over the features of a sound.
type voiceModel struct {
	Features  []string
	Mean, Std []float64
	Coef      [][]float64 // one row for each class
	Intercept []float64
}

// normalised returns the features in the model's units, and the mean of their deviations as a measure of
// strangeness.
func (m voiceModel) normalised(f features) (z []float64, strange float64) {
	z = make([]float64, len(m.Features))
	for i, name := range m.Features {
		z[i] = min(max((f[name]-m.Mean[i])/m.Std[i], -maxDeviation), maxDeviation)
		strange += math.Abs(z[i]) / float64(len(z))
	}
	return z, strange
}

// probabilities returns the probabilities of the classes, which sum to 1. A higher warmth makes them more
// even.
func (m voiceModel) probabilities(z []float64, warmth float64) (p [len(voiceClasses)]float64) {
	most := math.Inf(-1)
	for i, row := range m.Coef {
		p[i] = m.Intercept[i]
		for k, c := range row {
			p[i] += c * z[k]
		}
		most = max(most, p[i])
	}
	var sum float64
	for i := range p {
		p[i] = math.Exp((p[i] - most) / warmth)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// tone returns the model's probabilities blended with voicePrior. For a sound that is not speech it returns
// voicePrior alone, and false.
func (m voiceModel) tone(f features) (_ [len(voiceClasses)]float64, speech bool) {
	z, strange := m.normalised(f)
	if strange > strangeFrom || math.IsNaN(strange) || f["voiced"] < minVoiced {
		return voicePrior, false
	}
	p := m.probabilities(z, temperature)
	for i := range p {
		p[i] = (1-priorShare)*p[i] + priorShare*voicePrior[i]
	}
	return p, true
}
