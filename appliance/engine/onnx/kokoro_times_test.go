package onnx

import (
	"math"
	"slices"
	"testing"

	"parley/appliance/engine"
)

// Kokoro's word times match the sound, although its durations are two frames, 50 ms, late.
func TestKokorosWordsBeginWithTheirSound(t *testing.T) {
	k := openKokoro(t, openRuntime(t))
	for voice, sentence := range map[string]string{
		"af_heart": "Apples are here. Eggs are there. Onions, too. All of it is old. Is it?",
		"if_sara":  "Anna è qui. Elena è là. Orlando arriva. Aldo è andato via. Uno o due?",
	} {
		v, err := k.Voice([]StyleWeight{{voice, 1}})
		if err != nil {
			t.Fatal(err)
		}
		speech, err := engine.SpeakWhole(t.Context(), v, sentence, engine.SpeakOptions{})
		if err != nil {
			t.Fatal(err)
		}
		begins := soundsBehindPauses(speech.PCM, speech.RateHz)
		var late []float64 // ms
		for _, begin := range begins {
			nearest := slices.MinFunc(speech.Words, func(a, b engine.Word) int {
				return int(math.Abs(float64(a.Begin-begin)) - math.Abs(float64(b.Begin-begin)))
			})
			late = append(late, 1000*float64(nearest.Begin-begin)/float64(speech.RateHz))
		}
		slices.Sort(late)
		if n := len(late); n < 3 || math.Abs(late[n/2]) > 25 {
			t.Errorf("%s: words are reported this many ms after their sound: %.0f", voice, late)
		}
	}
}

// soundsBehindPauses returns the positions at which sound begins after 50 ms that are 26 dB below
// the loudest, in samples.
func soundsBehindPauses(pcm []float32, rateHz int) (begins []int) {
	step := rateHz / 200
	levels := make([]float64, len(pcm)/step)
	for i := range levels {
		for _, x := range pcm[i*step : (i+1)*step] {
			levels[i] += float64(x) * float64(x)
		}
	}
	audible := slices.Max(levels) / 400
	quiet := 0
	for i, level := range levels {
		if level < audible {
			quiet++
			continue
		}
		if quiet >= 10 {
			begins = append(begins, i*step)
		}
		quiet = 0
	}
	return begins
}
