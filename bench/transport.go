package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/audio"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/line"
	"parley/appliance/line/ws"
)

const (
	// transportMessages is how many messages one round sends as fast as it can:
	// 80 s of sound in pieces of 20 ms, a tenth of a second of work.
	transportMessages = 4000
	// transportLimit is the least of the bare echo's pace that the line may have.
	transportLimit = 0.7
)

// transport measures the WebSocket line alone, without ears: how many pieces of
// sound a second go from a client's socket to a session as samples, beside how
// many of the same messages a bare server of the same library reads and sends
// back.
func (r *Report) transport(ctx context.Context, o Options) error {
	piece := audio.AppendLinear16(nil, make([]float32, pieceSamples))
	for i := range piece { // as little alike as a voice
		piece[i] = byte(i * 151)
	}
	message, err := contract.Marshal(contract.AudioInput{Data: piece})
	if err != nil {
		return err
	}
	for _, k := range []struct {
		name string
		kind websocket.MessageType
		data []byte
	}{
		{"transport_json", websocket.MessageText, message},
		{"transport_binary", websocket.MessageBinary, piece},
	} {
		o.say("%s: %d messages of %d bytes, %d times", k.name, transportMessages, len(k.data), o.Rounds)
		if err := r.transportOf(ctx, o.Rounds, k.name, k.kind, k.data); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) transportOf(ctx context.Context, rounds int, name string, kind websocket.MessageType,
	data []byte) error {
	var ours, bare, ratios []float64
	for i := range rounds + 1 {
		line, err := throughLine(ctx, kind, data)
		if err != nil {
			return err
		}
		echo, err := throughEcho(ctx, kind, data)
		if err != nil {
			return err
		}
		if i > 0 { // the first pair warms up
			ours, bare, ratios = append(ours, line), append(bare, echo), append(ratios, line/echo)
		}
	}
	note := fmt.Sprintf("pieces of 20 ms into a session, as fast as they come; the same messages through a bare echo "+
		"of coder/websocket, in turn with ours, median of %d pairs; at least %v of it is asked for", rounds,
		transportLimit)
	r.paired(name, median(ours), "messages/s", median(bare), median(ratios), note)
	return nil
}

// throughEcho is how many messages a second a bare server reads and sends back.
func throughEcho(ctx context.Context, kind websocket.MessageType, data []byte) (float64, error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		for {
			kind, data, err := c.Read(r.Context())
			if err != nil || c.Write(r.Context(), kind, data) != nil {
				return
			}
		}
	}))
	defer server.Close()
	return throughSocket(ctx, server.URL, kind, data, func(c *websocket.Conn) error {
		for range transportMessages {
			if _, _, err := c.Read(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// throughLine is how many messages a second come through our line to a session.
func throughLine(ctx context.Context, kind websocket.MessageType, data []byte) (float64, error) {
	all := make(chan struct{})
	host := &counting{all: all, done: make(chan struct{})}
	lines := ws.NewServer(host, nil, ws.Timing{}, slog.New(slog.DiscardHandler))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := lines.ServeChat(w, r, "bench", always{}); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	return throughSocket(ctx, server.URL, kind, data, func(*websocket.Conn) error {
		select {
		case <-all:
			return nil
		case <-host.done:
			return errors.New("the line ended before all was heard")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// throughSocket sends the messages to a server and waits until it has had them.
func throughSocket(ctx context.Context, address string, kind websocket.MessageType, data []byte,
	had func(*websocket.Conn) error) (perSecond float64, err error) {
	c, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(address, "http"), nil)
	if err != nil {
		return 0, err
	}
	defer c.CloseNow()
	begun, sent := time.Now(), make(chan error, 1)
	go func() {
		for range transportMessages {
			if err := c.Write(ctx, kind, data); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	err = had(c)
	took := time.Since(begun)
	if err != nil {
		_ = c.CloseNow() // so that nobody goes on sending
	}
	return transportMessages / took.Seconds(), errors.Join(err, <-sent)
}

// always is the pass of a client that nobody sends away.
type always struct{}

func (always) Holds(context.Context) error                   { return nil }
func (always) Permits(contract.ClientMessage) error          { return nil }
func (always) Watch() (lost context.Context, release func()) { return context.Background(), func() {} }

// counting is a host of one session, which counts what it hears.
type counting struct {
	heard atomic.Int64 // samples
	all   chan struct{}
	done  chan struct{}
}

func (c *counting) Reserve(string) (line.Seat, error)                        { return c, nil }
func (c *counting) Release()                                                 {}
func (c *counting) Open(context.Context, line.Opening) (line.Session, error) { return c, nil }
func (c *counting) Receive(contract.ClientMessage) error                     { return nil }
func (c *counting) Played(string, time.Duration)                             {}
func (c *counting) Fault(code contract.Code, detail string) error {
	return fmt.Errorf("%s: %s", code, detail)
}
func (c *counting) HangUp()               { close(c.done) }
func (c *counting) CutOff(error)          { close(c.done) }
func (c *counting) Done() <-chan struct{} { return c.done }
func (c *counting) Audio() *contract.AudioConfiguration {
	return &contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: engine.SpeechRateHz, Channels: 1}
}

func (c *counting) Hear(pcm []float32) error {
	if c.heard.Add(int64(len(pcm))) == transportMessages*int64(pieceSamples) {
		close(c.all)
	}
	return nil
}
