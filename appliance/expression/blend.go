package expression

import (
	"strings"

	"parley/appliance/contract"
)

// voiceShare is the voice's share of a score that both voice and words have. train/blend.py finds 0.7 best
// for actors; people who do not act show less in their voices, so their words count more.
const voiceShare = 0.6

// blend combines the scores of words and voice. Where the voice has no score, the words decide.
func blend(words, voice contract.EmotionScores) contract.EmotionScores {
	for i, v := range voice {
		if v > 0 {
			words[i] += voiceShare * (v - words[i])
		}
	}
	return words
}

// voiceOnly returns the scores of a voice whose words cannot be judged.
func voiceOnly(voice contract.EmotionScores) contract.EmotionScores {
	for i, v := range voice {
		voice[i] = max(v, wordsFloor)
	}
	return voice
}

// strong lists the feelings that a language model receives, the adjective for each, and the score from which
// the feeling stands out.
var strong = []struct {
	name, called string
	from         float64
}{
	{"Anger", "angry", 0.3}, {"Anxiety", "anxious", 0.3}, {"Boredom", "bored", 0.3},
	{"Disappointment", "disappointed", 0.35}, {"Distress", "distressed", 0.35}, {"Excitement", "excited", 0.35},
	{"Fear", "afraid", 0.3},
	{"Joy", "happy", 0.4}, {"Sadness", "sad", 0.35}, {"Tiredness", "tired", 0.35},
}

// maxNamed is the largest number of feelings in a prompt.
const maxNamed = 2

// standOut names the feelings that stand out, strongest first; it may be empty.
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
