package chat

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// hanging wraps fakes, one of which is as slow as possible: it waits for the end of its context.
type hanging struct {
	*fakes
	where   string
	reached chan struct{} // receives when the slow part has been reached
}

func (h hanging) hold(ctx context.Context, where string) error {
	if where != h.where {
		return nil
	}
	select {
	case h.reached <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return ctx.Err()
}

func (h hanging) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript, error) {
	if err := h.hold(ctx, "transcriber"); err != nil {
		return engine.Transcript{}, err
	}
	return h.fakes.Transcribe(ctx, pcm, o)
}

func (h hanging) Prefill(ctx context.Context, _ engine.Prompt) error {
	return h.hold(ctx, "reading ahead")
}

func (h hanging) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	if err := h.hold(ctx, "model"); err != nil {
		return engine.Usage{}, err
	}
	usage, err := h.fakes.Generate(ctx, p, emit)
	if held := h.hold(ctx, "model, in the middle"); held != nil {
		return usage, held
	}
	return usage, err
}

func (h hanging) WriteChat(ctx context.Context, id string, w store.ChatWrite) error {
	if err := h.hold(ctx, "history"); err != nil {
		return err
	}
	return h.fakes.WriteChat(ctx, id, w)
}

func (h hanging) Send(ctx context.Context, m contract.ServerMessage) error {
	if err := h.hold(ctx, "line"); err != nil {
		return err
	}
	return h.fakes.Send(ctx, m)
}

func (h hanging) Play(ctx context.Context, s contract.Sound) error {
	if err := h.hold(ctx, "sound"); err != nil {
		return err
	}
	return h.fakes.Play(ctx, s)
}

// In any state of a chat and for any cause of its end, the chat ends soon: the line is closed, the
// slot is released, and no goroutine is left (otherwise the test's bubble would never end).
func TestAChatEndsInAnyState(t *testing.T) {
	stages := []string{"", "transcriber", "reading ahead", "model", "model, in the middle", "history", "line", "sound"}
	ends := map[string]func(*Host, *Session){
		"the client leaves":      func(_ *Host, c *Session) { c.HangUp() },
		"the box stops":          func(h *Host, _ *Session) { _ = h.Stop(context.Background()) },
		"a part of it panics":    func(_ *Host, c *Session) { c.crashed() },
		"nothing can be written": func(_ *Host, c *Session) { c.scribeFailed(store.ErrFull) },
		"it may not go on":       func(_ *Host, c *Session) { _ = c.Fault(contract.KeyRevoked, "") },
	}
	for _, stage := range stages {
		for name, end := range ends {
			synctest.Test(t, func(t *testing.T) {
				f := hanging{newFakes(), stage, make(chan struct{}, 1)}
				h := hostOf(f)
				c := begin(t, h, connection.Opening{Line: f})
				l, err := c.Listen(true)
				if err != nil {
					t.Fatal(err)
				}
				speaking := make(chan struct{})
				go func() { // the line's reader: a second of voice, then silence
					defer close(speaking)
					for n := 0; ; n++ {
						pcm := make([]float32, 320)
						if n < 50 {
							pcm = slices.Repeat([]float32{0.1}, 320)
						}
						if c.Hear(pcm) != nil {
							return
						}
						time.Sleep(20 * time.Millisecond)
					}
				}()
				if stage != "" {
					<-f.reached
				}
				begun := time.Now()
				end(h, c)
				<-c.Done()
				if took := time.Since(begun); took > 2*lastWriteLimit {
					t.Errorf("in the %s, when %s, it took %s", stage, name, took)
				}
				<-speaking
				<-f.closed
				for err == nil {
					_, err = l.Next(t.Context())
				}
				if err := h.Stop(t.Context()); err != nil || h.Running() != 0 || len(h.Chats()) != 0 {
					t.Errorf("in the %s, when %s: %v, %d live", stage, name, err, h.Running())
				}
			})
		}
	}
}
