package onnx

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/internal/packtest"
)

// TestWordTimesAreWhereAnEarHearsThem compares a voice's word times with those that Whisper finds
// in the sound.
func TestWordTimesAreWhereAnEarHearsThem(t *testing.T) {
	rt := openRuntime(t)
	ear, err := LoadWhisper(rt, filepath.Dir(packtest.File(t, "whisper", "tokenizer.json")), engine.NewGate(2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeOrFail(t, ear) })
	p := openVoice(t, rt, "voice-joe")
	var off []float64
	for _, s := range saidSentences()[:2] {
		speech := say(t, p, s, engine.SpeakOptions{})
		var words []string
		for _, w := range speech.Words {
			words = append(words, w.Text)
		}
		begins, err := ear.Align(t.Context(), audio.Resample(speech.PCM, speech.RateHz, engine.SpeechRateHz), words,
			engine.TranscribeOptions{Language: "en"})
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range speech.Words {
			ms := 1000 * (float64(w.Begin)/float64(speech.RateHz) - float64(begins[i])/engine.SpeechRateHz)
			t.Logf("%-12s %6.0f ms, %+4.0f from Whisper's", w.Text, 1000*float64(w.Begin)/float64(speech.RateHz), ms)
			off = append(off, math.Abs(ms))
		}
	}
	slices.Sort(off)
	if median := off[len(off)/2]; median > 60 {
		t.Errorf("words begin %.0f ms from where Whisper finds them, in the median", median)
	}
}
