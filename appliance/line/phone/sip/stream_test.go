package sip

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
)

// A wire is a connection of the telephone over TCP or TLS.
type wire struct {
	*stage
	conn net.Conn
	in   *bufio.Reader
}

func (s *stage) wire() *wire {
	s.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.e.Listeners()[1], "tcp://"))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	return &wire{s, conn, bufio.NewReader(conn)}
}

// text writes a request as it is sent over the connection.
func (w *wire) text(r request) string {
	text := w.stage.text(r)
	text = strings.Replace(text, "SIP/2.0/UDP "+w.stage.conn.LocalAddr().String(),
		"SIP/2.0/TCP "+w.conn.LocalAddr().String(), 1)
	return strings.Replace(text, "Contact: <sip:1001@"+w.stage.conn.LocalAddr().String()+">",
		"Contact: <sip:1001@"+w.conn.LocalAddr().String()+";transport=tcp>", 1)
}

func (w *wire) write(text string) {
	w.Helper()
	if _, err := io.WriteString(w.conn, text); err != nil {
		w.Fatal(err)
	}
}

func (w *wire) next() sip.Message {
	w.Helper()
	_ = w.conn.SetReadDeadline(time.Now().Add(2 * time.Second))
	text, err := readMessage(w.in)
	if err != nil {
		w.Fatal(err)
	}
	m, err := parse(text)
	if err != nil {
		w.Fatal(err)
	}
	return m
}

func (w *wire) wantStatus(status int) *sip.Response {
	w.Helper()
	for {
		res, ok := w.next().(*sip.Response)
		if !ok || res.StatusCode >= 200 && res.StatusCode != status {
			w.Fatalf("want %d, got\n%s", status, res)
		}
		if res.StatusCode == status {
			return res
		}
	}
}

func TestCallOverOneConnection(t *testing.T) {
	s := open(t, desk())
	w := s.wire()
	invite := s.dial()
	text := w.text(invite)
	w.write("\r\n\r\n" + text[:100])
	time.Sleep(20 * time.Millisecond)
	w.write(text[100:])
	i := s.invitation()
	c, err := i.Answer(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	_ = w.conn.SetReadDeadline(time.Now().Add(time.Second))
	if pong, err := w.in.Peek(2); err != nil || string(pong) != "\r\n" {
		t.Errorf("the keep-alive is answered %q, %v", pong, err)
	}
	_, _ = w.in.Discard(2)
	res := w.wantStatus(200)
	if got := res.Contact().Address.String(); !strings.HasSuffix(got, ";transport=tcp") {
		t.Errorf("Contact is %s", got)
	}
	// Two messages at once.
	w.write(w.text(invite.in(res, "ACK", 1)) + w.text(invite.in(res, "OPTIONS", 2)))
	if res := w.wantStatus(200); res.CSeq().MethodName != sip.OPTIONS {
		t.Errorf("got\n%s", res)
	}
	c.HangUp()
	if m, ok := w.next().(*sip.Request); !ok || m.Method != sip.BYE {
		t.Errorf("got\n%s", m)
	}
}

func TestStreamThatCannotBeReadIsClosed(t *testing.T) {
	s := open(t, desk())
	for name, text := range map[string]string{
		"no length": strings.Replace(s.text(s.dial()), "Content-Length", "X-Length", 1),
		"endless":   "INVITE sip:100@box SIP/2.0\r\nX: " + strings.Repeat("y", maxMessage),
	} {
		w := s.wire()
		_, _ = io.WriteString(w.conn, text) // the box may close before all is sent
		_ = w.conn.SetReadDeadline(time.Now().Add(2 * time.Second))
		if _, err := io.Copy(io.Discard, w.conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: the connection is not closed: %v", name, err)
		}
	}
	s.send(s.text(s.dial()))
	s.want(100)
}

func TestTooManyConnectionsOfOnePeerAreRefused(t *testing.T) {
	s := open(t, desk())
	for range maxPerPeer {
		s.wire()
	}
	w := s.wire()
	_ = w.conn.SetReadDeadline(time.Now().Add(2 * time.Second))
	if _, err := w.conn.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more connection is taken: %v", err)
	}
}

func TestCallOverTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, invitations: make(chan *Invitation, 1)}
	s.e, err = Open(Options{
		Listen: []string{"udp://127.0.0.1:0", "tls://127.0.0.1:0"},
		TLS:    &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}},
		Media:  s.newMedia,
		Trunks: []Trunk{desk()},
		Log:    slog.New(slog.DiscardHandler),
	}, func(_ context.Context, i *Invitation) { s.invitations <- i })
	if err != nil {
		t.Fatal(err)
	}
	defer s.e.Close(closedContext())
	s.at = strings.TrimPrefix(s.e.Listeners()[0], "udp://")
	s.conn = s.socket()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.e.Listeners()[1], "tls://"),
		&tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w := &wire{s, conn, bufio.NewReader(conn)}
	w.write(strings.Replace(w.text(s.dial()), "SIP/2.0/TCP", "SIP/2.0/TLS", 1))
	if _, err := s.invitation().Answer(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := w.wantStatus(200).Contact().Address.String(); !strings.HasSuffix(got, ";transport=tls") {
		t.Errorf("Contact is %s", got)
	}
}
