package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/media"
	"parley/appliance/text"
	"parley/internal/packtest"
)

// transcribe returns the default options.
func transcribe() *contract.BatchTranscription {
	return &contract.BatchTranscription{ConfidenceThreshold: contract.DefaultTranscriptConfidence}
}

func hearOrFail(t testing.TB, a *Analyser, pcm []float32, o hearingOptions) speechResult {
	t.Helper()
	h, err := a.hear(t.Context(), inPieces(pcm, 16000), o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Two voices one after the other are two utterances, with the words of each at its time, however the sound is cut into
// pieces.
func TestTwoVoicesAreTwoUtterances(t *testing.T) {
	a := withEars(t)
	first, second := recorded(t, "vm-intro"), recorded(t, "demo-nogo")
	pcm := slices.Concat(silence(1), first, silence(1), second, silence(0.4))
	begin := 1 + seconds(int64(len(first))) + 1
	o := hearingOptions{transcription: transcribe(), prosody: &contract.BatchProsody{Granularity: contract.ByUtterance}}
	h := hearOrFail(t, a, pcm, o)
	if len(h.utterances) < 2 {
		t.Fatalf("%d utterances: %q", len(h.utterances), h.Text)
	}
	want := "Please leave your message after the tone. When done, hang up or press the pound key. " +
		packtest.Words(t)["demo-nogo"]
	if wrong := text.WordErrors(text.Words(want), text.Words(h.Text)); wrong > 4 {
		t.Errorf("%d words are wrong in %q, want %q", wrong, h.Text, want)
	}
	at := slices.IndexFunc(h.utterances, func(u utterance) bool { return u.begin > begin-0.2 })
	if at < 1 || h.utterances[0].begin < 1 || h.utterances[at].begin > begin+0.3 {
		t.Errorf("utterances %+v, want the second voice from %.2f s", h.utterances, begin)
	}
	end := 0.0
	for _, w := range h.Words {
		if w.Begin < end || w.End <= w.Begin || w.End > seconds(int64(len(pcm))) {
			t.Errorf("%q is at %.2f to %.2f, after %.2f", h.Text[w.From:w.To], w.Begin, w.End, end)
		}
		if !(w.Confidence > 0 && w.Confidence <= 1) {
			t.Errorf("%q has confidence %v", h.Text[w.From:w.To], w.Confidence)
		}
		end = w.Begin
	}
	if h.Detected != "" {
		t.Errorf("language %q is detected by a transcriber of English", h.Detected)
	}
	if c := h.metadata(); c == nil || c.Confidence < 0.7 || c.DetectedLanguage != "" {
		t.Errorf("metadata %+v", c)
	}
	odd, err := a.hear(t.Context(), inPieces(pcm, 777), o)
	if err != nil || odd.Text != h.Text || !slices.Equal(odd.Words, h.Words) {
		t.Errorf("in odd pieces %q, %v, want %q", odd.Text, err, h.Text)
	}
}

// Two people who take turns are two groups, each with its own utterances.
func TestTwoVoicesAreTwoSpeakers(t *testing.T) {
	him, _ := say(t, openVoice(t, "voice-joe"), "The train to the airport leaves every fifteen minutes.")
	her := recorded(t, "vm-intro")
	pcm := slices.Concat(her, silence(0.8), him, silence(0.8), recorded(t, "demo-nogo"), silence(0.8), him)
	o := contract.BatchProsody{Granularity: contract.ByTurn, IdentifySpeakers: true}
	h := hearOrFail(t, withEars(t), pcm, hearingOptions{transcription: transcribe(), prosody: &o, speakers: true})
	p, _ := h.prosody(o)
	if len(p.GroupedPredictions) != 2 {
		t.Fatalf("%d speakers: %+v", len(p.GroupedPredictions), h.utterances)
	}
	for i, group := range p.GroupedPredictions {
		if want := []string{"speaker_0", "speaker_1"}[i]; group.ID != want || len(group.Predictions) != 2 {
			t.Errorf("%s has %d turns, want 2 of %s", group.ID, len(group.Predictions), want)
		}
		for _, turn := range group.Predictions {
			if his := strings.Contains(*turn.Text, "airport"); his != (i == 1) {
				t.Errorf("%s says %q", group.ID, *turn.Text)
			}
		}
	}
}

// Silence, noise and music have no words and no scores.
func TestNothingIsSaidWithoutAVoice(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	noise, music := silence(6), silence(6)
	for i := range noise {
		noise[i] = float32(0.05 * r.NormFloat64())
		at := float64(i) / engine.SpeechRateHz
		for _, hz := range []float64{261.6, 329.6, 392} {
			music[i] += float32(0.1 * math.Sin(2*math.Pi*hz*at) * math.Exp(-3*math.Mod(at, 0.5)))
		}
	}
	for name, pcm := range map[string][]float32{"nothing": nil, "a moment": silence(0.01), "silence": silence(6),
		"noise": noise, "music": music} {
		for _, o := range []contract.BatchProsody{{Granularity: contract.ByWord}, {Granularity: contract.ByTurn},
			{Window: &contract.BatchWindow{Length: 4, Step: 1}}} {
			h := hearOrFail(t, withEars(t), pcm, hearingOptions{transcription: transcribe(), prosody: &o})
			p, problem := h.prosody(o)
			if h.Text != "" || problem != "" || len(p.GroupedPredictions) != 0 || p.GroupedPredictions == nil {
				t.Errorf("%s: %q, %+v, %q", name, h.Text, p, problem)
			}
		}
	}
}

// Words whose times no model measures are near where they are said, and those of Whisper nearer.
func TestWordsAreWhereTheyAreSaid(t *testing.T) {
	joe := openVoice(t, "voice-joe")
	var pcm []float32
	var want []Word
	for _, s := range []string{
		"Your room will be ready in about twenty minutes, and I will call you then.",
		"The train to the airport leaves every fifteen minutes.",
		"Would you like to book a table for two people this evening?",
	} {
		said, words := say(t, joe, s)
		for _, w := range words {
			w.Begin += seconds(int64(len(pcm)))
			w.End += seconds(int64(len(pcm)))
			want = append(want, w)
		}
		pcm = slices.Concat(pcm, said, silence(0.8))
	}
	for name, a := range map[string]*Analyser{"Moonshine": withEars(t), "Whisper": withWhisper(t)} {
		h := hearOrFail(t, a, pcm, hearingOptions{transcription: transcribe()})
		if len(h.Words) != len(want) {
			t.Errorf("%s: %d words of %d: %q", name, len(h.Words), len(want), h.Text)
			continue
		}
		var begins, ends float64
		for i, w := range h.Words {
			begins += math.Abs(w.Begin-want[i].Begin) / float64(len(want))
			ends += math.Abs(w.End-want[i].End) / float64(len(want))
			if w.End < w.Begin || i > 0 && w.Begin < h.Words[i-1].Begin || w.End > seconds(int64(len(pcm))) {
				t.Errorf("%s: %q is at %.3f to %.3f s", name, h.Text[w.From:w.To], w.Begin, w.End)
			}
		}
		t.Logf("%s: words begin %.3f s and end %.3f s from where they are said, on average", name, begins, ends)
		if most := map[string]float64{"Moonshine": 0.15, "Whisper": 0.08}[name]; begins > most || ends > most {
			t.Errorf("%s: words begin %.3f s and end %.3f s from where they are said", name, begins, ends)
		}
	}
}

// Utterances below the threshold are left out, words and voice.
func TestUncertainUtterancesAreLeftOut(t *testing.T) {
	pcm := recorded(t, "vm-intro")
	o := contract.BatchProsody{Granularity: contract.ByUtterance}
	h := hearOrFail(t, withEars(t), pcm, hearingOptions{
		transcription: &contract.BatchTranscription{ConfidenceThreshold: 0.999},
		prosody:       &o,
	})
	if p, _ := h.prosody(o); h.Text != "" || len(p.GroupedPredictions) != 0 {
		t.Errorf("%q, %+v", h.Text, p)
	}
}

// A language that the transcriber does not know is no transcript, and the problem names the pack.
func TestAnUnknownLanguageIsAProblem(t *testing.T) {
	h := hearOrFail(t, withEars(t), recorded(t, "vm-intro"), hearingOptions{
		transcription: &contract.BatchTranscription{Language: "de"},
	})
	if h.Text != "" || !strings.Contains(h.problem, `"de"`) || !strings.Contains(h.problem, "packs pull whisper") {
		t.Errorf("%q, problem %q", h.Text, h.problem)
	}
	british := hearOrFail(t, withEars(t), recorded(t, "vm-intro"), hearingOptions{
		transcription: &contract.BatchTranscription{Language: "en-GB"},
	})
	if british.Text == "" || british.problem != "" {
		t.Errorf("%q, problem %q", british.Text, british.problem)
	}
}

// Whisper detects the language.
func TestTheLanguageIsDetected(t *testing.T) {
	h := hearOrFail(t, withWhisper(t), recorded(t, "vm-intro"), hearingOptions{transcription: transcribe()})
	if m := h.metadata(); m == nil || m.DetectedLanguage != "en" || h.Language != "en" {
		t.Errorf("%+v, language %q", m, h.Language)
	}
}

// A file of sound has what each of the models that apply to it says; the others are absent.
func TestASoundFileIsMeasured(t *testing.T) {
	a := *withEars(t)
	a.Media = &media.Reader{}
	models := contract.AllBatchModels()
	report, err := a.Analyse(t.Context(), Source{Path: packtest.Recording(t, "demo-nogo")}, Request{
		Models:        models,
		Transcription: transcribe(),
	})
	m := report.Models
	if err != nil || m.Face != nil || m.Facemesh != nil || m.Prosody == nil || m.Language == nil || m.NER == nil ||
		m.Burst == nil {
		t.Fatalf("%+v, %v", m, err)
	}
	words := m.Language.GroupedPredictions[0].Predictions
	utterances := m.Prosody.GroupedPredictions[0].Predictions
	first, last := utterances[0], utterances[len(utterances)-1]
	if len(words) < 20 || words[0].Time == nil || words[0].Time.Begin < first.Time.Begin ||
		words[len(words)-1].Time.End > last.Time.End+0.001 {
		t.Errorf("%d words from %v, utterances from %v to %v", len(words), words[0].Time, first.Time, last.Time)
	}
	if len(report.Problems) > 0 || len(m.Burst.GroupedPredictions) != 0 {
		t.Errorf("problems %q, bursts %+v", report.Problems, m.Burst)
	}
	if m.Prosody.Metadata == nil || *m.Prosody.Metadata != *m.Language.Metadata {
		t.Errorf("metadata %+v and %+v", m.Prosody.Metadata, m.Language.Metadata)
	}
}

// The transcriber gives some words no length, also the last one of a sound.
func TestEveryWordHasALength(t *testing.T) {
	words := []Word{{Begin: 0.1, End: 0.5}, {Begin: 0.5, End: 0.5}, {Begin: 0.5, End: 0.9}, {Begin: 1, End: 1}}
	lengthen(words, []stretch{{to: media.SampleRate}})
	for i, w := range words {
		if w.End <= w.Begin || w.End > 1 || i > 0 && w.Begin < words[i-1].Begin {
			t.Errorf("word %d is at %v to %v", i, w.Begin, w.End)
		}
	}
}
