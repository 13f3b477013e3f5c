package appliance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/internal/packtest"
	"parley/store"
)

// question is the recording that most callers speak.
const question = "vm-rec-name"

// waitLimit is how long the tests wait for something: on a machine where ten others use the
// cores, an answer of ten seconds takes minutes.
const waitLimit = 5 * time.Minute

// runningBox is a box as its operator starts it, with real engines.
type runningBox struct {
	url, key string
	cfg      config.Config
	stop     func() error
	over     chan struct{} // closed when it has ended

	// Of a box with fake engines.
	secret  string
	records *store.Store
	parts   *appliance
}

// startBox runs a box with the models of the test profile, on a free port and with a new
// data folder, and stops it at the end of the test.
func startBox(t *testing.T, change ...func(*config.Config)) *runningBox {
	t.Helper()
	return startBoxWith(t, nil, change...)
}

// startBoxWith is startBox with more flags, by the keys of their settings.
func startBoxWith(t *testing.T, flags map[string]string, change ...func(*config.Config)) *runningBox {
	t.Helper()
	return startAppliance(t, Run, flags, change...)
}

// startAppliance is startBoxWith for a box or a hub, by its run.
func startAppliance(t *testing.T, run func(context.Context, config.Config, Console) error, flags map[string]string,
	change ...func(*config.Config)) *runningBox {
	t.Helper()
	sources := config.Sources{Flags: map[string]string{
		"data": t.TempDir(), "listen": "127.0.0.1:0", "profile": "test",
	}, Environ: os.Environ(), Dir: t.TempDir()}
	maps.Copy(sources.Flags, flags)
	cfg, err := config.Load(sources)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(&cfg)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready := make(chan Ready, 1)
	ended := make(chan error, 1)
	over := make(chan struct{})
	go func() {
		defer close(over)
		ended <- run(ctx, cfg, Console{
			Log:      slog.New(slog.NewTextHandler(testLog{t}, nil)),
			Terminal: true,
			Ready:    func(r Ready) { ready <- r },
		})
	}()
	b := &runningBox{cfg: cfg, over: over, stop: sync.OnceValue(func() error {
		cancel()
		return <-ended
	})}
	t.Cleanup(func() {
		if err := b.stop(); err != nil && !errors.Is(err, ErrRestart) {
			t.Error(err)
		}
	})
	select {
	case r := <-ready:
		b.url, b.key = r.URL, r.FirstKey.APIKey
	case err := <-ended:
		ended <- err
		t.Fatal("the box ended: ", err)
	case <-time.After(waitLimit):
		t.Fatal("the box is not ready after five minutes")
	}
	return b
}

// stopped waits until the box ends by itself.
func (b *runningBox) stopped(t *testing.T) error {
	t.Helper()
	select {
	case <-b.over:
	case <-time.After(waitLimit):
		t.Fatal("the box goes on")
	}
	return b.stop()
}

// testLog writes the box's log to the test's.
type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// caller is a client of the box. It records the messages that it receives, and when.
type caller struct {
	t     *testing.T
	conn  *websocket.Conn
	begun time.Time

	mu       sync.Mutex
	received []receivedMessage
	closed   error
	news     chan struct{}
}

type receivedMessage struct {
	at time.Duration
	contract.ServerMessage
}

// ask sends the box a request, with a key unless it is empty, and returns the response.
func (b *runningBox) ask(t *testing.T, key, method, path, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("X-Service-Api-Key", key)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(text)
}

// get requests JSON from the box.
func (b *runningBox) get(t *testing.T, path string) map[string]any {
	t.Helper()
	status, text := b.ask(t, b.key, http.MethodGet, path, "")
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", path, status, text, err)
	}
	return v
}

// post creates a resource over REST and returns its id.
func (b *runningBox) post(t *testing.T, path, body string) string {
	t.Helper()
	status, text := b.ask(t, b.key, http.MethodPost, path, body)
	var made struct{ ID string }
	if json.Unmarshal([]byte(text), &made) != nil || status != http.StatusCreated {
		t.Fatalf("POST %s: %d %s", path, status, text)
	}
	return made.ID
}

func (b *runningBox) call(t *testing.T, query string) *caller {
	t.Helper()
	url := "ws" + strings.TrimPrefix(b.url, "http") + "/v0/evi/chat?api_key=" + b.key + query
	conn, _, err := websocket.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(16 << 20)
	c := &caller{
		t:     t,
		conn:  conn,
		begun: time.Now(),
		news:  make(chan struct{}, 1),
	}
	go c.listen()
	t.Cleanup(func() { conn.CloseNow() })
	return c
}

func (c *caller) listen() {
	for {
		_, data, err := c.conn.Read(context.Background())
		c.mu.Lock()
		if err != nil {
			c.closed = err
			c.mu.Unlock()
			return
		}
		m, err := contract.ParseServerMessage(data)
		if err != nil {
			c.t.Error(err)
		}
		c.received = append(c.received, receivedMessage{time.Since(c.begun), m})
		c.mu.Unlock()
		select {
		case c.news <- struct{}{}:
		default:
		}
	}
}

func (c *caller) send(m contract.ClientMessage) {
	c.t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.conn.Write(c.t.Context(), websocket.MessageText, data); err != nil {
		c.t.Fatal(err)
	}
}

// until waits for the nth message of a type, and returns all messages so far.
func (c *caller) until(kind string, n int, patience time.Duration) []receivedMessage {
	c.t.Helper()
	deadline := time.After(patience)
	for {
		c.mu.Lock()
		heard := c.received
		closed := c.closed
		c.mu.Unlock()
		count := 0
		for i, m := range heard {
			if m.MessageType() == kind {
				if count++; count == n {
					return heard[:i+1]
				}
			}
		}
		if closed != nil {
			c.t.Fatalf("closed (%v) before %d × %s: %s", closed, n, kind, types(heard))
		}
		select {
		case <-c.news:
		case <-deadline:
			c.t.Fatalf("no %d × %s after %v: %s", n, kind, patience, types(heard))
		}
	}
}

// all returns the messages so far.
func (c *caller) all() []receivedMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.received
}

func types(heard []receivedMessage) string {
	var b strings.Builder
	for _, m := range heard {
		fmt.Fprintf(&b, "%s@%dms ", m.MessageType(), m.at.Milliseconds())
		switch m := m.ServerMessage.(type) {
		case contract.UserMessage:
			fmt.Fprintf(&b, "(%s) ", m.Message.Content)
		case contract.AssistantMessage:
			fmt.Fprintf(&b, "(%s) ", m.Message.Content)
		case contract.WebSocketError:
			fmt.Fprintf(&b, "(%s) ", m.Message)
		}
	}
	return b.String()
}

// recordingPCM returns the recording of a person who speaks, at 16 kHz.
func recordingPCM(t *testing.T, name string) []float32 {
	t.Helper()
	data, err := os.ReadFile(packtest.Recording(t, name))
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := audio.DecodeAll(data, 16000)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// say streams samples as linear16 in real time, 20 ms a message, followed by silence until
// stop is closed.
func (c *caller) say(pcm []float32, stop <-chan struct{}) (spoken chan time.Duration) {
	spoken = make(chan time.Duration, 1)
	bytes := audio.AppendLinear16(nil, pcm)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		silence := make([]byte, 640)
		for {
			chunk := silence
			if len(bytes) > 0 {
				n := min(640, len(bytes))
				chunk, bytes = bytes[:n], bytes[n:]
				if len(bytes) == 0 {
					spoken <- time.Since(c.begun)
				}
			}
			data, _ := json.Marshal(map[string]string{"type": "audio_input",
				"data": base64.StdEncoding.EncodeToString(chunk)})
			if c.conn.Write(context.Background(), websocket.MessageText, data) != nil {
				return
			}
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	return spoken
}

const linear16 = "&session_settings[audio][encoding]=linear16&session_settings[audio][sample_rate]=16000&" +
	"session_settings[audio][channels]=1"
