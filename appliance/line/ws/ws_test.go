package ws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"parley/appliance/audio"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/line"
)

// TestMain also runs as the decoder process.
func TestMain(m *testing.M) {
	audio.Main()
	goleak.VerifyTestMain(m)
}

// desk is a Host whose sessions a test controls.
type desk struct {
	full    error
	refused error
	opened  chan *talk
	seats   sync.WaitGroup // reserved and not released
	account atomic.Value   // account of the last session
	panics  any            // opening a session panics with this

	mu     sync.Mutex
	barred error // what the authorization returns

	permits func(contract.ClientMessage) error
	asked   int // how often the authorization was asked

	lost    context.Context // ends when the authorization is revoked
	lose    context.CancelFunc
	watched sync.WaitGroup // and not released
}

func newDesk() *desk {
	d := &desk{opened: make(chan *talk, 1), permits: func(contract.ClientMessage) error { return nil }}
	d.lost, d.lose = context.WithCancel(context.Background())
	return d
}

func (d *desk) Check(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	return d.barred
}

func (d *desk) Permits(m contract.ClientMessage) error { return d.permits(m) }

func (d *desk) Watch() (lost context.Context, release func()) {
	d.watched.Add(1)
	return d.lost, d.watched.Done
}

func (d *desk) bar(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.barred = err
}

type place struct{ d *desk }

func (d *desk) Reserve(account string) (line.Slot, error) {
	d.account.Store(account)
	if d.full != nil {
		return nil, d.full
	}
	d.seats.Add(1)
	return place{d}, nil
}

func (p place) Release() { p.d.seats.Done() }

func (p place) Open(_ context.Context, o connection.Opening) (line.Session, error) {
	if p.d.panics != nil {
		panic(p.d.panics)
	}
	if p.d.refused != nil {
		return nil, p.d.refused
	}
	t := &talk{
		Opening: o,
		got:     make(chan any, 100),
		hungUp:  make(chan struct{}),
		done:    make(chan struct{}),
	}
	go func() {
		<-t.done
		p.Release()
	}()
	t.audio.Store(o.Settings.SessionSettings.Audio)
	p.d.opened <- t
	return t, nil
}

// talk is a session that records what it gets.
type talk struct {
	connection.Opening
	audio  atomic.Pointer[contract.AudioConfiguration]
	breaks atomic.Bool // when it is to disconnect its client
	got    chan any
	hungUp chan struct{}
	cutOff error // set before hungUp is closed
	done   chan struct{}
	over   sync.Once
}

type heard []float32

func (t *talk) Receive(m contract.ClientMessage) error {
	if m == (contract.UserInput{Text: "panic"}) {
		panic("a message that breaks us")
	}
	if settings, ok := m.(contract.SessionSettings); ok && settings.Audio != nil {
		t.audio.Store(settings.Audio)
	}
	t.got <- m
	return nil
}
func (t *talk) Hear(pcm []float32) error            { t.got <- heard(pcm); return nil }
func (t *talk) Audio() *contract.AudioConfiguration { return t.audio.Load() }
func (t *talk) Played(string, time.Duration)        {}
func (t *talk) HangUp()                             { close(t.hungUp); t.end() }
func (t *talk) CutOff(why error)                    { t.cutOff = why; t.HangUp() }
func (t *talk) Done() <-chan struct{}               { return t.done }
func (t *talk) end()                                { t.over.Do(func() { close(t.done) }) }
func (t *talk) Fault(code contract.Code, detail string) error {
	if code == contract.KeyRevoked && t.breaks.Load() {
		panic("an end that breaks us")
	}
	err := t.Line.Send(context.Background(), code.Error(detail))
	if code.Fatal() {
		t.Line.Close(code.CloseCode(), code.Slug())
		t.end()
	}
	return err
}

// raw requests headerless audio at the ear's rate.
const raw = "session_settings%5Baudio%5D%5Bsample_rate%5D=16000"

// box serves chats on a real socket.
type box struct {
	*desk
	t      *testing.T
	server *Server
	http   *httptest.Server
	failed chan error // results of ServeChat
}

// quick is a Timing for tests that wait for timeouts.
var quick = Timing{
	Write:     300 * time.Millisecond,
	PingEvery: 50 * time.Millisecond,
	Pong:      300 * time.Millisecond,
	Close:     300 * time.Millisecond,
}

func start(t *testing.T, timing Timing, origins ...string) *box {
	return startLogged(t, timing, slog.New(slog.DiscardHandler), origins...)
}

func startLogged(t *testing.T, timing Timing, log *slog.Logger, origins ...string) *box {
	t.Helper()
	b := &box{desk: newDesk(), t: t, failed: make(chan error, 1)}
	b.server = NewServer(b.desk, origins, timing, log)
	b.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "req-1")
		if err := b.server.ServeChat(w, r, "acme", b.desk); err != nil {
			b.failed <- err
			http.Error(w, err.Error(), http.StatusTeapot)
		}
	}))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := b.server.Wait(ctx); err != nil {
			t.Errorf("sockets are still open: %v", err)
		}
		b.http.Close()
		b.seats.Wait()
		b.watched.Wait()
		b.lose()
	})
	return b
}

// dial connects a client and returns both ends.
func (b *box) dial(query string, o *websocket.DialOptions) (*websocket.Conn, *talk) {
	b.t.Helper()
	c := b.connect(query, o)
	select {
	case t := <-b.opened:
		return c, t
	case <-time.After(time.Minute):
		b.t.Fatal("no session was opened")
		return nil, nil
	}
}

func (b *box) connect(query string, o *websocket.DialOptions) *websocket.Conn {
	b.t.Helper()
	c, _, err := websocket.Dial(b.t.Context(), b.http.URL+"/v0/evi/chat?"+query, o)
	if err != nil {
		b.t.Fatal(err)
	}
	c.SetReadLimit(-1)
	b.t.Cleanup(func() { _ = c.CloseNow() })
	return c
}

func send(t *testing.T, c *websocket.Conn, typ websocket.MessageType, data string) {
	t.Helper()
	if err := c.Write(t.Context(), typ, []byte(data)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, c *websocket.Conn) contract.ServerMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, data, err := c.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := contract.ParseServerMessage(data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// closed reads until the socket closes.
func closed(t *testing.T, c *websocket.Conn) websocket.CloseError {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		_, _, err := c.Read(ctx)
		if ce, ok := errors.AsType[websocket.CloseError](err); ok {
			return ce
		}
		if err != nil {
			t.Fatalf("closed without a close frame: %v", err)
		}
	}
}

func got[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(time.Minute): // on a busy machine
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func TestFramesReachTheSessionInOrder(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial(raw, nil)
	send(t, c, websocket.MessageText, `{"type":"audio_input","data":"AAAAQA=="}`)
	send(t, c, websocket.MessageBinary, "\x00\xc0")
	send(t, c, websocket.MessageBinary, "")
	send(t, c, websocket.MessageText, `{"type":"user_input","text":"Hi"}`)
	if a := got(t, s.got).(heard); !slices.Equal(a, heard{0, 0.5}) {
		t.Errorf("heard %v", a)
	}
	if a := got(t, s.got).(heard); !slices.Equal(a, heard{-0.5}) {
		t.Errorf("heard %v", a)
	}
	if m := got(t, s.got); m != (contract.UserInput{Text: "Hi"}) {
		t.Errorf("received %+v", m)
	}
	if s.Account != "acme" || s.RequestID != "req-1" || b.account.Load() != "acme" {
		t.Errorf("account %q, request %q", s.Account, s.RequestID)
	}
	c.Close(websocket.StatusNormalClosure, "")
	got(t, s.hungUp)
}

func TestQueuedMessagesArriveBeforeTheClose(t *testing.T) {
	b := start(t, Timing{Write: time.Minute, Close: time.Minute}) // the client starts to read late
	c, s := b.dial("", nil)
	for i := range 300 {
		m := contract.AudioOutput{ID: "a", Index: i, Data: make([]byte, 10_000)}
		if err := s.Line.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	s.Line.Close(contract.CloseNormal, strings.Repeat("ü", 100))
	if err := s.Line.Send(t.Context(), contract.AssistantEnd{}); !errors.Is(err, line.ErrClosed) {
		t.Errorf("sending after Close: %v", err)
	}
	s.end()
	for i := range 300 {
		if m := read(t, c).(contract.AudioOutput); m.Index != i {
			t.Fatalf("clip %d came as number %d", m.Index, i)
		}
	}
	if ce := closed(t, c); ce.Code != 1000 || ce.Reason != strings.Repeat("ü", 60)+"…" {
		t.Errorf("closed with %d %q", ce.Code, ce.Reason)
	}
}

func TestBrokenFramesAreAnsweredAndTheSocketStays(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial("", nil)
	for frame, code := range map[string]contract.Code{
		`{"type":`:                          contract.BrokenJSON,
		`{"type":"x"}`:                      contract.UnknownMessage,
		`{"type":"user_input"}`:             contract.WrongShape,
		`{"type":"audio_input","data":"*"}`: contract.BrokenBase64,
		`{"type":"session_settings",` +
			`"audio":{"encoding":"linear16","channels":1,"sample_rate":0}}`: contract.InvalidSettings,
	} {
		send(t, c, websocket.MessageText, frame)
		e := read(t, c).(contract.WebSocketError)
		if e.Code != code || e.Slug != code.Slug() || e.RequestID != "req-1" {
			t.Errorf("%s: %+v", frame, e)
		}
	}
	send(t, c, websocket.MessageText, `{"type":"user_input","text":"still here"}`)
	got(t, s.got)
}

func TestDeflateIsOfferedAndWorksBothWays(t *testing.T) {
	for _, mode := range []websocket.CompressionMode{websocket.CompressionContextTakeover,
		websocket.CompressionNoContextTakeover} {
		b := start(t, Timing{})
		c, resp, err := websocket.Dial(t.Context(), b.http.URL+"?"+raw, &websocket.DialOptions{CompressionMode: mode})
		if err != nil {
			t.Fatal(err)
		}
		if ext := resp.Header.Get("Sec-WebSocket-Extensions"); !strings.Contains(ext, "permessage-deflate") ||
			!strings.Contains(ext, "server_no_context_takeover") {
			t.Errorf("extensions: %q", ext)
		}
		c.SetReadLimit(-1)
		s := got(t, b.opened)
		clip := bytes.Repeat([]byte("speech"), 20_000)
		for range 2 {
			if err := s.Line.Send(t.Context(), contract.AudioOutput{ID: "a", Data: clip}); err != nil {
				t.Fatal(err)
			}
			if m := read(t, c).(contract.AudioOutput); !bytes.Equal(m.Data, clip) {
				t.Error("the clip changed on its way")
			}
			send(t, c, websocket.MessageBinary, string(clip))
			if !slices.Equal(got(t, s.got).(heard), audio.Linear16(clip)) {
				t.Error("the audio changed on its way")
			}
		}
		_ = c.CloseNow()
	}
}

func TestNestedSettingsReachTheSession(t *testing.T) {
	b := start(t, Timing{})
	_, s := b.dial("session_settings%5Baudio%5D%5Bsample_rate%5D=16000&voice_id=v&verbose_transcription=true&"+
		"fernSdkVersion=1", nil)
	if a := s.Settings.SessionSettings.Audio; a == nil ||
		*a != (contract.AudioConfiguration{Channels: 1, Encoding: contract.Linear16, SampleRate: 16000}) {
		t.Errorf("audio is %+v", a)
	}
	if s.Settings.VoiceID != "v" || !s.Settings.VerboseTranscription {
		t.Errorf("%+v", s.Settings)
	}
}

func TestARefusedChatGetsTheReasonAndIsClosed(t *testing.T) {
	for name, c := range map[string]struct {
		query   string
		refused error
		code    contract.Code
		close   int
		hidden  string
	}{
		"wrong parameter": {query: "config_version=x", code: contract.InvalidConnect, close: 1008},
		"wrong settings": {query: "session_settings[audio][sample_rate]=0", code: contract.InvalidSettings,
			close: 1008},
		"no such group": {refused: fmt.Errorf("open: %w",
			contract.Fault{Code: contract.GroupNotFound, Detail: "resumed_chat_group_id"}),
			code: contract.GroupNotFound, close: 1008},
		"ours": {
			refused: errors.New("disk /dev/sda on fire"),
			code:    contract.Internal,
			close:   1011,
			hidden:  "sda",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, Timing{})
			b.refused = c.refused
			client := b.connect(c.query, nil)
			e, ok := read(t, client).(contract.WebSocketError)
			if !ok || e.Code != c.code || c.hidden != "" && strings.Contains(e.Message, c.hidden) {
				t.Errorf("%+v", e)
			}
			if ce := closed(t, client); int(ce.Code) != c.close {
				t.Errorf("closed with %v", ce)
			}
		})
	}
}

func TestInvalidRequestsAreRefusedBeforeTheUpgrade(t *testing.T) {
	b := start(t, Timing{}, "https://kiosk.example")
	b.full = contract.ErrFull{RetryAfter: time.Second}
	shake := http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}}
	try := func(change, value string) error {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, b.http.URL, nil)
		req.Header = shake.Clone()
		if change != "" {
			req.Header.Set(change, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return got(t, b.failed)
	}
	for _, c := range []struct {
		change, value string
		want          error
	}{
		{"", "", contract.ErrFull{}},
		{"Upgrade", "h2c", contract.ErrUpgradeRequired{}},
		{"Connection", "close", contract.ErrUpgradeRequired{}},
		{"Sec-WebSocket-Version", "8", contract.ErrUpgradeRequired{}},
		{"Sec-WebSocket-Key", "short", contract.ErrInvalid{}},
		{"Origin", "https://evil.example", contract.ErrForbidden{}},
		{"Origin", "http://kiosk.example", contract.ErrForbidden{}},
		{"Origin", "null", contract.ErrForbidden{}},
		{"Origin", "https://KIOSK.example", contract.ErrFull{}},
		{"Origin", b.http.URL, contract.ErrFull{}},
	} {
		if err := try(c.change, c.value); fmt.Sprintf("%T", err) != fmt.Sprintf("%T", c.want) {
			t.Errorf("%s: %s gives %T: %v, want %T", c.change, c.value, err, err, c.want)
		}
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodHead, b.http.URL, nil)
	req.Header = shake.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := got(t, b.failed); fmt.Sprintf("%T", err) != fmt.Sprintf("%T", contract.ErrUpgradeRequired{}) {
		t.Errorf("HEAD: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}
