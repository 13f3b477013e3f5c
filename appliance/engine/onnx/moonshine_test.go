package onnx

import (
	"context"
	"testing"

	"parley/appliance/engine"
)

func openMoonshine(t testing.TB) *Moonshine {
	t.Helper()
	m, err := LoadMoonshine(openRuntime(t), packFile(t, "moonshine"), engine.NewGate(2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeOrFail(t, m) })
	if err := m.Warm(context.Background()); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMoonshineWordErrorIsTheReferences(t *testing.T) {
	got := wordError(t, openMoonshine(t), judged(t))
	t.Logf("word error %.2f %%", 100*got)
	if got > 0.0695 {
		t.Errorf("word error %.2f %%, want at most 6.95 %%", 100*got)
	}
}
