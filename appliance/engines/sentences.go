package engines

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"parley/appliance/engine"
	"parley/appliance/engine/onnx"
)

// SentencesPack is the pack of the sentence embedder.
const SentencesPack = "embed"

// Sentences is the sentence embedder, which only a box with approved answers needs. It is loaded at its first use, so
// that its pack may be installed while the box runs. It implements engine.SentenceEmbedder.
type Sentences struct {
	set *Set

	mu    sync.Mutex
	model *onnx.Sentences // nil before the first use
}

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

// open loads the model if need be. Calls at the same time wait for the loading.
func (s *Sentences) open(ctx context.Context) (*onnx.Sentences, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.model != nil {
		return s.model, nil
	}
	m, err := onnx.LoadSentences(s.set.runtime, s.set.cfg.Pack(SentencesPack), s.set.Gate)
	if err != nil {
		return nil, err
	}
	s.set.onClose(m.Close)
	s.model = m
	return m, s.set.warm(ctx, "sentence embedder", m)
}
