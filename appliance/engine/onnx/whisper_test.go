package onnx

import (
	"context"
	"testing"

	"parley/appliance/engine"
)

func openWhisper(t testing.TB) *Whisper {
	t.Helper()
	w, err := LoadWhisper(openRuntime(t), packFile(t, "whisper"), engine.NewGate(2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeOrFail(t, w) })
	if err := w.Warm(context.Background()); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWhisperWordErrorIsTheReferences(t *testing.T) {
	got := wordError(t, openWhisper(t), judged(t))
	t.Logf("word error %.2f %%", 100*got)
	if got > 0.0437 {
		t.Errorf("word error %.2f %%, want at most 4.37 %%", 100*got)
	}
}
