package expression

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"parley/appliance/contract"
)

func meter(t testing.TB) *Meter {
	t.Helper()
	m, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func golden[T any](t testing.TB, file string) (out T) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The text model says what it said where it was trained.
func TestTextsAreScoredAsInTraining(t *testing.T) {
	m := meter(t)
	type text struct {
		Text  string
		NFeat int
		Feats []uint16
		Probs []float64
	}
	for _, want := range golden[[]text](t, "text.json") {
		got := textFeatures(want.Text)
		if len(got) != want.NFeat || !slices.Equal(got[:len(want.Feats)], want.Feats) {
			t.Errorf("%q has %d features, the first %v; want %d, %v", want.Text, len(got), got[:len(want.Feats)], want.NFeat, want.Feats)
		}
		for i, p := range m.text.probabilities(want.Text) {
			if math.Abs(p-want.Probs[i]) > 5e-6 {
				t.Errorf("%q: %s is %.6f, want %.5f", want.Text, textLabels[i], p, want.Probs[i])
			}
		}
	}
}

// The voice model says what it said where it was trained, of features of four
// recordings that were rounded to six digits.
func TestVoicesAreScoredAsInTraining(t *testing.T) {
	m := meter(t)
	type voice struct {
		File     string
		Features []float64
		Probs    []float64
	}
	for _, want := range golden[[]voice](t, "voice.json") {
		f := features{}
		for i, name := range m.voice.Features {
			f[name] = want.Features[i]
		}
		z, strange := m.voice.normalised(f)
		if strange > strangeFrom {
			t.Errorf("%s is not speech: %.2f", want.File, strange)
		}
		for i, p := range m.voice.probabilities(z, 1) {
			if math.Abs(p-want.Probs[i]) > 5e-3 {
				t.Errorf("%s: %s is %.5f, want %.5f", want.File, voiceClasses[i], p, want.Probs[i])
			}
		}
	}
}

// What says a feeling outright has it first.
func TestPlainWordsHaveTheirFeelingFirst(t *testing.T) {
	m := meter(t)
	for text, want := range map[string]string{
		"I am so angry about this.":        "Anger",
		"I'm scared I might lose my job":   "Fear",
		"LOL that was hilarious":           "Amusement",
		"I am so tired.":                   "Tiredness",
		"You did well, I am proud of you.": "Pride",
	} {
		s := m.Text(text)
		best := 0
		for i := range s {
			if s[i] > s[best] {
				best = i
			}
		}
		if got := contract.EmotionName(best); got != want {
			t.Errorf("%q: %s (%.3f) before %s (%.3f)", text, got, s[best], want, s.Of(want))
		}
	}
}
