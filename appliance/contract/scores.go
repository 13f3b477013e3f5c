package contract

import (
	"encoding/json"
	"iter"
	"math"
	"reflect"
	"slices"
)

// A NamedScore is the score, 0 to 1, of a feeling or another category.
type NamedScore struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
}

// Scores are the scores of some names, a list of NamedScore on the wire. They are
// stored in four bytes each, because a long recording has those of 100,000 words,
// and have seven decimals. The zero value is an absent list, not an empty one.
type Scores struct {
	names  []string  // shared with other scores
	values []float32 // nil: absent
}

var sentimentNames = [...]string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}

// ScoresOf returns the scores of a list, which may be empty.
func ScoresOf(list ...NamedScore) Scores {
	s := Scores{names: namesOf(list), values: make([]float32, len(list))}
	for i, one := range list {
		s.values[i] = float32(one.Score)
	}
	return s
}

// namesOf returns the names of a list: those of the box are shared.
func namesOf(list []NamedScore) []string {
	for _, names := range [][]string{emotionNames[:], textEmotionNames, sentimentNames[:]} {
		if slices.EqualFunc(names, list, func(name string, s NamedScore) bool { return name == s.Name }) {
			return names
		}
	}
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = one.Name
	}
	return names
}

// List returns the scores in alphabetical order of the names.
func (s EmotionScores) List() Scores { return Scores{emotionNames[:], compact(s[:])} }

// List returns the scores in alphabetical order of the names.
func (s TextEmotionScores) List() Scores { return Scores{textEmotionNames, compact(s[:])} }

func compact(scores []float64) []float32 {
	all := make([]float32, len(scores))
	for i, v := range scores {
		all[i] = float32(v)
	}
	return all
}

// IsZero reports whether the list is absent.
func (s Scores) IsZero() bool { return s.values == nil }

// Len returns how many scores there are.
func (s Scores) Len() int { return len(s.values) }

// All returns the names with their scores, in their order.
func (s Scores) All() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for i, v := range s.values {
			if !yield(s.names[i], math.Round(float64(v)*decimals)/decimals) {
				return
			}
		}
	}
}

// decimals is ten to the power of the decimals that a float32 up to 1 has for certain.
const decimals = 1e7

// Named returns the scores as a list, which is never nil.
func (s Scores) Named() []NamedScore {
	list := make([]NamedScore, 0, s.Len())
	for name, score := range s.All() {
		list = append(list, NamedScore{name, score})
	}
	return list
}

// WireType is the type whose JSON is that of the scores.
func (Scores) WireType() reflect.Type { return reflect.TypeFor[[]NamedScore]() }

// MarshalJSON writes the list; null if it is absent. It fails if a score is not a
// finite number.
func (s Scores) MarshalJSON() ([]byte, error) {
	if s.IsZero() {
		return []byte("null"), nil
	}
	return Marshal(s.Named())
}

// UnmarshalJSON accepts any names; null is an absent list.
func (s *Scores) UnmarshalJSON(data []byte) error {
	var list []NamedScore
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if *s = (Scores{}); list != nil {
		*s = ScoresOf(list...)
	}
	return nil
}
