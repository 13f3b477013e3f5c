package onnx

import (
	"context"
	"testing"

	"parley/appliance/engine"
)

func openSilero(t testing.TB) *Silero {
	t.Helper()
	s, err := LoadSilero(openRuntime(t), packFile(t, "turn", "silero_vad.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeOrFail(t, s) })
	if err := s.Warm(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

// loudest is the highest probability of voice in any frame of pcm.
func loudest(t testing.TB, stream engine.VoiceStream, pcm []float32) (top float32) {
	t.Helper()
	for ; len(pcm) >= engine.FrameSamples; pcm = pcm[engine.FrameSamples:] {
		p, err := stream.Probability(pcm[:engine.FrameSamples])
		if err != nil {
			t.Fatal(err)
		}
		top = max(top, p)
	}
	return top
}
