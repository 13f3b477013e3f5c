package answers

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// ErrNoPack means that the sentence embedder is not installed.
var ErrNoPack = errors.New("approved answers need the pack embed, which is not installed: fetch it with " +
	"`parley packs pull embed` and restart the box")

// Parts are what a Finder is made of.
type Parts struct {
	Embedder engine.SentenceEmbedder // nil if the pack is not installed
	Log      *slog.Logger
}

// Finder compiles the answers of configs to sets. It is safe for concurrent use.
type Finder struct {
	parts   Parts
	running sync.WaitGroup
	ctx     context.Context
	stop    context.CancelFunc
}

// New returns a Finder, which Close stops.
func New(p Parts) *Finder {
	f := &Finder{parts: p}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// Close ends the embedding in the background.
func (f *Finder) Close() {
	f.stop()
	f.running.Wait()
}

// Open returns the set of some answers. It starts to embed what is not embedded yet and does not wait for it. The error
// is ErrNoPack if there is no embedder.
func (f *Finder) Open(_ context.Context, a contract.Answers) (*Set, error) {
	if f.parts.Embedder == nil {
		return nil, ErrNoPack
	}
	s := &Set{Answers: a, embedder: f.parts.Embedder, ways: newWays(a)}
	f.running.Go(func() { s.ways.fill(f.ctx, f.parts.Embedder) })
	return s, nil
}

// Ready waits until all ways of asking of the set are embedded.
func (f *Finder) Ready(ctx context.Context, s *Set) error {
	select {
	case <-s.ways.filled:
		return s.ways.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
