package engines

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
	"parley/internal/packtest"
)

func sentencesIn(t *testing.T, packs string) *Sentences {
	t.Helper()
	rt, err := onnx.Open(packtest.File(t, "runtime-onnx", "libonnxruntime.so"))
	if err != nil {
		t.Fatal(err)
	}
	set := &Set{
		Gate:    engine.NewGate(1),
		cfg:     config.Config{Packs: packs},
		log:     slog.New(slog.DiscardHandler),
		runtime: rt,
	}
	set.onClose(rt.Close)
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	return newSentences(set)
}

func TestSentencesAreLoadedAtTheirFirstUse(t *testing.T) {
	s := sentencesIn(t, filepath.Dir(filepath.Dir(packtest.File(t, SentencesPack, "model.onnx"))))
	if !s.Installed() || s.model.Load() != nil {
		t.Fatalf("before the first use: installed %v, model %v", s.Installed(), s.model.Load())
	}
	for range 2 {
		v, err := s.Embed(t.Context(), []string{"When are you open?"}, engine.Live.Urgency())
		if err != nil || len(v) != 1 || len(v[0]) != engine.SentenceDimensions {
			t.Fatalf("%d vectors, %v", len(v), err)
		}
	}
	if n := len(s.set.closers); n != 2 {
		t.Errorf("%d parts to close, want the runtime and one model", n)
	}
}

func TestSentencesWithoutTheirPackNameTheCommand(t *testing.T) {
	s := sentencesIn(t, t.TempDir())
	if s.Installed() {
		t.Error("it says that the pack is installed")
	}
	_, err := s.Embed(t.Context(), []string{"When are you open?"}, nil)
	if err == nil || !strings.Contains(err.Error(), "parley packs pull") {
		t.Errorf("the error is %v", err)
	}
}

// A chat does not wait longer than it may because another one loads the model.
func TestWaitingForTheLoadingEndsWithTheContext(t *testing.T) {
	s := sentencesIn(t, t.TempDir())
	s.loading <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := s.Embed(ctx, []string{"When are you open?"}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}
