package expression

import (
	"strings"

	"parley/appliance/contract"
)

// voiceShare is how much of a score is the voice's, where both have one; the
// rest is the words'. train/blend.py finds 0.7 best for actors; people who do not
// act show less, and their words are the surer sign.
const voiceShare = 0.6

// blend puts together what words and voice say. Of what a voice says nothing, the
// words decide.
func blend(words, voice contract.EmotionScores) contract.EmotionScores {
	for i, v := range voice {
		if v > 0 {
			words[i] += voiceShare * (v - words[i])
		}
	}
	return words
}

// voiceOnly are the scores of a voice whose words are not understood.
func voiceOnly(voice contract.EmotionScores) contract.EmotionScores {
	for i, v := range voice {
		voice[i] = max(v, wordsFloor)
	}
	return voice
}

// strong are the feelings that a language model is told of, as one would call a
// person who has them, and from which score on each stands out.
var strong = []struct {
	name, called string
	from         float64
}{
	{"Anger", "angry", 0.3}, {"Anxiety", "anxious", 0.3}, {"Boredom", "bored", 0.3},
	{"Disappointment", "disappointed", 0.35}, {"Distress", "distressed", 0.35}, {"Excitement", "excited", 0.35},
	{"Fear", "afraid", 0.3},
	{"Joy", "happy", 0.4}, {"Sadness", "sad", 0.35}, {"Tiredness", "tired", 0.35},
}

// maxNamed is how many feelings a language model is told of.
const maxNamed = 2

// standOut says which feelings stand out, the strongest first; empty where none does.
func standOut(s contract.EmotionScores) string {
	var out []string
	taken := map[string]bool{}
	for range maxNamed {
		best, by := "", 1.0
		for _, f := range strong {
			if over := s.Of(f.name) / f.from; over >= by && !taken[f.called] {
				best, by = f.called, over
			}
		}
		if best == "" {
			break
		}
		taken[best] = true
		out = append(out, best)
	}
	return strings.Join(out, ", ")
}
