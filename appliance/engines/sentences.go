package engines

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"

	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
)

// SentencesPack is the pack of the sentence embedder.
const SentencesPack = "embed"

// Sentences is the sentence embedder, which only a box with approved answers needs. It is loaded at its first use, so
// that its pack may be installed while the box runs. It implements engine.SentenceEmbedder.
type Sentences struct {
	set     *Set
	loading chan struct{}                  // full while a call loads the model
	model   atomic.Pointer[onnx.Sentences] // nil before the first use
}

func newSentences(set *Set) *Sentences { return &Sentences{set: set, loading: make(chan struct{}, 1)} }

// Installed reports whether the pack is there.
func (s *Sentences) Installed() bool {
	_, err := os.Stat(filepath.Join(s.set.cfg.Pack(SentencesPack), "tokenizer.json"))
	return err == nil
}

// Model names the model.
func (s *Sentences) Model() string { return onnx.SentenceModel }

// Embed implements engine.SentenceEmbedder.
func (s *Sentences) Embed(ctx context.Context, texts []string, u *engine.Urgency) ([][]float32, error) {
	m, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return m.Embed(ctx, texts, u)
}

// open loads the model if need be. Calls at the same time wait for the loading, until their ctx ends.
func (s *Sentences) open(ctx context.Context) (*onnx.Sentences, error) {
	if m := s.model.Load(); m != nil {
		return m, nil
	}
	select {
	case s.loading <- struct{}{}:
		defer func() { <-s.loading }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if m := s.model.Load(); m != nil { // loaded meanwhile
		return m, nil
	}
	m, err := onnx.LoadSentences(s.set.runtime, s.set.cfg.Pack(SentencesPack), s.set.Gate)
	if err != nil {
		return nil, err
	}
	s.set.onClose(m.Close)
	err = s.set.warm(ctx, "sentence embedder", m)
	s.model.Store(m) // the next call warms it if ctx has ended
	return m, err
}
