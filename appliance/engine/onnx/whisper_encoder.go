package onnx

import (
	"context"
	"fmt"
	"os"
	"sync"
)

// whisperEncoder is the encoder for one window length. It is loaded when it is first run.
type whisperEncoder struct {
	rt     *Runtime
	path   string
	frames int

	mu      sync.Mutex
	session *Session
}

func (e *whisperEncoder) run(ctx context.Context, features, hidden Value) error {
	s, err := e.load()
	if err != nil {
		return err
	}
	return s.RunUntil(ctx, []Value{features}, []Value{hidden})
}

// load shortens the position table to the window and removes the attention outputs, which are not
// used.
func (e *whisperEncoder) load() (*Session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.session != nil {
		return e.session, nil
	}
	model, err := os.ReadFile(e.path)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	model, err = trimGraph(model, "last_hidden_state", "embed_positions.weight", uint64(e.frames/2))
	if err != nil {
		return nil, loadError(e.path, err)
	}
	e.session, err = e.rt.LoadBytes(e.path, model, SessionOptions{
		Inputs: []string{"input_features"}, Outputs: []string{"last_hidden_state"}})
	return e.session, err
}

func (e *whisperEncoder) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.session == nil {
		return nil
	}
	s := e.session
	e.session = nil
	return s.Close()
}
