package onnx

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"parley/appliance/engine"
)

var voicePacks = []string{"voice-joe", "voice-jenny", "voice-alan"}

// openVoice loads the voice of a pack for the time of the test.
func openVoice(t testing.TB, rt *Runtime, pack string) *Piper {
	t.Helper()
	ph, err := OpenPhonemizer()
	if err != nil {
		t.Fatal(err)
	}
	p, err := LoadPiper(rt, filepath.Dir(packFile(t, pack, "voice.onnx")), engine.NewGate(2), ph)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeOrFail(t, p) })
	return p
}

func TestExplore(t *testing.T) {
	rt := openRuntime(t)
	for _, pack := range voicePacks {
		t0 := time.Now()
		p := openVoice(t, rt, pack)
		t.Log(pack, "load", time.Since(t0), "timed", p.timed, "gain", p.gain)
		for _, s := range []string{"Sure, I can help you with that.", "Hello.", "How are you today?", "The swimming pool on the second floor is open every day from seven in the morning until ten at night, and towels are free of charge.", "Yes!", "Oh, no.", "Sure, I can help you with that,"} {
			ids, sounds, err := p.ids(s)
			if err != nil {
				t.Fatal(err)
			}
			t0 := time.Now()
			pcm, frames, err := p.run(ids, 1)
			if err != nil {
				t.Fatal(err)
			}
			run := time.Since(t0)
			var sum float32
			for _, f := range frames {
				sum += f
			}
			lead := -1
			levels := []float32{1e-4, 5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 0.016}
			var leads, tails []int
			for _, l := range levels {
				lead = slices.IndexFunc(pcm, func(x float32) bool { return x*p.gain > l || x*p.gain < -l })
				leads = append(leads, lead*1000/22050)
				tl := len(pcm)
				for tl > 0 && math.Abs(float64(pcm[tl-1]*p.gain)) < float64(l) {
					tl--
				}
				tails = append(tails, (len(pcm)-tl)*1000/22050)
			}
			ph := place(sounds, frames, len(pcm))
			t0 = time.Now()
			sp, err := p.Synthesize(context.Background(), s, engine.SpeakOptions{})
			t.Logf("  %.20q run %v synth %v n=%d sum=%v lead %v tail %v peak %.2f lvl %.1f out-lvl %.1f firstphoneme %d out %d first %v", s, run, time.Since(t0), len(pcm), sum*256, leads, tails, slices.Max(pcm), speechLevel(pcm, 22050), speechLevel(sp.PCM, 22050), ph[0].Begin*1000/22050, len(sp.PCM), sp.Phonemes[:3])
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
