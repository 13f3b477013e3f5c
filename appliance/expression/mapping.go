package expression

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"parley/appliance/contract"
)

// mapping derives the scores of the names from the measured features.
type mapping struct {
	// Words, Voice and Face hold terms for each name; the largest term counts.
	Words, Voice, Face map[string][]term
	// LookedUp holds words that name a feeling outright.
	LookedUp map[string][]string `json:"looked_up"`
}

// term is a weight times the geometric mean of some probabilities.
type term struct {
	weight float64
	of     []string
}

// The lowest scores: no feeling is certainly absent.
const (
	wordsFloor = 0.004
	voiceFloor = 0.005
	faceFloor  = 0.02
	// lookedUp is the score of a feeling whose word was said. It is not higher because "I am not tired" has
	// the word too.
	lookedUp = 0.5
)

// largest returns the largest of the terms.
func largest(terms []term, p map[string]float64) float64 {
	var most float64
	for _, t := range terms {
		product := 1.0
		for _, name := range t.of {
			product *= p[name]
		}
		most = max(most, t.weight*math.Pow(product, 1/float64(len(t.of))))
	}
	return most
}

// words are what the words of a text show: the probability of each label, whether feelings are good or bad, and which
// words there are.
type words struct {
	p    map[string]float64
	said []string
}

// newWords returns what a text shows, given the probabilities of its labels.
func newWords(text string, labels [len(textLabels)]float64) words {
	p := make(map[string]float64, len(labels)+2)
	var good, bad float64
	for i, name := range textLabels {
		p[name] = labels[i]
		switch name {
		case "admiration", "amusement", "approval", "caring", "desire", "excitement", "gratitude", "joy", "love",
			"optimism", "pride", "relief":
			good += labels[i]
		case "anger", "annoyance", "disappointment", "disapproval", "disgust", "embarrassment", "fear", "grief",
			"nervousness", "remorse", "sadness":
			bad += labels[i]
		}
	}
	p["POS"], p["NEG"] = good/(good+bad), bad/(good+bad) // decides whether a surprise is good or bad
	return words{p: p, said: textTokens(textEnd(text))}
}

// score returns the score of a name.
func (m mapping) score(name string, w words) float64 {
	s := max(wordsFloor, largest(m.Words[name], w.p))
	if slices.ContainsFunc(m.LookedUp[name], func(word string) bool { return slices.Contains(w.said, word) }) {
		return max(s, lookedUp)
	}
	return s
}

// ofWords maps the probabilities of the text labels to the 48 names.
func (m mapping) ofWords(text string, labels [len(textLabels)]float64) (s contract.EmotionScores) {
	w := newWords(text, labels)
	for i := range s {
		s[i] = m.score(contract.EmotionName(i), w)
	}
	return s
}

// ofVoice maps the probabilities of the voice classes to the names that a voice shows. The others are 0.
func (m mapping) ofVoice(classes [len(voiceClasses)]float64) (s contract.EmotionScores) {
	p := make(map[string]float64, len(classes)+1)
	var arousal float64
	for i, name := range voiceClasses {
		p[name] = classes[i]
		arousal += classes[i] * voiceArousal[i]
	}
	p["A"] = min(max((arousal+0.6)/1.2, 0), 1)
	for i := range s {
		if terms := m.Voice[contract.EmotionName(i)]; len(terms) > 0 {
			s[i] = max(voiceFloor, largest(terms, p))
		}
	}
	return s
}

// ofFace maps the probabilities of the classes of a face to the 48 names.
func (m mapping) ofFace(classes [len(faceClasses)]float64) (s contract.EmotionScores) {
	p := make(map[string]float64, len(classes))
	for i, name := range faceClasses {
		p[name] = classes[i]
	}
	for i := range s {
		s[i] = max(faceFloor, largest(m.Face[contract.EmotionName(i)], p))
	}
	return s
}

// check returns an error if the mapping has an unknown name or uses something that is not measured.
func (m mapping) check() error {
	var names []string
	for i := range contract.TextEmotionCount {
		names = append(names, contract.TextEmotionName(i))
	}
	measured := append(slices.Clone(textLabels[:]), "POS", "NEG")
	for _, of := range []struct {
		terms map[string][]term
		known []string
	}{{m.Words, measured}, {m.Voice, append(slices.Clone(voiceClasses[:]), "A")}, {m.Face, faceClasses[:]}} {
		for name, terms := range of.terms {
			if !slices.Contains(names, name) {
				return fmt.Errorf("the mapping of feelings has %q, which is none of the %d", name, len(names))
			}
			for _, t := range terms {
				for _, what := range t.of {
					if !slices.Contains(of.known, what) {
						return fmt.Errorf("the mapping of %q names %q, which is not measured: %s", name, what,
							strings.Join(of.known, ", "))
					}
				}
			}
		}
	}
	return nil
}
