package answers

import (
	"context"
	_ "embed"
	"strings"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// backgroundText lists what people say to any assistant, whatever it is for.
//
//go:embed background.txt
var backgroundText string

// Background returns what people say to any assistant: small talk, and questions about anything. A question that is
// nearer to these texts than to the ways of asking probably wants no approved answer.
func Background() []string { return strings.Split(strings.TrimSpace(backgroundText), "\n") }

// openBackground opens the set of the background once, and embeds it as it does any other set.
func (f *Finder) openBackground(embedder engine.SentenceEmbedder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.background != nil || f.closed || len(f.parts.Background) == 0 {
		return
	}
	s := newSet(f, contract.Answers{Items: []contract.AnswerItem{{Ask: f.parts.Background}}}, embedder)
	var filling context.Context
	filling, s.stop = context.WithCancelCause(f.ctx)
	f.background = s
	f.running.Go(func() {
		if s.fill(filling); s.err != nil {
			f.mu.Lock()
			f.background = nil // so that a later Open tries again
			f.mu.Unlock()
		}
	})
}

// backgroundLikeness returns the greatest cosine of a vector with the background; usualBackground if nothing of it is
// embedded.
func (f *Finder) backgroundLikeness(v []float32) float64 {
	f.mu.Lock()
	s := f.background
	f.mu.Unlock()
	if s == nil {
		return usualBackground
	}
	if l := s.likenesses(v)[0]; l.Way >= 0 {
		return max(0, l.Cosine)
	}
	return usualBackground
}
