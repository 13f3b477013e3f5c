package analysis

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"parley/appliance/expression"
)

const (
	// maxSpeakers bounds the speakers of a recording. The model was measured with four; among
	// more than ten, some voices are too similar for it.
	maxSpeakers = 10
	// longEnough is how long an utterance must be to form a speaker, in seconds. A shorter one
	// depends on its words more than on its voice, and joins the nearest speaker.
	longEnough = 1.5
	// maxCompared bounds the utterances that are compared each with each, the longest of the
	// recording: 200 take some 50 ms. The others join the nearest speaker.
	maxCompared = 200
	// temper divides the evidence for a speaker before it becomes a probability: voices are
	// not quite normal, and the evidence exaggerates.
	temper = 6
)

// voicePrint is a voice in a space in which the utterances of one speaker deviate from
// their mean by 1 in every direction.
type voicePrint expression.Timbre

// speakerModel is what voices were measured to be like, by expression/train/speakers.py.
// Within a speaker they deviate by 1, and between speakers by the square root of Between;
// both are taken as normal distributions (PLDA). Shared, Usual and Merge were chosen on the
// people whom the rest was trained on, in three parts, each with a model of the other two.
type speakerModel struct {
	Mean    expression.Timbre   `json:"mean"`
	Whiten  []expression.Timbre `json:"whiten"` // rows
	Between voicePrint          `json:"between"`
	// Shared is the correlation of the prints of a speaker in one recording: mood and
	// microphone stay.
	Shared float64 `json:"shared"`
	// Usual is the mean square by which a print usually deviates in each direction from the
	// one most similar to it.
	Usual float64 `json:"usual"`
	// Merge is the least evidence for one speaker, a logarithm of a ratio of likelihoods, at
	// which two groups of utterances are joined.
	Merge float64 `json:"merge"`
}

//go:embed weights/speakers.json
var speakerWeights []byte

// speakers tells the speakers of one recording apart.
type speakers struct {
	model   speakerModel
	prints  []voicePrint
	seconds []float64
}

func newSpeakers() (*speakers, error) {
	s := &speakers{}
	if err := json.Unmarshal(speakerWeights, &s.model); err != nil {
		return nil, fmt.Errorf("the model of speakers: %w", err)
	}
	return s, nil
}

// add adds the next utterance. enough says whether it had enough voice for its timbre.
func (s *speakers) add(t expression.Timbre, enough bool, seconds float64) {
	if !enough {
		seconds = 0
	}
	s.prints, s.seconds = append(s.prints, s.model.printOf(t)), append(s.seconds, seconds)
}

// assign returns the speaker of each utterance, counted from 0 in the order of appearance,
// and how likely that is, 0 to 1. An utterance without enough voice is of the speaker
// before it, with confidence 0.
func (s *speakers) assign() (speaker []int, confidence []float64) {
	return s.model.cluster(s.prints, s.seconds)
}

func (m *speakerModel) printOf(t expression.Timbre) (p voicePrint) {
	for i, row := range m.Whiten {
		for k, w := range row {
			p[i] += w * (t[k] - m.Mean[k])
		}
	}
	return p
}

// cluster implements speakers.assign. An utterance of 0 seconds has no print.
func (m *speakerModel) cluster(prints []voicePrint, seconds []float64) (speaker []int, confidence []float64) {
	which := core(seconds)
	prints = m.spread(prints, which)
	groups := m.groups(prints, which)
	speaker, confidence = make([]int, len(prints)), make([]float64, len(prints))
	of := map[int]int{} // group of each member
	for g := range groups {
		for _, i := range groups[g].members {
			of[i] = g
		}
	}
	for i := range prints {
		if seconds[i] <= 0 || len(groups) == 0 {
			speaker[i] = -1
			continue
		}
		g, member := of[i]
		if !member {
			g = -1
		}
		speaker[i], confidence[i] = m.nearest(groups, &prints[i], g)
		confidence[i] *= min(1, seconds[i]/longEnough)
	}
	return numbered(speaker), confidence
}

// core returns the utterances that form the speakers: those that are long enough, or all
// with a print if there are none.
func core(seconds []float64) []int {
	var long []int
	for _, least := range []float64{longEnough, math.SmallestNonzeroFloat64} {
		for i, s := range seconds {
			if s >= least {
				long = append(long, i)
			}
		}
		if len(long) > 0 {
			break
		}
	}
	slices.SortStableFunc(long, func(a, b int) int { return cmp.Compare(seconds[b], seconds[a]) })
	return long[:min(len(long), maxCompared)]
}

// numbered numbers speakers in the order of appearance. An utterance of speaker -1 is of
// the one before it, or of the first.
func numbered(speaker []int) []int {
	numbers := map[int]int{}
	last := 0
	for i, s := range speaker {
		if s >= 0 {
			n, ok := numbers[s]
			if !ok {
				n = len(numbers)
				numbers[s] = n
			}
			last = n
		}
		speaker[i] = last
	}
	return speaker
}
