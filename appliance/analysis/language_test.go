package analysis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/expression"
)

// reported returns what is measured in a transcript.
func reported(t testing.TB, tr Transcript, models contract.BatchModels) contract.ModelsPredictions {
	t.Helper()
	m, err := expression.New()
	if err != nil {
		t.Fatal(err)
	}
	a := Analyser{Meter: m, Gate: engine.NewGate(1)}
	var report Report
	if err := a.words(t.Context(), tr, Request{Models: models}, &report); err != nil {
		t.Fatal(err)
	}
	if busy, _ := a.Gate.Load(); busy != 0 {
		t.Error("a core is still in use")
	}
	return report.Models
}

// predicted returns the predictions for a transcript.
func predicted(t testing.TB, tr Transcript, o contract.BatchLanguage) []contract.Grouped[contract.LanguagePrediction] {
	t.Helper()
	return reported(t, tr, contract.BatchModels{Language: &o}).Language.GroupedPredictions
}

var granularities = []contract.Granularity{contract.ByWord, contract.BySentence, contract.ByUtterance, contract.ByTurn}

func TestPositionsOfPredictionsCutTheTextExactly(t *testing.T) {
	for _, text := range []string{
		"Ich 😀 möchte café\u0301 – “don’t”!\nNächste Zeile?",
		"\u202eשלום\u202c, a\u0301\u0302\u0303 b\x00c 👩‍👩‍👧 \ufeffx\u2028東京です。",
		"x",
	} {
		runes := []rune(text)
		for _, by := range granularities {
			groups := predicted(t, written(text), contract.BatchLanguage{Granularity: by})
			if len(groups) != 1 || groups[0].ID != contract.UnknownGroup || len(groups[0].Predictions) == 0 {
				t.Fatalf("%s of %q: %v", by, text, groups)
			}
			for _, p := range groups[0].Predictions {
				if got := string(runes[p.Position.Begin:p.Position.End]); got != p.Text {
					t.Errorf("%s of %q: %v is %q, not %q", by, text, p.Position, got, p.Text)
				}
				if p.Time != nil || p.Confidence != nil || p.SpeakerConfidence != nil {
					t.Errorf("%q is no sound, but has %v", text, p)
				}
			}
		}
	}
}

func TestAnalysisOfATextEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := Analyser{Gate: engine.NewGate(1)}
	models := contract.BatchModels{Language: &contract.BatchLanguage{}}
	_, err := a.Analyse(ctx, Source{Text: "Hello."}, Request{Models: models})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestATextOfTooManyWordsIsRefused(t *testing.T) {
	a := Analyser{Gate: engine.NewGate(1)}
	models := contract.BatchModels{Language: &contract.BatchLanguage{}}
	text := strings.Repeat("a ", maxTextWords+1)
	_, err := a.Analyse(t.Context(), Source{Text: text}, Request{Models: models})
	if own := (*Error)(nil); !errors.As(err, &own) || !strings.Contains(own.Why, "300001 words") {
		t.Error(err)
	}
}

func TestAPredictionHasThe53NamesInOrder(t *testing.T) {
	for _, by := range granularities {
		groups := predicted(t, written("I love it. 😀"), contract.BatchLanguage{Granularity: by})
		for _, p := range groups[0].Predictions {
			sorted := slices.IsSortedFunc(p.Emotions.Named(), func(a, b contract.NamedScore) int {
				return strings.Compare(a.Name, b.Name)
			})
			if n := p.Emotions.Len(); n != 53 || !sorted {
				t.Fatalf("%q has %d names, sorted: %v", p.Text, n, sorted)
			}
			for name, score := range p.Emotions.All() {
				if score <= 0 || score > 1 {
					t.Errorf("%q: %s is %v", p.Text, name, score)
				}
			}
		}
	}
}

// score returns the score with a name.
func score(p contract.LanguagePrediction, name string) float64 {
	return scoreOf(p.Emotions, name)
}

func TestTheWordThatCarriesAFeelingScoresHighest(t *testing.T) {
	text := "The train was on time and I am so grateful to you, but my poor sister is terrified of the dark old house"
	best := map[string]string{}
	most := map[string]float64{}
	for _, p := range predicted(t, written(text), contract.BatchLanguage{Granularity: contract.ByWord})[0].Predictions {
		for _, name := range []string{"Gratitude", "Fear"} {
			if s := score(p, name); s > most[name] {
				best[name], most[name] = p.Text, s
			}
		}
	}
	if best["Gratitude"] != "grateful" || best["Fear"] != "terrified" {
		t.Errorf("%v with %v", best, most)
	}
}

func TestAnEmptyTextHasNoPredictions(t *testing.T) {
	for _, by := range granularities {
		groups := predicted(t, written(" \n"), contract.BatchLanguage{Granularity: by})
		if groups == nil || len(groups) != 0 {
			t.Errorf("%s: %v", by, groups)
		}
	}
}

func TestSpeakersAreGroupsOnlyIfAskedFor(t *testing.T) {
	tr := written("Hello there. Oh, hi!")
	for i := range tr.Words {
		tr.Words[i].Begin, tr.Words[i].End = float64(i), float64(i)+0.5
		tr.Words[i].Confidence, tr.Words[i].SpeakerConfidence = 0.5, 0.25
		tr.Words[i].Speaker = i / 2
	}
	o := contract.BatchLanguage{Granularity: contract.BySentence, IdentifySpeakers: true}
	apart := predicted(t, tr, o)
	o.IdentifySpeakers = false
	together := predicted(t, tr, o)
	if len(apart) != 2 || apart[1].ID != "speaker_1" || len(together) != 1 || len(together[0].Predictions) != 2 {
		t.Fatalf("%v, %v", apart, together)
	}
	p, q := apart[1].Predictions[0], together[0].Predictions[1]
	if *p.Time != (contract.TimeInterval{Begin: 2, End: 3.5}) || *p.Confidence != 0.5 || *p.SpeakerConfidence != 0.25 {
		t.Errorf("%v, %v, %v", *p.Time, *p.Confidence, *p.SpeakerConfidence)
	}
	if q.SpeakerConfidence != nil {
		t.Error("speakers were not told apart, but their confidence is there")
	}
}

// Scores of a language that the text model does not know are the lowest.
func TestAnotherLanguageShowsNothing(t *testing.T) {
	tr := written("Ich bin happy.")
	tr.Language = "de"
	o := contract.BatchLanguage{
		Granularity: contract.ByWord,
		Sentiment:   &contract.Unconfigurable{},
		Toxicity:    &contract.Unconfigurable{},
	}
	for _, p := range predicted(t, tr, o)[0].Predictions {
		if s := score(p, "Joy"); s != 0.004 {
			t.Errorf("%q: %v", p.Text, s)
		}
		if p.Sentiment.IsZero() || p.Sentiment.Len() > 0 || p.Toxicity.IsZero() || p.Toxicity.Len() > 0 {
			t.Errorf("%q: sentiment %v, toxicity %v; want empty lists", p.Text, p.Sentiment, p.Toxicity)
		}
	}
}

func TestASentimentHasNineStepsIfAskedFor(t *testing.T) {
	tr := written("I love this wonderful place! I hate that horrible food.")
	for _, by := range granularities {
		for _, p := range predicted(t, tr, contract.BatchLanguage{Granularity: by})[0].Predictions {
			if !p.Sentiment.IsZero() || !p.Toxicity.IsZero() {
				t.Fatalf("%s: nobody asked for sentiment and toxicity", by)
			}
		}
		o := contract.BatchLanguage{Granularity: by, Sentiment: &contract.Unconfigurable{}}
		for _, p := range predicted(t, tr, o)[0].Predictions {
			var sum float64
			for i, s := range p.Sentiment.Named() {
				sum += s.Score
				if s.Name != fmt.Sprint(i+1) || s.Score <= 0 {
					t.Errorf("%q: step %d is %v", p.Text, i+1, s)
				}
			}
			if n := p.Sentiment.Len(); n != 9 || sum < 0.999 || sum > 1.001 {
				t.Errorf("%q: %d steps with sum %v", p.Text, n, sum)
			}
		}
	}
}

// A good word has a good sentiment and a bad one a bad sentiment, also in one sentence.
func TestSentimentFollowsTheWords(t *testing.T) {
	mean := map[string]float64{}
	o := contract.BatchLanguage{Granularity: contract.ByWord, Sentiment: &contract.Unconfigurable{}}
	text := "The view was wonderful and we had a table by the window, but the soup that they brought us was horrible."
	for _, p := range predicted(t, written(text), o)[0].Predictions {
		for i, s := range p.Sentiment.Named() {
			mean[p.Text] += float64(i+1) * s.Score
		}
	}
	if mean["wonderful"] < 6 || mean["horrible"] > 4 {
		t.Errorf("wonderful %.1f, horrible %.1f", mean["wonderful"], mean["horrible"])
	}
}

// A mebibyte of words takes some 10 s; here is an eighth of one.
func TestALargeTextIsScoredInLinearTime(t *testing.T) {
	const piece = "I was so happy about the train, but then the rain came and we all got wet. "
	for _, by := range granularities {
		begin := time.Now()
		predicted(t, written(strings.Repeat(piece, (1<<17)/len(piece))), contract.BatchLanguage{Granularity: by})
		took := time.Since(begin)
		t.Logf("%s: %v", by, took)
		if took > 20*time.Second {
			t.Errorf("%s took %v", by, took)
		}
	}
}
