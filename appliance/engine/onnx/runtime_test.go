package onnx

import (
	"os"
	"strings"
	"testing"

	"parley/internal/packtest"
)

// wantError checks that an error contains all parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want one with %q", err, part)
		}
	}
}

func TestRuntimeOpensAsOftenAsIsAsked(t *testing.T) {
	shared.none(t)
	library := packtest.File(t, "runtime-onnx", "libonnxruntime.so")
	silero := packtest.File(t, "turn", "silero_vad.onnx")
	for range 3 { // closed completely in between
		a, err := Open(library)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Open(library)
		if err != nil {
			t.Fatal(err)
		}
		if a.Version() == "" {
			t.Error("no version")
		}
		s, err := LoadSilero(b, silero)
		if err != nil {
			t.Fatal(err)
		}
		closeOrFail(t, a)
		closeOrFail(t, a) // a second call does nothing
		closeOrFail(t, b)
		if err := s.Warm(t.Context()); err != nil {
			t.Errorf("a session after its runtime: %v", err)
		}
		closeOrFail(t, s)
		if _, err := a.Load(silero, SessionOptions{}); err == nil {
			t.Error("a closed runtime loaded a model")
		}
	}
}

func TestWrongLibraryIsRefused(t *testing.T) {
	shared.none(t)
	dir := t.TempDir()
	text := dir + "/libonnxruntime.so"
	if err := os.WriteFile(text, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir + "/gone.so")
	wantError(t, err, "gone.so", "parley packs pull")
	_, err = Open(text)
	wantError(t, err, text, "parley packs list --verify")
	openRuntime(t)
	_, err = Open(text)
	wantError(t, err, text, "is in use")
}

func TestCallRefusesWhatTheModelDoesNotHave(t *testing.T) {
	rt := openRuntime(t)
	s, err := rt.Load(packtest.File(t, "turn", "silero_vad.onnx"),
		SessionOptions{Threads: 1, Inputs: []string{"input"}, Outputs: []string{"output"}})
	if err != nil {
		t.Fatal(err)
	}
	defer closeOrFail(t, s)
	c, err := s.NewCall()
	if err != nil {
		t.Fatal(err)
	}
	defer closeOrFail(t, c)
	wantError(t, c.Run(), "silero_vad.onnx")
	x, err := NewTensor(make([]float32, 6), 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Destroy()
	if err := c.In("no such input", x); err == nil {
		err = c.Run()
		wantError(t, err, "no such input")
	}
	wantError(t, s.Run([]Value{x}, []Value{nil}), "silero_vad.onnx")
	if _, err := NewTensor(make([]float32, 5), 2, 3); err == nil {
		t.Error("five numbers filled a shape of six")
	}
}
