package onnx

import (
	"path/filepath"
	"slices"
	"testing"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

// The same seed gives the same samples, also after loading the model again and with one thread
// instead of two; another seed gives others.
func TestTheSameSeedGivesTheSameSamples(t *testing.T) {
	rt := openRuntime(t)
	p := openVoice(t, rt, "voice-joe")
	one, err := LoadPiper(rt, filepath.Dir(packtest.File(t, "voice-joe", "voice.onnx")), engine.NewGate(2),
		openPhonemizer(t), PiperOptions{CacheDir: shared.cacheDir, threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeOrFail(t, one) })
	const s = "Good morning. How are you?"
	o := engine.SpeakOptions{Temperature: 0.7, Seed: -5}
	first := say(t, p, s, o)
	if plain := say(t, p, s, engine.SpeakOptions{Seed: -5}); slices.Equal(plain.PCM, first.PCM) {
		t.Error("the temperature changes nothing")
	} else if !slices.Equal(plain.PCM, say(t, one, s, engine.SpeakOptions{}).PCM) {
		t.Error("without a temperature, a seed or the number of threads changes something")
	}
	for _, v := range []*Piper{p, one} {
		if again := say(t, v, s, o); !slices.Equal(again.PCM, first.PCM) || !slices.Equal(again.Words, first.Words) {
			t.Errorf("with %d threads the same seed gives other samples", v.cores)
		}
	}
	o.Seed = 6
	if other := say(t, p, s, o); slices.Equal(other.PCM, first.PCM) {
		t.Error("another seed gives the same samples")
	}
	if _, err := engine.SpeakWhole(t.Context(), p, s, engine.SpeakOptions{Temperature: 1.5}); err == nil {
		t.Error("a temperature of 1.5 is taken")
	}
}

func TestAVoiceWithoutNoiseInputVariesItsSpeed(t *testing.T) {
	p := openWhole(t, openRuntime(t), "voice-joe")
	length := func(seed int64) int {
		return len(say(t, p, "Good morning.", engine.SpeakOptions{Temperature: 1, Seed: seed}).PCM)
	}
	first := length(1)
	if again := length(1); again != first {
		t.Errorf("the same seed gives %d samples and %d", first, again)
	}
	for seed := range int64(8) { // some changes are shorter than a frame
		if length(seed+2) != first {
			return
		}
	}
	t.Errorf("all seeds give %d samples", first)
}
