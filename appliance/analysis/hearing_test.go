package analysis

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/appliance/expression"
)

// withFakes returns an Analyser that takes a loud sound for a voice, and transcribes it with a function.
func withFakes(t testing.TB, transcribe enginetest.Transcriber) *Analyser {
	t.Helper()
	m, err := expression.New()
	if err != nil {
		t.Fatal(err)
	}
	return &Analyser{
		Meter:       m,
		Gate:        engine.NewGate(1),
		Detector:    enginetest.LevelDetector(0.05),
		Transcriber: transcribe,
	}
}

// hum returns a sound that the fake detector takes for a voice, in seconds.
func hum(seconds float64) []float32 {
	pcm := silence(seconds)
	for i := range pcm {
		at := float64(i) / engine.SpeechRateHz
		for k := 1.0; k < 12; k++ {
			pcm[i] += float32(0.2 / k * math.Sin(2*math.Pi*k*(140*at+3*math.Sin(5*at))))
		}
	}
	return pcm
}

// saying returns a transcript of one word a second.
func saying(pcm []float32, language string, confidence float64) engine.Transcript {
	n := max(1, len(pcm)/engine.SpeechRateHz)
	t := engine.Transcript{
		Text:       strings.TrimSpace(strings.Repeat("word ", n)),
		Language:   language,
		Confidence: confidence,
	}
	for i := range n {
		t.Words = append(t.Words, engine.TranscriptWord{From: 5 * i, To: 5*i + 4, Confidence: confidence})
	}
	return t
}

// Utterances that are less certain than the request wants are left out, and the confidence is that of the others by
// their length.
func TestTheThresholdIsOfUtterances(t *testing.T) {
	n := 0
	a := withFakes(t, func(_ context.Context, pcm []float32, _ engine.TranscribeOptions) (engine.Transcript, error) {
		n++
		return saying(pcm, "en", []float64{0.9, 0.3, 0.6}[n-1]), nil
	})
	o := contract.BatchProsody{Granularity: contract.ByUtterance}
	pcm := slices.Concat(hum(2), silence(1), hum(2), silence(1), hum(4), silence(1))
	h := hearOrFail(t, a, pcm, hearingOptions{transcription: transcribe(), prosody: &o})
	p, _ := h.prosody(o)
	all := p.GroupedPredictions[0].Predictions
	if len(all) != 2 || len(h.Utterances) != 2 || *all[1].Confidence != 0.6 || *all[0].Text != *new("word word") {
		t.Fatalf("%+v", all)
	}
	if c := p.Metadata.Confidence; c < 0.69 || c > 0.71 { // (2 × 0.9 + 4 × 0.6) / 6
		t.Errorf("confidence %v", c)
	}
	if b := all[1].Time.Begin; b < 5.9 || b > 6.1 {
		t.Errorf("the last utterance begins at %v", b)
	}
}

// The language of a short utterance is that detected before, and the language of most of the sound is reported.
func TestShortUtterancesHaveTheLanguageOfTheOthers(t *testing.T) {
	var asked []string
	a := withFakes(t, func(_ context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript, error) {
		asked = append(asked, o.Language)
		language := o.Language
		if language == "" {
			language = []string{"de", "", "de", "fr"}[len(asked)-1]
		}
		return saying(pcm, language, 1), nil
	})
	pcm := slices.Concat(hum(4), silence(1), hum(1), silence(1), hum(6), silence(1), hum(5), silence(1))
	h := hearOrFail(t, a, pcm, hearingOptions{transcription: transcribe()})
	if want := []string{"", "de", "", ""}; !slices.Equal(asked, want) || h.Detected != "de" {
		t.Errorf("asked for %q, detected %q", asked, h.Detected)
	}
}

// A voice that never pauses is transcribed and judged in parts, and its utterance is one unit.
func TestAnEndlessUtteranceIsHeardInParts(t *testing.T) {
	longest := 0
	a := withFakes(t, func(_ context.Context, pcm []float32, _ engine.TranscribeOptions) (engine.Transcript, error) {
		longest = max(longest, len(pcm))
		return saying(pcm, "en", 1), nil
	})
	o := contract.BatchProsody{Granularity: contract.ByUtterance}
	h := hearOrFail(t, a, hum(100), hearingOptions{transcription: transcribe(), prosody: &o})
	p, _ := h.prosody(o)
	if longest > 21*engine.SpeechRateHz || len(h.utterances) != 1 || len(h.judged) < 5 {
		t.Errorf("%d samples at once, %d utterances, judged %d times", longest, len(h.utterances), len(h.judged))
	}
	one := p.GroupedPredictions[0].Predictions[0].Time
	if one.Begin > 0.5 || one.End < 99 || one.End > 100 {
		t.Errorf("the utterance is at %v", one)
	}
	for i, w := range h.Words[1:] {
		if d := w.Begin - h.Words[i].Begin; d < 0.5 || d > 2.2 {
			t.Errorf("a word at %v follows one at %v", w.Begin, h.Words[i].Begin)
		}
	}
}

// Of a speaker each utterance has the words, groups and confidence.
func TestSpeakersAreGroups(t *testing.T) {
	a := withFakes(t, func(_ context.Context, pcm []float32, _ engine.TranscribeOptions) (engine.Transcript, error) {
		return saying(pcm, "en", 1), nil
	})
	o := contract.BatchProsody{Granularity: contract.ByTurn, IdentifySpeakers: true}
	pcm := slices.Concat(hum(4), silence(1), hum(4), silence(1))
	h := hearOrFail(t, a, pcm, hearingOptions{transcription: transcribe(), prosody: &o, speakers: true})
	p, _ := h.prosody(o)
	if len(p.GroupedPredictions) != 1 || p.GroupedPredictions[0].ID != "speaker_0" {
		t.Fatalf("%+v", p.GroupedPredictions)
	}
	turn := p.GroupedPredictions[0].Predictions
	if len(turn) != 1 || turn[0].SpeakerConfidence == nil || !(*turn[0].SpeakerConfidence > 0) {
		t.Errorf("%+v", turn)
	}
}

// An error of the sound, or of the transcriber, ends the hearing.
func TestHearingEndsWithAnError(t *testing.T) {
	a := withFakes(t, func(ctx context.Context, _ []float32, _ engine.TranscribeOptions) (engine.Transcript, error) {
		return engine.Transcript{}, engine.ErrBroken
	})
	o := hearingOptions{transcription: transcribe()}
	_, err := a.hear(t.Context(), inPieces(slices.Concat(hum(2), silence(2)), 999), o)
	if err != engine.ErrBroken {
		t.Errorf("%v", err)
	}
	broken := func(context.Context, func([]float32) error) error { return engine.ErrBroken }
	_, err = a.hear(t.Context(), broken, o)
	if err != engine.ErrBroken {
		t.Errorf("%v", err)
	}
}

func TestWordsAreSpreadOverTheVoice(t *testing.T) {
	text := "one two three"
	words := []Word{{From: 0, To: 3}, {From: 4, To: 7}, {From: 8, To: 13}}
	// 22,000 samples of voice, 11 letters
	spread(text, words, []stretch{{from: 16000, to: 32000}, {from: 48000, to: 54000}})
	for i, want := range [][2]float64{{1, 1.375}, {1.375, 1.75}, {1.75, 3.375}} {
		if words[i].Begin != want[0] || words[i].End != want[1] {
			t.Errorf("word %d is at %v to %v, want %v", i, words[i].Begin, words[i].End, want)
		}
	}
}
