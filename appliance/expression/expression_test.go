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

// The text model gives the results it gave in training.
func TestTextScoresMatchTraining(t *testing.T) {
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
			t.Errorf("%q has %d features, the first %v; want %d, %v", want.Text, len(got), got[:len(want.Feats)],
				want.NFeat, want.Feats)
		}
		for i, p := range m.text.probabilities(want.Text) {
			if math.Abs(p-want.Probs[i]) > 5e-6 {
				t.Errorf("%q: %s is %.6f, want %.5f", want.Text, textLabels[i], p, want.Probs[i])
			}
		}
	}
}

// The sentiment model gives the results it gave in training.
func TestSentimentMatchesTraining(t *testing.T) {
	m := meter(t)
	type text struct {
		Text  string
		Steps []float64
	}
	for _, want := range golden[[]text](t, "sentiment.json") {
		got, _ := m.Read(want.Text, "en").Sentiment()
		for i, p := range got {
			if math.Abs(p-want.Steps[i]) > 5e-6 {
				t.Errorf("%q: step %d is %.6f, want %.6f", want.Text, i+1, p, want.Steps[i])
			}
		}
	}
}

// The voice model gives the results it gave in training, for features of four recordings rounded to six
// digits.
func TestVoiceScoresMatchTraining(t *testing.T) {
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

// A feeling that is named outright has the highest score.
func TestANamedFeelingScoresHighest(t *testing.T) {
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

// Every score rises with some words or some tone, far above its usual level: none is constant.
func TestEveryNameVaries(t *testing.T) {
	m := meter(t)
	var most, least contract.EmotionScores
	for i := range least {
		least[i] = 1
	}
	note := func(s contract.EmotionScores) {
		for i, v := range s {
			most[i], least[i] = max(most[i], v), min(least[i], v)
		}
	}
	for _, text := range []string{
		"What time is it?", "I am so angry about this.", "You are amazing, I love you so much.",
		"Thank you, that was wonderful!",
		"LOL that was hilarious", "Ew, that is disgusting.", "I'm scared I might lose my job.",
		"I am nervous about tomorrow.",
		"I don't understand, that makes no sense.", "I wish I had one of those, I want it so badly!",
		"I hope we will win, we can do this!",
		"I am so disappointed and sad.", "This is so embarrassing, I'm sorry.", "I'm so sorry, it was my fault.",
		"My heart is broken, she died last week.",
		"I just realised that this was the same man.", "What a relief, thank God!", "Wow, I did not see that coming!",
		"Wow! What a great surprise, I love it!",
		"I am proud of you, congratulations!", "I am so proud, we won, I can't believe it!",
		"I'm sorry for your loss, take care.", "I doubt that, it is wrong.",
		"How terrifying and disgusting.", "Yes, that is fine, I agree.", "I am so bored.", "I am tired.",
		"I'm jealous.", "It reminds me of my childhood.", "It was mesmerizing.",
		"That hurts.", "I am so happy, this is exciting!",
	} {
		note(m.Text(text))
	}
	for class := range voiceClasses {
		var tone [len(voiceClasses)]float64
		tone[class] = 1
		scores, _ := Tone{m: m, of: tone}.Express("", "de")
		note(scores)
	}
	for i := range most {
		if most[i] < 0.1 || most[i] < 4*least[i] {
			t.Errorf("%s lies between %.3f and %.3f", contract.EmotionName(i), least[i], most[i])
		}
	}
}

// Neutral words without a tone have no feeling that stands out.
func TestNeutralWordsHaveNoStrongFeeling(t *testing.T) {
	m := meter(t)
	scores, strong := m.NewSound().Tone().Express("What time is it?", "en")
	if strong != "" {
		t.Errorf("a plain question is said to sound %s", strong)
	}
	if calm, angry := scores.Of("Calmness"), scores.Of("Anger"); calm < angry {
		t.Errorf("calm %.3f, angry %.3f", calm, angry)
	}
}
