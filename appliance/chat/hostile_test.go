package chat

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/line"
	"parley/appliance/line/ws"
)

// testServer accepts WebSockets for a host, as the box does.
type testServer struct{ *Host }

func (s testServer) Reserve(account string) (line.Slot, error) {
	slot, err := s.Host.Reserve(account)
	return testSlot{slot}, err
}

type testSlot struct{ *Slot }

func (s testSlot) Open(ctx context.Context, o connection.Opening) (line.Session, error) {
	session, err := s.Slot.Open(ctx, o)
	if err != nil {
		return nil, err // not a nil *Session in an interface
	}
	return session, nil
}

// hostile is a client that does random things, in an order given by its seed.
type hostile struct {
	*rand.Rand
	conn *websocket.Conn
	raw  net.Conn
	ctx  context.Context
}

func (h *hostile) text(format string, args ...any) error {
	return h.conn.Write(h.ctx, websocket.MessageText, fmt.Appendf(nil, format, args...))
}

func (h *hostile) noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(h.Uint32())
	}
	return b
}

// act does one random thing. An error means that the box has ended the connection.
func (h *hostile) act() error {
	switch h.IntN(11) {
	case 0: // sound, cut in an odd position
		return h.conn.Write(h.ctx, websocket.MessageBinary, h.noise(h.IntN(2000)))
	case 1: // voice
		for range 30 {
			if err := h.conn.Write(h.ctx, websocket.MessageBinary, bytes.Repeat([]byte{0, 0x20}, 320)); err != nil {
				return err
			}
		}
		return nil
	case 2: // another format in the middle of sound
		return h.text(`{"type":"session_settings","audio":{"encoding":"linear16","sample_rate":%d,"channels":%d}}`,
			4000+h.IntN(200_000), 1+h.IntN(contract.MaxChannels+1))
	case 3:
		return h.text(`{"type":"audio_input","data":%q}`, base64.StdEncoding.EncodeToString(h.noise(h.IntN(50_000))))
	case 4: // a hundred quick messages
		for n := range 100 {
			if err := h.text(`{"type":"session_settings","custom_session_id":"%d"}`, n); err != nil {
				return err
			}
		}
		return nil
	case 5:
		return h.text(`{"type":"user_input","text":%q}`, fmt.Sprint("Number ", h.IntN(100)))
	case 6:
		return h.text(`{"type":"assistant_input","text":"%s"}`, bytes.Repeat([]byte("One. "), 1+h.IntN(600)))
	case 7:
		return h.text(`{"type":"%s_assistant_message"}`, []string{"pause", "resume"}[h.IntN(2)])
	case 8: // not a message
		return h.conn.Write(h.ctx, websocket.MessageText, h.noise(h.IntN(500)))
	case 9: // too much
		return h.conn.Write(h.ctx, websocket.MessageBinary, make([]byte, 1<<20))
	}
	time.Sleep(time.Duration(h.IntN(20)) * time.Millisecond)
	return nil
}

// leave ends the client in one of several ways.
func (h *hostile) leave() {
	switch h.IntN(4) {
	case 0:
		_ = h.conn.Close(websocket.StatusNormalClosure, "")
	case 1:
		_ = h.raw.(*net.TCPConn).SetLinger(0) // a reset
		_ = h.raw.Close()
	case 2: // in the middle of a frame
		_, _ = h.raw.Write([]byte{0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 2, 3})
		_ = h.raw.Close()
	}
	_ = h.conn.CloseNow()
}

// Clients that send, read and leave as they like harm only their own chats: every slot is released, every
// goroutine ends (TestMain checks that), and a polite client is answered.
func TestHostileClientsHarmOnlyTheirChats(t *testing.T) {
	f := newFakes()
	f.closed = make(chan int, 1000)
	log := slog.New(slog.DiscardHandler)
	h := hostOf(f, func(p *Parts) { p.MaxChats = 20 })
	timing := ws.Timing{Write: 500 * time.Millisecond, Close: 300 * time.Millisecond}
	lines := ws.NewServer(testServer{h}, nil, timing, log)
	box := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := lines.ServeChat(w, r, "a", always{}); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}))
	defer box.Close()
	connect := func(query string) (*websocket.Conn, net.Conn, error) {
		var raw net.Conn
		transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			var err error
			raw, err = (&net.Dialer{}).DialContext(ctx, network, address)
			return raw, err
		}}
		conn, _, err := websocket.Dial(t.Context(), box.URL+"?"+query,
			&websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
		return conn, raw, err
	}
	var clients sync.WaitGroup
	for seed := range uint64(24) {
		clients.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
			defer cancel()
			r := rand.New(rand.NewPCG(seed, 7))
			conn, raw, err := connect([]string{"", "session_settings%5Baudio%5D%5Bsample_rate%5D=16000"}[r.IntN(2)])
			if err != nil {
				return // no slot is free
			}
			conn.SetReadLimit(-1)
			c := &hostile{r, conn, raw, ctx}
			reading := r.IntN(3) > 0
			var reader sync.WaitGroup
			if reading {
				reader.Go(func() {
					for {
						if _, _, err := conn.Read(ctx); err != nil {
							return
						}
					}
				})
			}
			for range 20 + r.IntN(60) {
				if c.act() != nil {
					break
				}
			}
			c.leave()
			reader.Wait()
		})
	}
	clients.Wait()
	// Their audio is still being decoded, which takes long with -race.
	for deadline := time.Now().Add(time.Minute); h.Running() > 0 ||
		len(h.Chats()) > 0; <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d slots are taken, by %+v", h.Running(), h.Chats())
		}
	}
	conn, _, err := connect("")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := conn.Write(ctx, websocket.MessageText, []byte(`{"type":"user_input","text":"Hello"}`)); err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	for answered := false; !answered; {
		_, data, err := conn.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		m, err := contract.ParseServerMessage(data)
		if err != nil {
			t.Fatal(err)
		}
		_, answered = m.(contract.AssistantEnd)
	}
	_ = conn.CloseNow()
	if err := h.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := lines.Wait(ctx); err != nil {
		t.Error(err)
	}
}

// always is the authorization of a client that is never revoked.
type always struct{}

func (always) Check(context.Context) error          { return nil }
func (always) Permits(contract.ClientMessage) error { return nil }
func (always) Watch() (lost context.Context, release func()) {
	return context.Background(), func() {}
}
