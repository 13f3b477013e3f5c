package bench

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

// emodbLetters are the letters of EmoDB's emotions, in the order of the voice model's classes.
const emodbLetters = "WLEAFTN"

// An example is a recording of EmoDB.
type example struct {
	speaker  string
	class    int
	features []float64
}

// voices adds the unweighted recall of the voice model: the mean of the recalls of all
// classes. Each speaker is judged by a model that was trained on the other speakers, as
// train/voice.py trains the model of the box, but on the recordings as they are only.
func (e expressionBench) voices(context.Context) error {
	if e.o.Expression.Voices == "" {
		return nil
	}
	examples, err := e.examples()
	if err != nil {
		return err
	}
	bySpeaker := map[string][]example{}
	for _, x := range examples {
		bySpeaker[x.speaker] = append(bySpeaker[x.speaker], x)
	}
	e.o.announce("training a voice model for each of %d speakers", len(bySpeaker))
	var right, all [len(emodbLetters)]float64
	for speaker, heard := range bySpeaker {
		var others []example
		for _, x := range examples {
			if x.speaker != speaker {
				others = append(others, x)
			}
		}
		m := trainVoices(others)
		for _, x := range heard {
			all[x.class]++
			right[x.class] += float64(count(m.class(x.features) == x.class))
		}
	}
	var recall float64
	for i := range all {
		recall += right[i] / max(1, all[i]) / float64(len(all))
	}
	e.against("voice_recall", recall, "", statedVoices,
		fmt.Sprintf("unweighted, %d recordings, speakers put away", len(examples)))
	return nil
}

// examples measures the recordings of EmoDB. The first two digits of a name are the speaker, and
// its sixth letter the emotion.
func (e expressionBench) examples() ([]example, error) {
	files, err := filepath.Glob(filepath.Join(e.o.Expression.Voices, "*.wav"))
	if err != nil {
		return nil, err
	}
	e.o.announce("measuring %d recordings", len(files))
	var all []example
	for _, path := range files {
		name := filepath.Base(path)
		if len(name) < 6 || !strings.Contains(emodbLetters, name[5:6]) {
			return nil, fmt.Errorf("%s is not named as EmoDB's recordings are: 03a01Wa.wav", path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		pcm, err := audio.DecodeAll(data, engine.SpeechRateHz)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, example{name[:2], strings.Index(emodbLetters, name[5:6]), e.meter.VoiceFeatures(pcm)})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no wav files", e.o.Expression.Voices)
	}
	return all, nil
}

// voiceRegression is a multinomial logistic regression over normalised features.
type voiceRegression struct {
	mean, deviation []float64
	weights         [len(emodbLetters)][]float64 // the last one of a class is its bias
}

// Of the training: the weight of the examples against the penalty of large weights, the largest
// deviation of a feature, and the steps of gradient descent, after which the recall is stable.
const (
	voiceC     = 0.05
	voiceClip  = 5
	voiceSteps = 400
)

// trainVoices fits the regression by gradient descent with Nesterov's momentum. Every class has
// the same weight in sum.
func trainVoices(examples []example) *voiceRegression {
	m := normalisation(examples)
	n := len(examples[0].features) + 1
	var perClass [len(emodbLetters)]float64
	inputs := make([][]float64, len(examples))
	for i, x := range examples {
		inputs[i] = m.input(x.features)
		perClass[x.class]++
	}
	var before, gradient [len(emodbLetters)][]float64
	for c := range m.weights {
		m.weights[c], before[c], gradient[c] = make([]float64, n), make([]float64, n), make([]float64, n)
	}
	// The gradient changes at most this much for a step of 1 (half the squared length of the inputs).
	steepest := 1.0
	weights := make([]float64, len(examples))
	for i, x := range inputs {
		weights[i] = voiceC * float64(len(examples)) / float64(len(perClass)) / perClass[examples[i].class]
		for _, v := range x {
			steepest += weights[i] * v * v / 2
		}
	}
	for step := range voiceSteps {
		momentum := float64(step) / float64(step+3)
		for c, w := range m.weights {
			for k := range w {
				w[k], before[c][k] = w[k]+momentum*(w[k]-before[c][k]), w[k]
				gradient[c][k] = w[k]
			}
			gradient[c][n-1] = 0 // the bias has no penalty
		}
		for i, x := range inputs {
			p := m.probabilities(x)
			p[examples[i].class]--
			for c := range gradient {
				for k, v := range x {
					gradient[c][k] += weights[i] * p[c] * v
				}
			}
		}
		for c, w := range m.weights {
			for k := range w {
				w[k] -= gradient[c][k] / steepest
			}
		}
	}
	return m
}

// normalisation returns a regression with the mean and the deviation of the features only.
func normalisation(examples []example) *voiceRegression {
	n := len(examples[0].features)
	m := &voiceRegression{mean: make([]float64, n), deviation: make([]float64, n)}
	for _, x := range examples {
		for k, v := range x.features {
			m.mean[k] += v / float64(len(examples))
		}
	}
	for _, x := range examples {
		for k, v := range x.features {
			m.deviation[k] += (v - m.mean[k]) * (v - m.mean[k]) / float64(len(examples))
		}
	}
	for k, v := range m.deviation {
		m.deviation[k] = math.Sqrt(v) + 1e-9
	}
	return m
}

// input returns the normalised features and a 1 for the bias.
func (m *voiceRegression) input(features []float64) []float64 {
	x := make([]float64, len(features)+1)
	for k, v := range features {
		x[k] = min(max((v-m.mean[k])/m.deviation[k], -voiceClip), voiceClip)
	}
	x[len(features)] = 1
	return x
}

func (m *voiceRegression) probabilities(x []float64) (p [len(emodbLetters)]float64) {
	most := math.Inf(-1)
	for c, w := range m.weights {
		for k, v := range x {
			p[c] += w[k] * v
		}
		most = max(most, p[c])
	}
	var sum float64
	for c := range p {
		p[c] = math.Exp(p[c] - most)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

// class returns the likeliest class.
func (m *voiceRegression) class(features []float64) int {
	best := 0
	p := m.probabilities(m.input(features))
	for c := range p {
		if p[c] > p[best] {
			best = c
		}
	}
	return best
}
