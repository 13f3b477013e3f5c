package onnx

import (
	"math"
	"slices"
	"strings"
	"testing"

	"parley/appliance/engine"
)

func TestWordsAreSplitAtSpacesAndUnspacedLetters(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "",
		" Well, it's done. ": "Well,|it's|done.",
		"今日は、東京。":            "今|日|は、|東|京。",
		"a\u00a0b":           "a|b",
		"bad \xff byte":      "bad|\xff|byte",
	} {
		var got []string
		for _, w := range splitWords(text) {
			got = append(got, text[w.From:w.To])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A word that the model was less sure of has a lower confidence, whatever the tokens that it is made of.
func TestAWordHasTheConfidenceOfItsTokens(t *testing.T) {
	pieces := []string{" The", " mus", "eum", ".", " Tö", "n"}
	r := transcription{ids: []int64{0, 1, 2, 3, 4, 5}, steps: 1}
	for _, p := range []float64{0.9, 0.5, 0.8, 0.8, 0.4, 0.4, 0.1} { // the last is of the end
		r.logs = append(r.logs, math.Log(p))
	}
	words := r.words("The museum. Tön", func(id int64) string { return pieces[id] })
	for i, want := range []float64{0.9, math.Cbrt(0.5 * 0.8 * 0.8), 0.4} {
		if got := words[i].Confidence; math.Abs(got-want) > 1e-9 {
			t.Errorf("word %d has confidence %.3f, want %.3f", i, got, want)
		}
	}
}

// The confidence of a text and of its words is low where noise covers the speech.
func TestNoiseLowersConfidence(t *testing.T) {
	clean := prompts(t)[20].pcm(t)
	noisy := slices.Clone(clean)
	for i, x := range notSpeech()["hiss of a quiet room"] {
		if i < len(noisy) {
			noisy[i] += 40 * x
		}
	}
	o := engine.TranscribeOptions{Language: "en", Words: true}
	for name, e := range map[string]engine.Transcriber{"Moonshine": openMoonshine(t), "Whisper": openWhisper(t)} {
		var heard [2]engine.Transcript
		for i, pcm := range [][]float32{clean, noisy} {
			var err error
			if heard[i], err = e.Transcribe(t.Context(), pcm, o); err != nil {
				t.Fatal(err)
			}
			for _, w := range heard[i].Words {
				if !(w.Confidence > 0 && w.Confidence <= 1) {
					t.Errorf("%s: %q has confidence %v", name, heard[i].Text[w.From:w.To], w.Confidence)
				}
			}
			if got := len(heard[i].Words); got != len(strings.Fields(heard[i].Text)) {
				t.Errorf("%s: %d words in %q", name, got, heard[i].Text)
			}
		}
		t.Logf("%s: %.3f clean, %.3f noisy: %s", name, heard[0].Confidence, heard[1].Confidence, heard[1].Text)
		if c := heard[0].Confidence; !(c > 0.7 && c <= 1 && c > heard[1].Confidence) {
			t.Errorf("%s: confidence %.3f in clean sound, %.3f in noise", name, c, heard[1].Confidence)
		}
	}
}
