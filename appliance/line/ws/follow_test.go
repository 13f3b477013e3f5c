package ws

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// show is a chat whose events the test sends to its followers.
type show struct {
	*desk
	server *Server
	http   *httptest.Server
	sound  chan bool
	copies chan connection.Copy
	over   chan error // how the chat ends
	got    chan contract.ClientMessage
	closed sync.WaitGroup // listeners

	steers func(contract.ClientMessage) error
}

func (s *show) Listen(sound bool) (Listener, error) {
	s.sound <- sound
	s.closed.Add(1)
	return s, nil
}
func (s *show) Close() { s.closed.Done() }
func (s *show) Steer(m contract.ClientMessage) error {
	if err := s.steers(m); err != nil {
		return err
	}
	s.got <- m
	return nil
}

func (s *show) Next(ctx context.Context) (connection.Copy, error) {
	select {
	case c := <-s.copies:
		return c, nil
	default:
	}
	select {
	case c := <-s.copies:
		return c, nil
	case err := <-s.over:
		return connection.Copy{}, err
	case <-ctx.Done():
		return connection.Copy{}, ctx.Err()
	}
}

func startShow(t *testing.T, timing Timing) *show {
	t.Helper()
	b := start(t, timing)
	s := &show{
		desk:   b.desk,
		server: b.server,
		sound:  make(chan bool, 9),
		copies: make(chan connection.Copy, 900),
		over:   make(chan error, 9),
		got:    make(chan contract.ClientMessage, 9),
		steers: func(contract.ClientMessage) error { return nil },
	}
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "req-2")
		if err := s.server.Follow(w, r, s, true, s.desk); err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
		}
	}))
	t.Cleanup(func() {
		s.http.Close()
		s.closed.Wait()
	})
	return s
}

func (s *show) join(t *testing.T) *websocket.Conn {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), s.http.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.SetReadLimit(-1)
	t.Cleanup(func() { _ = c.CloseNow() })
	return c
}

func TestAFollowerGetsTheEventsAndTheEnd(t *testing.T) {
	s := startShow(t, Timing{})
	c := s.join(t)
	if !got(t, s.sound) {
		t.Error("it does not hear the sound")
	}
	for _, copied := range []connection.Copy{
		{Message: contract.ChatMetadata{ChatID: "c", RequestID: "req-1"}},
		{Message: contract.AssistantMessage{ID: "a"}},
		{Sound: &contract.Sound{ID: "a", PCM: make([]float32, contract.OutputRateHz/5), Last: true}},
		{Message: contract.AssistantEnd{}},
	} {
		s.copies <- copied
	}
	var told []string
	for range 4 {
		told = append(told, read(t, c).MessageType())
	}
	if strings.Join(told, " ") != "chat_metadata assistant_message audio_output assistant_end" {
		t.Errorf("got %v", told)
	}
	s.over <- io.EOF
	if ce := closed(t, c); ce.Code != contract.CloseNormal || ce.Reason != "the chat is over" {
		t.Errorf("closed with %v", ce)
	}
}

// Sound that was cut is not sent, even if a part of it waits for a quiet place to be split.
func TestAFollowerGetsNoCutSound(t *testing.T) {
	s := startShow(t, Timing{})
	c := s.join(t)
	// less than twice minCutPause: too little for a file
	s.copies <- connection.Copy{Sound: &contract.Sound{ID: "a", PCM: make([]float32, contract.OutputRateHz*15/1000)}}
	s.copies <- connection.Copy{Cut: true}
	s.copies <- connection.Copy{Message: contract.UserInterruption{Time: 1}}
	s.copies <- connection.Copy{Message: contract.AssistantMessage{ID: "b"}}
	for _, want := range []string{"user_interruption", "assistant_message"} {
		if m := read(t, c); m.MessageType() != want {
			t.Errorf("%s came, want %s", m.MessageType(), want)
		}
	}
}

func TestAFollowerSteersTheChat(t *testing.T) {
	s := startShow(t, Timing{})
	c := s.join(t)
	send(t, c, websocket.MessageText, `{"type":"user_input","text":"Hi"}`)
	if m := got(t, s.got); m != (contract.UserInput{Text: "Hi"}) {
		t.Errorf("the chat got %+v", m)
	}
	c.Close(websocket.StatusNormalClosure, "")
}

// An error in a message goes only to the follower who sent it, with the id of its request,
// and the chat does not see the message.
func TestErrorsInAFollowersMessagesGoToTheFollower(t *testing.T) {
	s := startShow(t, Timing{})
	s.steers = func(m contract.ClientMessage) error {
		if m == (contract.PauseAssistantMessage{}) {
			return contract.Fault{Code: contract.InvalidSettings, Detail: "no"}
		}
		return nil
	}
	c := s.join(t)
	s.copies <- connection.Copy{Message: contract.ChatMetadata{ChatID: "c", RequestID: "req-1"}}
	read(t, c)
	for _, x := range []struct {
		typ  websocket.MessageType
		sent string
		want contract.Code
	}{
		{websocket.MessageText, `{"type":"audio_input","data":"AAAA"}`, contract.UnknownMessage},
		{websocket.MessageText, `{"type":"shout"}`, contract.UnknownMessage},
		{websocket.MessageText, `{`, contract.BrokenJSON},
		{websocket.MessageText, `{"type":"user_input"}`, contract.WrongShape},
		{websocket.MessageText, `{"type":"session_settings","system_prompt":""}`, contract.InvalidSettings},
		{websocket.MessageText, `{"type":"pause_assistant_message"}`, contract.InvalidSettings},
		{websocket.MessageBinary, "\x00\x00", contract.UnknownMessage},
	} {
		send(t, c, x.typ, x.sent)
		if e, ok := read(t, c).(contract.WebSocketError); !ok || e.Code != x.want || e.RequestID != "req-2" {
			t.Errorf("%s: got %+v, want %s", x.sent, e, x.want)
		}
	}
	if len(s.got) > 0 {
		t.Errorf("the chat got %+v", <-s.got)
	}
	for range contract.MaxIdenticalErrors {
		send(t, c, websocket.MessageText, `{"type":"shout"}`)
	}
	if ce := closed(t, c); ce.Code != contract.ClosePolicy {
		t.Errorf("after ten identical errors it is closed with %v", ce)
	}
}

// A follower waits for a busy chat and gets no error. If the chat is over, the socket ends.
func TestAFollowerWaitsForABusyChat(t *testing.T) {
	s := startShow(t, Timing{})
	times := 0
	s.steers = func(contract.ClientMessage) error {
		switch times++; times {
		case 1, 2:
			return contract.ErrUnavailable{Why: "busy"}
		case 4:
			return contract.ErrNotFound{What: "live chat"}
		}
		return nil
	}
	c := s.join(t)
	send(t, c, websocket.MessageText, `{"type":"pause_assistant_message"}`)
	got(t, s.got)
	send(t, c, websocket.MessageText, `{"type":"resume_assistant_message"}`)
	s.copies <- connection.Copy{Message: contract.AssistantEnd{}}
	read(t, c)
	s.over <- io.EOF
	if ce := closed(t, c); ce.Code != contract.CloseNormal {
		t.Errorf("closed with %v", ce)
	}
}

func TestADroppedFollowerGetsTheReason(t *testing.T) {
	s := startShow(t, Timing{})
	c := s.join(t)
	s.over <- errors.New("the listener is behind")
	if ce := closed(t, c); ce.Code != contract.ClosePolicy || !strings.Contains(ce.Reason, "behind") {
		t.Errorf("closed with %v", ce)
	}
}

func TestAFollowerThatReadsNothingIsDropped(t *testing.T) {
	s := startShow(t, Timing{Write: 300 * time.Millisecond, Close: 100 * time.Millisecond})
	s.join(t)
	long := strings.Repeat("long ", 1<<20)
	for range 6 {
		s.copies <- connection.Copy{Message: contract.UserMessage{Message: contract.ChatMessage{Content: long}}}
	}
	gone := make(chan struct{})
	go func() {
		s.closed.Wait()
		close(gone)
	}()
	got(t, s.sound)
	got(t, gone)
}

func TestAFollowerIsDroppedWhenItsKeyIsRevoked(t *testing.T) {
	s := startShow(t, Timing{})
	c := s.join(t)
	s.lose()
	wantBarred(t, c)

	s = startShow(t, Timing{})
	c = s.join(t)
	s.bar(revoked)
	send(t, c, websocket.MessageText, `{"type":"user_input","text":"two"}`)
	wantBarred(t, c)
	if len(s.got) > 0 {
		t.Errorf("the chat got %+v", <-s.got)
	}
}

func TestAFollowersMessageOverTheLimitClosesWith1009(t *testing.T) {
	s := startShow(t, Timing{})
	s.server.maxMessage = 1 << 20
	c := s.join(t)
	send(t, c, websocket.MessageText, strings.Repeat("a", 1<<20+1))
	if ce := closed(t, c); ce.Code != websocket.StatusMessageTooBig {
		t.Errorf("closed with %v", ce)
	}
}

func TestAPanicOfAChatEndsItsFollowerOnly(t *testing.T) {
	s := startShow(t, Timing{})
	s.steers = func(contract.ClientMessage) error { panic("boom") }
	c := s.join(t)
	send(t, c, websocket.MessageText, `{"type":"user_input","text":"Hi"}`)
	if ce := closed(t, c); ce.Code != contract.CloseInternal {
		t.Errorf("closed with %v", ce)
	}
	s.steers = func(contract.ClientMessage) error { return nil }
	send(t, s.join(t), websocket.MessageText, `{"type":"user_input","text":"Hi"}`)
	got(t, s.got)
}
