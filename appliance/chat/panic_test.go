package chat

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/store"
)

// broken wraps fakes, one of which panics in one chat: at the poisoned text, or at sound that only the broken
// chat sends.
type broken struct {
	*fakes
	where string
}

const poison = "poison"

func (b broken) NewStream() engine.VoiceStream {
	return enginetest.Detector(func(frame []float32) (float32, error) {
		if b.where == "detector" && frame[0] < 0 {
			panic("the detector breaks")
		}
		return enginetest.LevelDetector(0)(frame)
	})
}

func (b broken) Transcribe(ctx context.Context, pcm []float32, o engine.TranscribeOptions) (engine.Transcript, error) {
	if b.where == "transcriber" && pcm[len(pcm)/2] < 0 {
		panic("the transcriber breaks")
	}
	return b.fakes.Transcribe(ctx, pcm, o)
}

func (b broken) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	poisoned := strings.Contains(p.Messages[len(p.Messages)-1].Content, poison)
	if poisoned && b.where == "model" {
		panic("the model breaks")
	}
	if poisoned {
		return engine.Usage{}, emit(engine.Part{Text: "This is " + poison + ". "})
	}
	return b.fakes.Generate(ctx, p, emit)
}

func (b broken) Voice(context.Context, string, string) (engine.Synthesizer, error) { return b, nil }

func (b broken) Speak(ctx context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	if b.where == "voice" && strings.Contains(text, poison) {
		panic("the voice breaks")
	}
	return b.fakes.Speak(ctx, text, o, emit)
}

func (b broken) WriteChat(ctx context.Context, id string, w store.ChatWrite) error {
	for _, e := range w.New {
		if b.where == "scribe" && strings.Contains(e.MessageText, poison) {
			panic("the scribe breaks")
		}
	}
	return b.fakes.WriteChat(ctx, id, w)
}

// Recorder returns one that panics at sound that only the broken chat sends.
func (b broken) Recorder(string, func() time.Duration, *slog.Logger) Recorder {
	return &brokenRecorder{where: b.where, heard: make(chan []float32, 100), over: make(chan struct{})}
}

func (b broken) FailRecording(context.Context, string) error { return nil }

type brokenRecorder struct {
	noRecorder
	where string
	heard chan []float32
	over  chan struct{}
	once  sync.Once
}

func (r *brokenRecorder) Run() {
	for {
		select {
		case pcm := <-r.heard:
			if r.where == "recorder" && pcm[0] < 0 {
				panic("the recorder breaks")
			}
		case <-r.over:
			return
		}
	}
}

func (r *brokenRecorder) Heard(_ time.Duration, pcm []float32) {
	select {
	case r.heard <- pcm:
	default:
	}
}

func (r *brokenRecorder) End(context.Context, time.Duration) bool {
	r.once.Do(func() { close(r.over) })
	return true
}

// brittleLine is a client's line; one panics, and the other must not be affected.
type brittleLine struct {
	*fakes
	where string
}

func (l brittleLine) Send(ctx context.Context, m contract.ServerMessage) error {
	if u, ok := m.(contract.UserMessage); ok && l.where == "line" && strings.Contains(u.Message.Content, poison) {
		panic("the line breaks")
	}
	return l.fakes.Send(ctx, m)
}

// say sends a second of voice and one of silence, in pieces.
func say(t *testing.T, c *Session, sample float32) {
	t.Helper()
	for n := range 100 {
		pcm := make([]float32, 320)
		if n < 50 {
			for i := range pcm {
				pcm[i] = sample
			}
		}
		if c.Hear(pcm) != nil {
			return
		}
	}
}

// A panic in any part of a chat ends that chat with an error, and no other.
func TestAPanicEndsItsChatAndNoOther(t *testing.T) {
	for _, where := range []string{"detector", "transcriber", "model", "voice", "scribe", "recorder", "line",
		"session"} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var log bytes.Buffer
				parts, hurt, well := newFakes(), newFakes(), newFakes()
				b := broken{parts, where}
				h := hostOf(b, func(p *Parts) {
					p.Recordings, p.MaxChats = b, 2
					p.Log = slog.New(slog.NewTextHandler(locked{&mu, &log}, nil))
					p.Observe = func(Stage, time.Duration) {}
				})
				first, other := begin(t, h, connection.Opening{Line: brittleLine{hurt, where}}),
					begin(t, h, connection.Opening{Line: brittleLine{well, where}})
				switch where {
				case "detector", "transcriber", "recorder":
					say(t, first, -0.1)
				case "session":
					first.enqueue(queuedEvent{event: nil}) // Next panics on it, because it has no time
				default:
					_ = first.Receive(contract.UserInput{Text: poison})
				}
				select {
				case <-first.Done():
				case <-time.After(time.Minute):
					t.Fatal("the broken chat goes on")
				}
				if m := hurt.messages(); !strings.HasSuffix(m, "error") {
					t.Errorf("the client received %q", m)
				}
				if code := <-hurt.closed; code != contract.CloseInternal {
					t.Errorf("its line was closed with %d", code)
				}
				parts.mu.Lock()
				status := parts.status
				parts.mu.Unlock()
				if status != store.Failed {
					t.Errorf("the chat ended with the status %s", status)
				}
				if h.Running() != 1 {
					eventually(t, "its slot is free", func() bool { return h.Running() == 1 })
				}
				mu.Lock()
				if said := log.String(); !strings.Contains(said, "panic_test.go") && where != "session" ||
					!strings.Contains(said, "goroutine") {
					t.Errorf("the log has no stack: %.300q", said)
				}
				mu.Unlock()
				say(t, other, 0.1)
				well.until(t, "assistant_end")
				if err := h.Stop(t.Context()); err != nil {
					t.Error(err)
				}
				<-other.Done()
			})
		})
	}
}

// locked is a log that many goroutines may write to.
type locked struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(b)
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so: %s", what)
		}
	}
}

// panicking is a Records that panics when a chat begins.
type panicking struct{ *fakes }

func (p panicking) GroupHistory(context.Context, string, int) ([]store.Event, error) {
	panic("the history breaks")
}

func TestAPanicAtTheBeginningReleasesTheSlot(t *testing.T) {
	f := newFakes()
	h := hostOf(panicking{f})
	defer h.Stop(t.Context())
	_, err := enter(t, h, connection.Opening{Line: f, Settings: contract.ConnectSettings{ResumedChatGroupID: "g"}})
	if err == nil || h.Running() != 0 || f.status != store.Failed {
		t.Errorf("%v, %d live, status %q", err, h.Running(), f.status)
	}
}

func TestOneAccountCannotTakeAllSlots(t *testing.T) {
	f := newFakes()
	alone := true
	h := NewHost(t.Context(), Parts{
		Model:           f,
		Log:             slog.New(slog.DiscardHandler),
		MaxChats:        4,
		ChatsPerAccount: 3,
		SoleAccount:     func(string) bool { return alone },
	})
	defer h.Stop(t.Context())
	take := func(account string) error {
		_, err := h.Reserve(account)
		return err
	}
	var slots []*Slot
	for range 4 {
		s, err := h.Reserve("a")
		if err != nil {
			t.Fatalf("alone on the box: %v", err)
		}
		slots = append(slots, s)
	}
	if _, full := take("a").(contract.ErrFull); !full {
		t.Error("a fifth found a slot, of four")
	}
	slots[0].Release()
	alone = false
	if much, ok := take("a").(contract.ErrTooMany); !ok || much.RetryAfter == 0 ||
		!strings.Contains(much.Error(), "3 chats") {
		t.Error("the chat takes the last slot although others are free")
	}
	s, err := h.Reserve("b")
	if err != nil {
		t.Errorf("the other finds none: %v", err)
	}
	for _, s := range append(slots, s) {
		s.Release()
	}
	if h.Running() != 0 || len(h.accounts) != 0 {
		t.Errorf("%d slots are taken, by %v", h.Running(), h.accounts)
	}
}
