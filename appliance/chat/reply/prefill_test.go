package reply

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

// slowReader is a model that prefills for as long as it may.
type slowReader struct {
	engine.LanguageModel
	begun, given chan string
}

func (s slowReader) Prefill(ctx context.Context, p engine.Prompt) error {
	s.begun <- p.Messages[0].Content
	<-ctx.Done()
	s.given <- p.Messages[0].Content
	return ctx.Err()
}

// If a client changes its prompt a thousand times, the model reads the newest, and one goroutine waits for
// it.
func TestOnlyTheNewestPromptIsPrefilled(t *testing.T) {
	m := slowReader{begun: make(chan string, 10), given: make(chan string, 10)}
	var running sync.WaitGroup
	started := 0
	r := New(Parts{Model: m, Log: slog.New(slog.DiscardHandler), Go: func(f func()) { started++; running.Go(f) }})
	ctx, cancel := context.WithCancel(t.Context())
	r.Prefill(ctx, turn.Conversation{Prompt: "first"}, ModelOptions{})
	if got := <-m.begun; got != "first" {
		t.Fatalf("the model prefills %q", got)
	}
	r.Prefill(ctx, turn.Conversation{Prompt: "first", History: []turn.Entry{{Text: "Hello."}}}, ModelOptions{})
	select {
	case got := <-m.given:
		t.Errorf("%q is given up for more of the same", got)
	case <-time.After(50 * time.Millisecond):
	}
	for range 1000 {
		r.Prefill(ctx, turn.Conversation{Prompt: "newer"}, ModelOptions{})
	}
	r.Prefill(ctx, turn.Conversation{Prompt: "newest"}, ModelOptions{})
	<-m.given
	for got := <-m.begun; got != "newest"; got = <-m.begun {
		if got != "newer" {
			t.Errorf("the model prefills %q", got)
		}
		<-m.given
	}
	cancel()
	running.Wait()
	if started != 1 {
		t.Errorf("%d goroutines", started)
	}
}
