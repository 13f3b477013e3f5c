package chat

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakes stand in for engines, line and store. Voice is a frame whose samples
// are not zero; what was said is always the same.
type fakes struct {
	mu       sync.Mutex
	sent     []contract.ServerMessage
	sentAt   []time.Time // of each of sent
	stored   []store.Event
	amended  []store.Event
	status   store.Status
	metadata string
	closed   chan int
	reason   string        // with which the line was closed
	full     error         // of WriteChat
	stuck    chan struct{} // not nil: Send waits for it, or its context
	slow     chan struct{} // not nil: WriteChat waits for it, or its context
	replies  []string
	asked    [][]engine.Message
}

func newFakes() *fakes {
	return &fakes{closed: make(chan int, 1), replies: []string{"It opens at ten. ", "Not on Mondays."}}
}

func (f *fakes) NewStream() engine.VoiceStream { return loud{} }

type loud struct{}

func (loud) Reset() {}
func (loud) Probability(frame []float32) (float32, error) {
	if frame[len(frame)/2] != 0 {
		return 1, nil
	}
	return 0, nil
}

func (f *fakes) Transcribe(ctx context.Context, pcm []float32, _ engine.TranscribeOptions) (engine.Transcript, error) {
	return engine.Transcript{Text: "When do you open?", Language: "en"}, ctx.Err()
}

func (f *fakes) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	f.mu.Lock()
	f.asked = append(f.asked, p.Messages)
	f.mu.Unlock()
	for _, piece := range f.replies {
		if err := emit(engine.Part{Text: piece}); err != nil {
			return engine.Usage{}, err
		}
	}
	return engine.Usage{}, nil
}
func (f *fakes) Prefill(context.Context, engine.Prompt) error { return nil }
func (f *fakes) Forget(string)                                {}
func (f *fakes) Choose(context.Context, engine.Prompt, []string) ([]float64, error) {
	return nil, engine.ErrCannot
}

func (f *fakes) Prepare(name string) error {
	if name != "" && name != "joe" {
		return contract.ErrInvalid{Field: "voice", Why: "no voice " + name}
	}
	return nil
}
func (f *fakes) Voice(_ context.Context, name string) (engine.Synthesizer, error) {
	return f, f.Prepare(name)
}
func (f *fakes) RateHz() int { return 24000 }
func (f *fakes) Speak(ctx context.Context, text string, _ engine.SpeakOptions, emit func(engine.Sound) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return emit(engine.Sound{PCM: make([]float32, 24000), Whole: 24000, Last: true})
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
func (f *fakes) Cut() {}
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

// messages are the types of what was sent so far.
func (f *fakes) messages() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var types []string
	for _, m := range f.sent {
		types = append(types, m.MessageType())
	}
	return strings.Join(types, " ")
}

// when is the moment at which the first message of a type was sent.
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

// until waits for a message of that type and fails the test when none comes.
func (f *fakes) until(t *testing.T, wanted string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		if strings.Contains(f.messages(), wanted) {
			return
		}
	}
	t.Fatalf("no %q in %q", wanted, f.messages())
}

func open(t *testing.T, f *fakes, change ...func(*contract.ConnectSettings)) (*Host, *Session) {
	t.Helper()
	h := NewHost(t.Context(), Parts{
		Detector: f, Transcriber: f, Model: f, Voices: f, Records: f,
		Defaults: DefaultSettings(), Log: slog.New(slog.DiscardHandler), MaxChats: 1,
	})
	var connect contract.ConnectSettings
	for _, c := range change {
		c(&connect)
	}
	seat, err := h.Reserve("a")
	if err != nil {
		t.Fatal(err)
	}
	c, err := seat.Open(t.Context(), Opening{Account: "a", Line: f, Connect: connect})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.HangUp()
		<-c.Done()
	})
	return h, c
}

// hear brings so many ms of voice (or of silence), as fast as the session takes
// it.
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

func TestSpokenTurnFromSoundToSound(t *testing.T) {
	f := newFakes()
	_, c := open(t, f)
	hear(t, c, 1000, true)
	hear(t, c, 1000, false)
	f.until(t, "assistant_end")
	want := "chat_metadata user_message assistant_message audio_output assistant_message audio_output assistant_end"
	if f.messages() != want {
		t.Fatalf("sent %q", f.messages())
	}
}

func TestClientThatStopsSendingEndsItsTurnAllTheSame(t *testing.T) {
	f := newFakes()
	_, c := open(t, f)
	hear(t, c, 1000, true)
	f.until(t, "assistant_end")
}

func TestWhatIsSentIsStoredBefore(t *testing.T) {
	f := newFakes()
	_, c := open(t, f)
	if err := c.Receive(contract.UserInput{Text: "Hello"}); err != nil {
		t.Fatal(err)
	}
	f.until(t, "assistant_end")
	var types []string
	f.mu.Lock()
	for _, e := range f.stored {
		types = append(types, string(e.Type))
		if e.ID == "" {
			t.Errorf("%s has no id", e.Type)
		}
	}
	f.mu.Unlock()
	if got := strings.Join(types, " "); got != "CHAT_START_MESSAGE SYSTEM_PROMPT USER_MESSAGE AGENT_MESSAGE AGENT_MESSAGE" {
		t.Fatalf("stored %s", got)
	}
}

func TestDiskThatFailsEndsTheChatAndSendsNothingUnwritten(t *testing.T) {
	f := newFakes()
	f.full = store.ErrFull
	_, c := open(t, f)
	<-c.Done()
	if code := <-f.closed; code != contract.CloseInternal {
		t.Errorf("closed with %d", code)
	}
	if f.messages() != "error" || f.status != store.Failed {
		t.Errorf("sent %q, status %s", f.messages(), f.status)
	}
}

func TestSettingsHoldForTheAudioAfterThem(t *testing.T) {
	f := newFakes()
	_, c := open(t, f)
	if c.Audio() != nil {
		t.Errorf("it begins with %+v", c.Audio())
	}
	format := contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: 16000, Channels: 1}
	if err := c.Receive(contract.SessionSettings{Audio: &format, CustomSessionID: "mine"}); err != nil {
		t.Fatal(err)
	}
	if a := c.Audio(); a == nil || *a != format {
		t.Errorf("after the settings %+v is in force", a)
	}
	empty := " "
	refused := contract.SessionSettings{SystemPrompt: &empty, Audio: &contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: 8000, Channels: 1}}
	if err := c.Receive(refused); err != nil {
		t.Fatal(err)
	}
	if a := c.Audio(); *a != format {
		t.Errorf("after settings that were refused %+v is in force", a)
	}
	hear(t, c, 1000, true)
	f.until(t, "user_message")
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.sent {
		if u, ok := m.(contract.UserMessage); ok && u.CustomSessionID != "mine" {
			t.Errorf("the user message has custom_session_id %q", u.CustomSessionID)
		}
	}
}

func TestResumedChatRemembers(t *testing.T) {
	f := newFakes()
	_, c := open(t, f, func(p *contract.ConnectSettings) { p.ResumedChatGroupID = contract.NewID() })
	if err := c.Receive(contract.UserInput{Text: "Who am I?"}); err != nil {
		t.Fatal(err)
	}
	f.until(t, "assistant_end")
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked[0]
	if len(asked) != 4 || asked[2].Content != "Hello, Ann." {
		t.Fatalf("the model was asked %+v", asked)
	}
}

func TestUnknownVoiceIsRefused(t *testing.T) {
	f := newFakes()
	h := NewHost(t.Context(), Parts{Detector: f, Transcriber: f, Model: f, Voices: f, Records: f,
		Defaults: DefaultSettings(), Log: slog.New(slog.DiscardHandler), MaxChats: 1})
	seat, err := h.Reserve("a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = seat.Open(t.Context(), Opening{Line: f, Connect: contract.ConnectSettings{VoiceID: "nobody"}})
	if fault, ok := errors.AsType[contract.Fault](err); !ok || fault.Code != contract.VoiceNotFound {
		t.Fatalf("refused with %v", err)
	}
	if h.Live() != 0 {
		t.Fatal("the seat was not given back")
	}
}

func TestFullHostRefusesAndAStoppedOneEndsItsChats(t *testing.T) {
	f := newFakes()
	h, c := open(t, f)
	if _, err := h.Reserve("a"); err == nil {
		t.Fatal("a second chat found a seat")
	}
	if err := h.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if code := <-f.closed; code != contract.CloseGoingAway {
		t.Fatalf("closed with %d", code)
	}
	if _, err := h.Reserve("a"); err == nil {
		t.Fatal("a stopped host took a chat")
	}
}
