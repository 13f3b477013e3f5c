package contract

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// EmotionCount is how many names the expression models score.
const EmotionCount = 48

// EmotionScores are the scores, 0 to 1, in the order of EmotionName. The wire
// always has all of them: clients reject an incomplete set.
type EmotionScores [EmotionCount]float64

var emotionNames = [EmotionCount]string{
	"Admiration", "Adoration", "Aesthetic Appreciation", "Amusement", "Anger",
	"Anxiety", "Awe", "Awkwardness", "Boredom", "Calmness", "Concentration",
	"Confusion", "Contemplation", "Contempt", "Contentment", "Craving",
	"Desire", "Determination", "Disappointment", "Disgust", "Distress",
	"Doubt", "Ecstasy", "Embarrassment", "Empathic Pain", "Entrancement",
	"Envy", "Excitement", "Fear", "Guilt", "Horror", "Interest", "Joy", "Love",
	"Nostalgia", "Pain", "Pride", "Realization", "Relief", "Romance",
	"Sadness", "Satisfaction", "Shame", "Surprise (negative)",
	"Surprise (positive)", "Sympathy", "Tiredness", "Triumph",
}

// EmotionName returns the name of score i on the wire, 0 to EmotionCount-1.
func EmotionName(i int) string { return emotionNames[i] }

// Of returns the score with a name; 0 for an unknown name.
func (s EmotionScores) Of(name string) float64 {
	i := slices.Index(emotionNames[:], name)
	if i < 0 {
		return 0
	}
	return s[i]
}

// MarshalJSON writes every score under its name. It writes 0 for a score that is
// not a finite number.
func (s EmotionScores) MarshalJSON() ([]byte, error) {
	out := make([]byte, 0, 1500)
	for i, v := range s {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = 0
		}
		out = append(out, `{,`[min(i, 1)])
		out = append(strconv.AppendQuote(out, emotionNames[i]), ':')
		out = strconv.AppendFloat(out, v, 'f', -1, 64)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON rejects an incomplete set.
func (s *EmotionScores) UnmarshalJSON(data []byte) error {
	var byName map[string]float64
	if err := json.Unmarshal(data, &byName); err != nil {
		return err
	}
	for i, name := range emotionNames {
		v, ok := byName[name]
		if !ok {
			return fmt.Errorf("scores: %q is missing", name)
		}
		s[i] = v
	}
	return nil
}
