package chat

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
	"parley/store"
)

// fakes replace engines, line and store.
type fakes struct {
	enginetest.Engines
	mu       sync.Mutex
	sent     []contract.ServerMessage
	sentAt   []time.Time // when each of sent was sent
	stored   []store.Event
	amended  []store.Event
	status   store.Status
	metadata string
	closed   chan int
	reason   string        // with which the line was closed
	full     error         // error of WriteChat
	stuck    chan struct{} // if not nil, Send waits for it or its context
	slow     chan struct{} // if not nil, WriteChat waits for it or its context
	replies  []string
	asked    [][]engine.Message
}

func newFakes() *fakes {
	return &fakes{closed: make(chan int, 1), replies: []string{"It opens at ten. ", "Not on Mondays."}}
}

func (f *fakes) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	f.mu.Lock()
	f.asked = append(f.asked, p.Messages)
	f.mu.Unlock()
	return enginetest.FixedReply(0, f.replies...)(ctx, p, emit)
}

func (f *fakes) Prepare(account, name string) error {
	if name != "" && name != "joe" {
		return contract.ErrInvalid{Field: "voice", Why: "no voice " + name}
	}
	return nil
}
func (f *fakes) Voice(_ context.Context, account, name string) (engine.Synthesizer, error) {
	return f, f.Prepare(account, name)
}
func (f *fakes) Send(ctx context.Context, m contract.ServerMessage) error {
	if f.stuck != nil {
		select {
		case <-f.stuck:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, m)
	f.sentAt = append(f.sentAt, time.Now())
	return nil
}
func (f *fakes) Play(ctx context.Context, s contract.Sound) error {
	return f.Send(ctx, contract.AudioOutput{ID: s.ID, Index: s.Index, CustomSessionID: s.CustomSessionID})
}
func (f *fakes) HeldBack() int         { return 0 }
func (f *fakes) Unsent() time.Duration { return 0 }
func (f *fakes) Cut()                  {}
func (f *fakes) Close(code int, reason string) {
	f.mu.Lock()
	f.reason = reason
	f.mu.Unlock()
	f.closed <- code
}

func (f *fakes) StartChat(context.Context, store.NewChat, ...store.Event) error { return nil }
func (f *fakes) WriteChat(ctx context.Context, _ string, w store.ChatWrite) error {
	if f.slow != nil {
		select {
		case <-f.slow:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stored = append(f.stored, w.New...)
	f.amended = append(f.amended, w.Amended...)
	f.metadata = cmp.Or(w.Metadata, f.metadata)
	return f.full
}
func (f *fakes) EndChat(_ context.Context, _ string, s store.Status, _ int64, last ...store.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status = s
	f.stored = append(f.stored, last...)
	return nil
}
func (f *fakes) GroupHistory(context.Context, string, int) ([]store.Event, error) {
	return []store.Event{
		{Type: store.UserMessage, MessageText: "My name is Ann."},
		{Type: store.AgentMessage, MessageText: "Hello,"}, {Type: store.AgentMessage, MessageText: "Ann."},
		{Type: store.AgentMessage, MessageText: turn.CutMark}, // interrupted before its first word
	}, nil
}

// messages returns the types of the messages sent so far.
func (f *fakes) messages() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var types []string
	for _, m := range f.sent {
		types = append(types, m.MessageType())
	}
	return strings.Join(types, " ")
}

// when returns when the first message of a type was sent.
func (f *fakes) when(wanted string) (at time.Time, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, m := range f.sent {
		if m.MessageType() == wanted {
			return f.sentAt[i], true
		}
	}
	return at, false
}

// until waits for a message of a type and fails the test if none comes.
func (f *fakes) until(t *testing.T, wanted string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		if strings.Contains(f.messages(), wanted) {
			return
		}
	}
	t.Fatalf("no %q in %q", wanted, f.messages())
}

// voiced replaces the voice of fakes.
type voiced struct {
	*fakes
	voice engine.Synthesizer
}

func (v voiced) Voice(context.Context, string, string) (engine.Synthesizer, error) {
	return v.voice, nil
}

// whole is everything a chat needs except its line.
type whole interface {
	engine.VoiceDetector
	engine.Transcriber
	engine.LanguageModel
	AccountVoices
	Records
}

// hostOf returns a host with one slot that uses f, changed by change.
func hostOf(f whole, change ...func(*Parts)) *Host {
	p := Parts{
		Detector:    f,
		Transcriber: f,
		Model:       f,
		Voices:      f,
		Records:     f,
		Defaults:    DefaultSettings(),
		Log:         slog.New(slog.DiscardHandler),
		MaxChats:    1,
	}
	for _, c := range change {
		c(&p)
	}
	return NewHost(context.Background(), p)
}

// enter opens a chat of h, of account a unless o says otherwise, and returns the error of Open.
func enter(t *testing.T, h *Host, o connection.Opening) (*Session, error) {
	t.Helper()
	o.Account = cmp.Or(o.Account, "a")
	slot, err := h.Reserve(o.Account)
	if err != nil {
		t.Fatal(err)
	}
	return slot.Open(t.Context(), o)
}

// begin opens a chat that has to open. It ends with the test.
func begin(t *testing.T, h *Host, o connection.Opening) *Session {
	t.Helper()
	c, err := enter(t, h, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.HangUp()
		<-c.Done()
	})
	return c
}

// open begins a chat that uses only f.
func open(t *testing.T, f *fakes, change ...func(*contract.ConnectSettings)) (*Host, *Session) {
	t.Helper()
	h := hostOf(f)
	var connect contract.ConnectSettings
	for _, c := range change {
		c(&connect)
	}
	return h, begin(t, h, connection.Opening{Line: f, Settings: connect})
}

// hear sends this many ms of voice or of silence, as fast as the session takes it.
func hear(t *testing.T, c *Session, ms int, voice bool) {
	t.Helper()
	for range ms / 20 {
		pcm := make([]float32, 320)
		if voice {
			for i := range pcm {
				pcm[i] = 0.1
			}
		}
		if err := c.Hear(pcm); err != nil {
			t.Fatal(err)
		}
	}
}
