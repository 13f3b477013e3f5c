package stream

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"parley/appliance/contract"
	"parley/appliance/line/ws"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// box is a Server behind HTTP, and the calls that it takes.
type box struct {
	t      *testing.T
	server *Server
	http   *httptest.Server
	calls  chan *Call
	over   chan struct{} // lets Answered return
	busy   error         // what Admit returns
	noChat error         // what Answered returns
}

func newBox(t *testing.T, authToken string) *box { return newBoxWith(t, authToken, ws.Timing{}) }

func newBoxWith(t *testing.T, authToken string, timing ws.Timing) *box {
	b := &box{t: t, calls: make(chan *Call, 10), over: make(chan struct{})}
	sockets := ws.NewServer(nil, nil, timing, slog.New(slog.DiscardHandler))
	b.server = Open(Options{
		AuthToken: authToken,
		Admit:     func(context.Context, string, contract.ConnectSettings) error { return b.busy },
		Answered: func(c *Call) error {
			b.calls <- c
			select {
			case <-b.over:
			case <-c.Done():
			}
			return b.noChat
		},
		Sockets: sockets,
		Log:     slog.New(slog.DiscardHandler),
	})
	mux := http.NewServeMux()
	handle := func(path string, f func(http.ResponseWriter, *http.Request) error) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			err := f(w, r)
			status := http.StatusInternalServerError
			switch _, forbidden := errors.AsType[contract.ErrForbidden](err); {
			case err == nil:
				return
			case forbidden:
				status = http.StatusForbidden
			case isBusy(err):
				status = http.StatusServiceUnavailable
			}
			http.Error(w, err.Error(), status)
		})
	}
	handle("/v0/evi/twilio", func(w http.ResponseWriter, r *http.Request) error {
		return b.server.Answer(w, r, "account", nil)
	})
	handle(SocketPath, b.server.Serve)
	b.http = httptest.NewServer(mux)
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = sockets.Wait(ended)
		b.http.Close()
	})
	return b
}

// twiml is what a provider reads of the answer.
type twiml struct {
	Stream struct {
		URL        string `xml:"url,attr"`
		Parameters []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		} `xml:"Parameter"`
	} `xml:"Connect>Stream"`
	Reject *struct {
		Reason string `xml:"reason,attr"`
	}
}

func (x twiml) token() string {
	if len(x.Stream.Parameters) != 1 || x.Stream.Parameters[0].Name != "token" {
		return ""
	}
	return x.Stream.Parameters[0].Value
}

// ask requests TwiML.
func (b *box) ask(r *http.Request) (status int, x twiml) {
	b.t.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		return answer.StatusCode, x
	}
	if kind := answer.Header.Get("Content-Type"); kind != "application/xml" {
		b.t.Errorf("TwiML has the type %q", kind)
	}
	if err := xml.Unmarshal(body, &x); err != nil {
		b.t.Errorf("%s: %v", body, err)
	}
	return answer.StatusCode, x
}

// request returns the request of a provider whose caller is +15551234567. form may be nil, for a GET.
func (b *box) request(query string, form url.Values) *http.Request {
	b.t.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.http.URL+"/v0/evi/twilio?"+query, body)
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

func callerForm() url.Values {
	return url.Values{
		"CallSid":    {"CA1"},
		"AccountSid": {"AC1"},
		"From":       {"+15551234567"},
		"To":         {"+15557654321"},
		"CallerName": {"A & B"},
	}
}

// token returns a token for a socket.
func (b *box) token() string {
	b.t.Helper()
	_, x := b.ask(b.request("", callerForm()))
	if x.token() == "" {
		b.t.Fatalf("no token in %+v", x)
	}
	return x.token()
}

// provider is the provider's end of a stream. It plays what it gets in real time, returns the marks, and
// empties its buffer at a clear, when it returns the marks at once.
type provider struct {
	t    *testing.T
	conn *websocket.Conn
	done chan struct{} // closed when the box has closed the socket

	mu       sync.Mutex
	buffer   []sent // sound and marks that wait to be played
	heard    int    // bytes played
	messages []sent
	got      int // bytes received
	most     int // the most sound in the buffer, in frames
	clears   int
	silent   bool // it returns no marks
	status   websocket.StatusCode
	reason   string
	sequence int
	chunk    int
}

func (b *box) dial(path string) *provider {
	b.t.Helper()
	conn, answer, err := websocket.Dial(b.t.Context(), strings.Replace(b.http.URL, "http", "ws", 1)+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = answer
	conn.SetReadLimit(1 << 20)
	p := &provider{t: b.t, conn: conn, done: make(chan struct{})}
	var work sync.WaitGroup
	work.Go(p.read)
	work.Go(p.play)
	b.t.Cleanup(func() {
		_ = conn.CloseNow()
		work.Wait()
	})
	return p
}

func (p *provider) read() {
	defer close(p.done)
	for {
		_, data, err := p.conn.Read(context.Background())
		if err != nil {
			p.mu.Lock()
			p.status = websocket.CloseStatus(err)
			if closed, ok := errors.AsType[websocket.CloseError](err); ok {
				p.reason = closed.Reason
			}
			p.mu.Unlock()
			return
		}
		var m sent
		if err := json.Unmarshal(data, &m); err != nil || m.StreamSID != "MZ1" {
			p.t.Errorf("the box sent %s: %v", data, err)
		}
		p.take(m)
	}
}

func (p *provider) take(m sent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages = append(p.messages, m)
	switch m.Event {
	case "media":
		p.got += len(m.Media.Payload)
		if len(m.Media.Payload) != 160 {
			p.t.Errorf("a piece of %d bytes", len(m.Media.Payload))
		}
		p.buffer = append(p.buffer, m)
		p.most = max(p.most, (p.got-p.heard)/160)
	case "mark":
		p.buffer = append(p.buffer, m)
	case "clear":
		p.clears++
		for _, m := range p.buffer {
			p.returnMark(m)
		}
		p.buffer = nil
	default:
		p.t.Errorf("the box sent the event %q", m.Event)
	}
}

// returnMark returns a mark. p is locked.
func (p *provider) returnMark(m sent) {
	if m.Mark != nil && !p.silent {
		p.sendLocked(map[string]any{"event": "mark", "streamSid": "MZ1", "mark": map[string]any{"name": m.Mark.Name}})
	}
}

// play plays a frame every 20 ms.
func (p *provider) play() {
	beat := time.NewTicker(frameLength)
	defer beat.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-beat.C:
		}
		p.mu.Lock()
		for played := false; len(p.buffer) > 0; p.buffer = p.buffer[1:] {
			m := p.buffer[0]
			if m.Event == "media" {
				if played {
					break
				}
				played = true
				p.heard += len(m.Media.Payload)
			}
			p.returnMark(m)
		}
		p.mu.Unlock()
	}
}

func (p *provider) send(m map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sendLocked(m)
}

func (p *provider) sendLocked(m map[string]any) {
	p.sequence++
	m["sequenceNumber"] = strconv.Itoa(p.sequence)
	text, err := json.Marshal(m)
	if err != nil {
		p.t.Error(err)
	}
	p.text(string(text))
}

// text sends any text. An error means that the box has closed the socket.
func (p *provider) text(text string) {
	_ = p.conn.Write(context.Background(), websocket.MessageText, []byte(text))
}

// start sends the messages that begin a stream.
func (p *provider) start(token string) {
	p.text(`{"event":"connected","protocol":"Call","version":"1.0.0"}`)
	p.send(startMessage(token))
}

func startMessage(token string) map[string]any {
	return map[string]any{
		"event":     "start",
		"streamSid": "MZ1",
		"start": map[string]any{
			"accountSid":       "AC1",
			"streamSid":        "MZ1",
			"callSid":          "CA1",
			"tracks":           []string{"inbound"},
			"mediaFormat":      map[string]any{"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
			"customParameters": map[string]any{"token": token},
		},
	}
}

// speak sends 20 ms of sound.
func (p *provider) speak(ulaw []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chunk++
	p.sendLocked(map[string]any{
		"event":     "media",
		"streamSid": "MZ1",
		"media": map[string]any{
			"track":     "inbound",
			"chunk":     strconv.Itoa(p.chunk),
			"timestamp": strconv.Itoa(20 * p.chunk),
			"payload":   base64.StdEncoding.EncodeToString(ulaw),
		},
	})
}

// closed waits until the box has closed the socket, and returns how.
func (p *provider) closed() (code int, reason string) {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		p.t.Fatal("the box does not close the socket")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return int(p.status), p.reason
}

// call begins a call, and returns both ends.
func (b *box) call() (*provider, *Call) {
	b.t.Helper()
	p := b.dial(SocketPath)
	p.start(b.token())
	return p, b.answered()
}

func (b *box) answered() *Call {
	b.t.Helper()
	select {
	case c := <-b.calls:
		return c
	case <-time.After(5 * time.Second):
		b.t.Fatal("the call does not begin")
		return nil
	}
}

// eventually fails the test unless is becomes true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 500 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("never: " + what)
}

func (p *provider) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("%d messages, %d bytes, %d heard, %d clears", len(p.messages), p.got, p.heard, p.clears)
}
