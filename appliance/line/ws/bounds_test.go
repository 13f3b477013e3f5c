package ws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
	"parley/appliance/line"
)

func TestTenIdenticalErrorsInARowCloseTheSocket(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial("", nil)
	say := func(frame string, times int) {
		for range times {
			send(t, c, websocket.MessageText, frame)
			if m, ok := read(t, c).(contract.WebSocketError); !ok {
				t.Fatalf("%+v", m)
			}
		}
	}
	say(`{"type":"x"}`, 9)
	say(`{"type":"y"}`, 9) // another error starts a new row
	if err := s.Line.Send(t.Context(), contract.UserMessage{}); err != nil {
		t.Fatal(err)
	}
	read(t, c)
	say(`{"type":"y"}`, 10)
	if ce := closed(t, c); ce.Code != websocket.StatusPolicyViolation ||
		!strings.Contains(ce.Reason, "10 identical errors") {
		t.Errorf("closed with %v", ce)
	}
	s.end()
}

func TestAFrameOverTheLimitClosesWith1009(t *testing.T) {
	if s := start(t, Timing{}).server; s.maxMessage != contract.MaxMessageBytes {
		t.Errorf("the limit is %d bytes", s.maxMessage)
	}
	const limit = 1 << 20 // the real limit takes its time
	for name, c := range map[string]struct {
		size int
		mode websocket.CompressionMode
	}{
		"a little":        {limit + 1, websocket.CompressionDisabled},
		"once inflated":   {limit + 1, websocket.CompressionContextTakeover},
		"and still comes": {limit + 1<<20, websocket.CompressionDisabled},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, Timing{Close: time.Minute})
			b.server.maxMessage = limit
			client, s := b.dial("", &websocket.DialOptions{CompressionMode: c.mode})
			if err := s.Line.Send(t.Context(), contract.AssistantEnd{}); err != nil {
				t.Fatal(err)
			}
			go func() {
				_ = client.Write(context.Background(), websocket.MessageText, bytes.Repeat([]byte("a"), c.size))
			}()
			read(t, client)
			if ce := closed(t, client); ce.Code != websocket.StatusMessageTooBig {
				t.Errorf("closed with %v", ce)
			}
			got(t, s.hungUp)
		})
	}
}

func TestAFrameAtTheLimitIsAccepted(t *testing.T) {
	b := start(t, Timing{})
	b.server.maxMessage = 1 << 16
	c, s := b.dial(raw, nil)
	send(t, c, websocket.MessageBinary, strings.Repeat("a", 1<<16))
	if a := got(t, s.got).(heard); len(a) != 1<<15 {
		t.Errorf("heard %d samples", len(a))
	}
}

func TestAClientThatStopsReadingIsDropped(t *testing.T) {
	timing := quick
	timing.PingEvery = time.Hour
	b := start(t, timing)
	_, s := b.dial("", nil)
	begun := time.Now()
	var err error
	for sent := 0; err == nil; sent++ {
		if sent > 200 {
			t.Fatal("200 MB were queued for a client that reads nothing")
		}
		err = s.Line.Send(t.Context(), contract.AudioOutput{ID: "a", Index: sent, Data: make([]byte, 1<<20)})
	}
	got(t, s.hungUp)
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("dropped after %s", took)
	}
	if !errors.Is(err, line.ErrTooSlow) {
		t.Errorf("Send says: %v", err)
	}
}

func TestAClientThatAnswersNoPingIsDropped(t *testing.T) {
	b := start(t, quick)
	_, s := b.dial("", nil) // does not read, so it answers no ping
	got(t, s.hungUp)
	if err := s.Line.Send(t.Context(), contract.AssistantEnd{}); !errors.Is(err, errNoPong) {
		t.Errorf("Send says: %v", err)
	}
}

func TestASilentClientThatAnswersPingsStays(t *testing.T) {
	b := start(t, Timing{PingEvery: 10 * time.Millisecond})
	pinged := make(chan struct{}, 99)
	c, s := b.dial("", &websocket.DialOptions{OnPingReceived: func(context.Context, []byte) bool {
		pinged <- struct{}{}
		return true
	}})
	go func() { _, _, _ = c.Read(context.Background()) }()
	for range 3 { // the next ping comes after the answer to the last one
		select {
		case <-s.hungUp:
			t.Fatal("it was dropped")
		case <-pinged:
		}
	}
	c.CloseNow()
	got(t, s.hungUp)
}

func TestAClientThatVanishesEndsItsChat(t *testing.T) {
	b := start(t, Timing{})
	var raw net.Conn
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		var err error
		raw, err = (&net.Dialer{}).DialContext(ctx, network, addr)
		return raw, err
	}}
	_, s := b.dial("", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	_ = raw.(*net.TCPConn).SetLinger(0) // as if a cable were pulled: a reset
	_ = raw.Close()
	got(t, s.hungUp)
}

func TestASlowClosingHandshakeIsCutOff(t *testing.T) {
	timing := quick
	timing.PingEvery = time.Hour
	b := start(t, timing)
	conn, err := net.Dial("tcp", b.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n", "AAAAAAAAAAAAAAAAAAAAAA==")
	s := got(t, b.opened)
	// A binary frame of 2^40 bytes, which arrives byte by byte.
	_, _ = conn.Write([]byte{0x82, 0xFF, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for {
			if _, err := conn.Write([]byte{1}); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	s.Line.Close(contract.CloseNormal, "")
	s.end()
	got(t, stop)
}

func TestShutdownWaitsForNoClient(t *testing.T) {
	b := start(t, Timing{})
	_, s := b.dial("", nil) // reads nothing, so it takes no part in the closing handshake
	s.Line.Close(contract.CloseGoingAway, "the box stops")
	s.end()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := b.server.Wait(ctx); err != nil {
		t.Error(err)
	}
}
