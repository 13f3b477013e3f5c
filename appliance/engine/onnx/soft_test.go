package onnx

import (
	"slices"
	"strings"
	"testing"

	"parley/appliance/engine"
	"parley/appliance/text"
)

// Soft speech, and speech with a constant offset, is recognised as well as other speech. The gain
// was not tuned on these prompts.
func TestSoftSpeechIsUnderstood(t *testing.T) {
	detector, ear := openSilero(t), openMoonshine(t)
	all := prompts(t)
	var some []prompt
	for i := 3; i < len(all) && len(some) < 12; i += 17 {
		some = append(some, all[i])
	}
	wrong := func(peak, offset float32) (errors, words int) {
		for _, p := range some {
			pcm := p.pcm(t)
			top := max(slices.Max(pcm), -slices.Min(pcm))
			sound := make([]float32, engine.SpeechRateHz/2+len(pcm)+engine.SpeechRateHz)
			copy(sound[engine.SpeechRateHz/2:], pcm)
			for i := range sound {
				sound[i] = float32(int(32768*(sound[i]*peak/top+offset))) / 32768 // as a sound card gives it
			}
			utterances, _, err := engine.TranscribeRecording(t.Context(), detector, ear, sound,
				engine.DefaultSegmentOptions(),
				engine.TranscribeOptions{Urgency: engine.Batch.Urgency()}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, u := range utterances {
				got = append(got, u.Text)
			}
			want := text.Words(p.text)
			errors, words = errors+text.WordErrors(want, text.Words(strings.Join(got, " "))), words+len(want)
		}
		return errors, words
	}
	usual, words := wrong(0.3, 0)
	for _, c := range []struct{ peak, offset float32 }{{0.01, 0}, {0.03, 0.05}} {
		if n, _ := wrong(c.peak, c.offset); n > usual+words/25 {
			t.Errorf("with a peak of %v on an offset of %v %d of %d words are wrong, and usually %d", c.peak, c.offset,
				n, words, usual)
		}
	}
}
