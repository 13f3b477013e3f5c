package ws

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
)

// mirror is an Analyst that answers with the size of the medium.
type mirror struct {
	out  *ModelsLine
	done chan struct{}
	once sync.Once
}

func (m *mirror) Receive(p contract.StreamPayload, fault error) error {
	if fault != nil {
		return m.out.Send(context.Background(), contract.StreamErrorMessage{Error: fault.Error()})
	}
	return m.out.Send(context.Background(), contract.StreamModelPredictions{PayloadID: fmt.Sprint(len(p.Medium))})
}
func (m *mirror) HangUp()               { m.once.Do(func() { close(m.done) }) }
func (m *mirror) Done() <-chan struct{} { return m.done }

// gatekeeper is an Admission that counts what it has admitted and what has left.
type gatekeeper struct{ sockets, large, left atomic.Int64 }

func (g *gatekeeper) Reserve() (func(), error) {
	g.sockets.Add(1)
	return func() { g.sockets.Add(-1) }, nil
}

func (g *gatekeeper) Enlarge(context.Context) (func(), error) {
	g.large.Add(1)
	return func() { g.left.Add(1) }, nil
}

func TestASocketForMediaTakesMessagesUntilTheKeyIsRevoked(t *testing.T) {
	d, g := newDesk(), &gatekeeper{}
	server := NewServer(d, nil, quick, slog.New(slog.DiscardHandler))
	box := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := server.ServeModels(w, r, g, func(l *ModelsLine) Analyst {
			return &mirror{out: l, done: make(chan struct{})}
		}, d)
		if err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
		}
	}))
	defer box.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, box.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	small, large := `{"data":"AAEC"}`, `{"data":"`+strings.Repeat("AAEC", 100_000)+`"}`
	for _, try := range []struct {
		kind          websocket.MessageType
		message, want string
		large         int64 // messages so far
	}{
		{websocket.MessageText, small, `{"payload_id":"3"}`, 0},
		{websocket.MessageText, large, `{"payload_id":"300000"}`, 1},
		{websocket.MessageBinary, small, `{"payload_id":"3"}`, 1}, // as some clients send JSON
		{websocket.MessageBinary, "\x00", `{"error":"E0100 A binary frame`, 1},
		{websocket.MessageText, "{", `{"error":"E0100 Not valid JSON`, 1},
		{websocket.MessageText, large, `{"payload_id":"300000"}`, 2},
	} {
		if err := conn.Write(ctx, try.kind, []byte(try.message)); err != nil {
			t.Fatal(err)
		}
		_, got, err := conn.Read(ctx)
		if err != nil || !strings.HasPrefix(string(got), try.want) || g.large.Load() != try.large {
			t.Errorf("%.20s: %s, %v, %d large messages; want %s", try.message, got, err, g.large.Load(), try.want)
		}
	}
	d.lose()
	_, got, err := conn.Read(ctx)
	if err != nil || !strings.Contains(string(got), `"code":"E0732"`) {
		t.Errorf("%s, %v", got, err)
	}
	if _, _, err := conn.Read(ctx); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Error(err)
	}
	if err := server.Wait(ctx); err != nil || g.sockets.Load() != 0 || g.left.Load() != g.large.Load() {
		t.Errorf("%v: %d sockets and %d messages are still admitted", err, g.sockets.Load(),
			g.large.Load()-g.left.Load())
	}
}
