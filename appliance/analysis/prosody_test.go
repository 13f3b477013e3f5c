package analysis

import (
	"math"
	"slices"
	"strings"
	"testing"

	"parley/appliance/contract"
)

// predictionsOf returns the predictions of the only group.
func predictionsOf(t testing.TB, a *Analyser, pcm []float32, transcription *contract.BatchTranscription,
	o contract.BatchProsody) []contract.ProsodyPrediction {
	t.Helper()
	h := hearOrFail(t, a, pcm, hearingOptions{transcription: transcription, prosody: &o})
	p, problem := h.prosody(o)
	if problem != "" || len(p.GroupedPredictions) != 1 || p.GroupedPredictions[0].ID != contract.UnknownGroup {
		t.Fatalf("%+v, problem %q", p, problem)
	}
	for _, one := range p.GroupedPredictions[0].Predictions {
		if n := one.Emotions.Len(); n != contract.EmotionCount {
			t.Errorf("%d scores", n)
		}
		for name, score := range one.Emotions.All() {
			if !(score > 0 && score <= 1) {
				t.Errorf("%s is %v", name, score)
			}
		}
	}
	return p.GroupedPredictions[0].Predictions
}

// Windows begin every step and have their length; those without voice are left out, and the last ends with the sound.
func TestWindowsAreExact(t *testing.T) {
	voice := recorded(t, "vm-intro")[:5*16000]
	pcm := slices.Concat(silence(6), voice, silence(4.25)) // 15.25 s, voice from 6 to 11
	for _, transcription := range []*contract.BatchTranscription{nil, transcribe()} {
		all := predictionsOf(t, withEars(t), pcm, transcription,
			contract.BatchProsody{Window: &contract.BatchWindow{Length: 4, Step: 1.5}})
		var begins []float64
		for _, p := range all {
			begins = append(begins, p.Time.Begin)
			if want := min(p.Time.Begin+4, 15.25); p.Time.End != want || p.Text != nil {
				t.Errorf("a window from %v to %v, want to %v", p.Time.Begin, p.Time.End, want)
			}
		}
		if want := []float64{3, 4.5, 6, 7.5, 9, 10.5}; !slices.Equal(begins, want) && !slices.Equal(begins, want[:5]) {
			t.Errorf("windows begin at %v, want %v", begins, want)
		}
	}
}

// Words, sentences, utterances and turns have the text and times of the transcript.
func TestEachGranularityHasItsUnits(t *testing.T) {
	pcm := slices.Concat(recorded(t, "vm-intro"), silence(1), recorded(t, "demo-nogo"))
	n := map[contract.Granularity]int{}
	for _, by := range []contract.Granularity{
		contract.ByWord, contract.BySentence, contract.ByUtterance, contract.ByTurn} {
		all := predictionsOf(t, withEars(t), pcm, transcribe(), contract.BatchProsody{Granularity: by})
		n[by] = len(all)
		var said []string
		end := 0.0
		for _, p := range all {
			if p.Text == nil || p.Confidence == nil || p.SpeakerConfidence != nil || p.Time.Begin < end ||
				p.Time.End <= p.Time.Begin {
				t.Errorf("%s: %+v after %v", by, p, end)
				continue
			}
			said = append(said, *p.Text)
			end = p.Time.Begin
		}
		t.Logf("%s: %s", by, strings.Join(said, " | "))
	}
	if n[contract.ByTurn] != 1 || n[contract.ByUtterance] < 2 || n[contract.BySentence] < 2 || n[contract.ByWord] < 30 {
		t.Errorf("%v units", n)
	}
}

// Without a transcription the utterances and the turn have times and no text, and words cannot be measured.
func TestAVoiceIsJudgedWithoutTranscription(t *testing.T) {
	pcm := slices.Concat(recorded(t, "vm-intro"), silence(1), recorded(t, "demo-nogo"))
	utterances := predictionsOf(t, withEars(t), pcm, nil, contract.BatchProsody{Granularity: contract.ByUtterance})
	turn := predictionsOf(t, withEars(t), pcm, nil, contract.BatchProsody{Granularity: contract.ByTurn})
	if len(utterances) < 2 || len(turn) != 1 || utterances[0].Text != nil || turn[0].Text != nil {
		t.Fatalf("%d utterances, %d turns", len(utterances), len(turn))
	}
	if turn[0].Time.Begin != utterances[0].Time.Begin || turn[0].Time.End != utterances[len(utterances)-1].Time.End {
		t.Errorf("the turn is at %v", turn[0].Time)
	}
	o := contract.BatchProsody{Granularity: contract.ByWord}
	p, problem := hearOrFail(t, withEars(t), pcm, hearingOptions{prosody: &o}).prosody(o)
	if p != nil || !strings.Contains(problem, "word") {
		t.Errorf("%+v, problem %q", p, problem)
	}
}

// A short stretch is judged with the sound around it, within its part of the utterance.
func TestAShortStretchIsJudgedWithItsSurroundings(t *testing.T) {
	for _, row := range [][6]float64{ // begin, end, first, last; from, to
		{5, 5.4, 0, 10, 4.2, 6.2},
		{0.1, 0.5, 0, 10, 0, 2},
		{9.8, 10, 3, 10, 8, 10},
		{5, 5.4, 4.8, 5.5, 4.8, 5.5},
		{2, 8, 0, 10, 2, 8},
	} {
		from, to := around(row[0], row[1], row[2], row[3])
		if math.Abs(from-row[4])+math.Abs(to-row[5]) > 1e-9 {
			t.Errorf("%v: %v to %v", row, from, to)
		}
	}
}
