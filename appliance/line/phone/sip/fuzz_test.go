package sip

import (
	"bufio"
	"bytes"
	"context"
	"log/slog"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"
)

// alarm fails a test when an error is logged: a panic in the handling of a message is.
type alarm struct {
	slog.Handler
	t *testing.T
}

func (a alarm) Enabled(context.Context, slog.Level) bool { return true }

func (a alarm) WithAttrs([]slog.Attr) slog.Handler { return a }

func (a alarm) Handle(_ context.Context, r slog.Record) error {
	if r.Level < slog.LevelError {
		return nil
	}
	r.Attrs(func(at slog.Attr) bool {
		a.t.Errorf("%s: %s", at.Key, at.Value)
		return true
	})
	return nil
}

// FuzzMessage sends anything to a box in which a call is live. No message may cause a panic.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(strings.Repeat("\r\n", 3)))
	for _, c := range torture {
		f.Add([]byte(strings.NewReplacer("%A", "127.0.0.1:9", "%B", "127.0.0.1:5060").Replace(c.text)))
	}
	live := requestOf(f, "sip:100@box", "Contact: <sip:1001@127.0.0.1:9>", "Content-Type: application/sdp")
	live.SetBody([]byte(offer))
	tag := (&Endpoint{nonces: &nonces{}}).tag(live) // as the boxes below have it: their secret is empty
	for _, kind := range []string{
		"INVITE", "UPDATE", "ACK", "BYE", "OPTIONS", "PRACK\r\nRAck: 1 1 INVITE", "CANCEL",
		"INFO\r\nContent-Type: application/dtmf-relay\r\n\r\nSignal=1",
		"REFER\r\nRefer-To: <sip:200@127.0.0.1>",
		"NOTIFY\r\nEvent: refer\r\nSubscription-State: active\r\n\r\nSIP/2.0 200 OK",
		"INVITE\r\nSession-Expires: 90;refresher=uas\r\nSupported: timer\r\nContent-Type: application/sdp\r\n\r\n" +
			offer,
	} {
		method, _, _ := strings.Cut(kind, "\r\n")
		f.Add([]byte(method + " sip:100@box SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bK2\r\n" +
			"From: <sip:1001@h>;tag=1\r\nTo: <sip:100@box>;tag=" + tag +
			"\r\nCall-ID: 1\r\nCSeq: 2 " + kind + "\r\n\r\n"))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := Open(Options{
			Media: func(netip.Addr, bool) (Media, error) {
				return &silence{closed: make(chan struct{}), silent: make(chan struct{})}, nil
			},
			Trunks: []Trunk{desk()},
			Log:    slog.New(alarm{t: t}),
		}, func(ctx context.Context, i *Invitation) {
			_ = i.Ring()
			if _, err := i.Answer(ctx); err == nil {
				_ = i.Reject(486, 0)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		e.nonces.secret = [32]byte{}
		socket, err := openDatagrams("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		way := &flow{
			transport: "UDP",
			local:     socket.local,
			remote:    netip.MustParseAddrPort("127.0.0.1:9"),
			udp:       socket,
		}
		e.receive(way, []byte(live.String()))
		for range 2 { // once more as a repetition
			e.receive(way, text)
		}
		if message, err := readMessage(bufio.NewReaderSize(bytes.NewReader(text), 64)); err == nil {
			e.receive(way, message)
		}
		if err := e.Close(closedContext()); err != nil {
			t.Error(err)
		}
	})
}

func TestNoGoroutineStaysBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("calls", func(t *testing.T) {
		s := openAlone(t, desk())
		for range 3 {
			_, invite, res := s.answered()
			s.send(s.text(invite.in(res, "BYE", 2)))
			s.want(200)
			refused := s.dial()
			s.send(s.text(refused))
			if err := s.invitation().Reject(486, 0); err != nil {
				t.Fatal(err)
			}
			s.want(486)
			c, _, _ := s.answered()
			c.HangUp()
			s.send(s.respond(s.wantRequest("BYE"), 200))
		}
	})
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	var stacks [64 << 10]byte
	t.Fatalf("%d goroutines were there, now %d are:\n%s", before, runtime.NumGoroutine(),
		stacks[:runtime.Stack(stacks[:], true)])
}
