package contract

// TextEmotionCount is how many names the words of a text get scores for: those of
// EmotionName, and Annoyance, Disapproval, Enthusiasm, Gratitude and Sarcasm.
const TextEmotionCount = EmotionCount + 5

// TextEmotionScores are the scores of words, 0 to 1, in the order of
// TextEmotionName.
type TextEmotionScores [TextEmotionCount]float64

var textEmotionNames = [TextEmotionCount]string{
	"Admiration", "Adoration", "Aesthetic Appreciation", "Amusement", "Anger",
	"Annoyance", "Anxiety", "Awe", "Awkwardness", "Boredom", "Calmness",
	"Concentration", "Confusion", "Contemplation", "Contempt", "Contentment",
	"Craving", "Desire", "Determination", "Disappointment", "Disapproval",
	"Disgust", "Distress", "Doubt", "Ecstasy", "Embarrassment",
	"Empathic Pain", "Enthusiasm", "Entrancement", "Envy", "Excitement", "Fear",
	"Gratitude", "Guilt", "Horror", "Interest", "Joy", "Love", "Nostalgia",
	"Pain", "Pride", "Realization", "Relief", "Romance", "Sadness", "Sarcasm",
	"Satisfaction", "Shame", "Surprise (negative)", "Surprise (positive)",
	"Sympathy", "Tiredness", "Triumph",
}

// TextEmotionName returns the name of score i on the wire, 0 to
// TextEmotionCount-1.
func TextEmotionName(i int) string { return textEmotionNames[i] }
