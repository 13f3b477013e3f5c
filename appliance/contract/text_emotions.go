package contract

import "slices"

// TextEmotionCount is how many names the words of a text get scores for: those of
// EmotionName, and Annoyance, Disapproval, Enthusiasm, Gratitude and Sarcasm.
const TextEmotionCount = EmotionCount + 5

// TextEmotionScores are the scores of words, 0 to 1, in the order of
// TextEmotionName.
type TextEmotionScores [TextEmotionCount]float64

var textEmotionNames = slices.Sorted(slices.Values(append(emotionNames[:],
	"Annoyance", "Disapproval", "Enthusiasm", "Gratitude", "Sarcasm")))

// TextEmotionName returns the name of score i on the wire, 0 to
// TextEmotionCount-1.
func TextEmotionName(i int) string { return textEmotionNames[i] }
