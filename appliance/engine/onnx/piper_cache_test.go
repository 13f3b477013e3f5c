package onnx

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

// TestLoadingResultsAreCached loads a voice four times: without a cache, with one, with a damaged
// encoder, and where nothing can be cached.
func TestLoadingResultsAreCached(t *testing.T) {
	rt, dir, folder := openRuntime(t), filepath.Dir(packtest.File(t, "voice-joe", "voice.onnx")), t.TempDir()
	load := func(o PiperOptions) (pcm []float32, gain float32) {
		p, err := LoadPiper(rt, dir, engine.NewGate(2), openPhonemizer(t), o)
		if err != nil {
			t.Fatal(err)
		}
		defer closeOrFail(t, p)
		if p.StreamError() != nil || !p.noiseInput {
			t.Errorf("the voice cannot stream (%v) or has no noise input", p.StreamError())
		}
		return say(t, p, "Good morning.", engine.SpeakOptions{Temperature: 0.5, Seed: 3}).PCM, p.levelGain
	}
	first, gain := load(PiperOptions{CacheDir: folder})
	record, encoder := filepath.Join(folder, "voice-joe.json"), filepath.Join(folder, "voice-joe.ort")
	was, err := os.ReadFile(encoder)
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string, pcm []float32, g float32) {
		t.Helper()
		if !slices.Equal(pcm, first) || g != gain {
			t.Errorf("%s the voice sounds otherwise (gain %g and %g)", what, gain, g)
		}
	}
	before, _ := os.Stat(encoder)
	pcm, g := load(PiperOptions{CacheDir: folder, SkipWarmUp: true})
	same("from the cache", pcm, g)
	if after, err := os.Stat(encoder); err != nil || !os.SameFile(before, after) {
		t.Errorf("the cached encoder was made again (%v)", err)
	}
	damaged := slices.Clone(was)
	damaged[len(damaged)/2] ^= 1
	if err := os.WriteFile(encoder, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	pcm, g = load(PiperOptions{CacheDir: folder, SkipWarmUp: true})
	same("with a damaged cache", pcm, g)
	if now, err := os.ReadFile(encoder); err != nil || bytes.Equal(now, damaged) {
		t.Errorf("the damaged file is not replaced (%v)", err)
	}
	if err := os.WriteFile(record, []byte(`{"identity": "another voice", "gain": 9, "front": "x"}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	if k := openVoiceCache(folder, "voice-joe", func() ([]byte, error) {
		return []byte("this one"), nil
	}); k.gain() != 0 {
		t.Error("the cache of another voice is used")
	}
	pcm, g = load(PiperOptions{CacheDir: filepath.Join(record, "no folder")})
	same("without a cache", pcm, g)
}
