package sip

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
)

// far is the other side of calls out: a socket that answers as a test says.
type far struct {
	*testing.T
	conn *net.UDPConn
	box  *net.UDPAddr // where the last request came from
	tag  string
	seen map[string]bool // requests that want has returned
}

func newFar(t *testing.T) *far {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &far{T: t, conn: conn, tag: "far", seen: map[string]bool{}}
}

func (f *far) address() string { return f.conn.LocalAddr().String() }

// trunk returns the trunk of the far side.
func (f *far) trunk() Trunk {
	return Trunk{
		Name:     "far",
		Address:  f.address(),
		User:     "parley",
		Password: "secret",
	}
}

// next returns the next message, or nil after a time.
func (f *far) next(within time.Duration) sip.Message {
	f.Helper()
	buffer := make([]byte, 64<<10)
	_ = f.conn.SetReadDeadline(time.Now().Add(within))
	n, from, err := f.conn.ReadFromUDP(buffer)
	if err != nil {
		return nil
	}
	f.box = from
	m, err := parse(buffer[:n])
	if err != nil {
		f.Fatalf("the box sent what it cannot read itself: %v\n%s", err, buffer[:n])
	}
	return m
}

// want returns the next request with a method. It skips requests that it has returned
// before, which the box repeats until they are answered, and those of other methods that
// skip has.
func (f *far) want(method sip.RequestMethod, skip ...sip.RequestMethod) *sip.Request {
	f.Helper()
	for {
		m := f.next(3 * time.Second)
		req, ok := m.(*sip.Request)
		switch {
		case m == nil:
			f.Fatalf("no %s came", method)
		case !ok: // a response that the box repeats until it is confirmed
		case f.seen[req.Via().Value()+string(req.Method)]:
		case req.Method == method:
			f.seen[req.Via().Value()+string(req.Method)] = true
			return req
		case !strings.Contains(fmt.Sprint(skip), string(req.Method)):
			f.Fatalf("%s came; want %s:\n%s", req.Method, method, req)
		}
	}
}

// wantStatus returns the next response, which has to have a status.
func (f *far) wantStatus(status int) *sip.Response {
	f.Helper()
	m := f.next(3 * time.Second)
	res, ok := m.(*sip.Response)
	if !ok || res.StatusCode != status {
		f.Fatalf("came %v; want a response of %d", m, status)
	}
	return res
}

// answer responds to a request. A field "Name: value" is added; an empty body has none.
func (f *far) answer(req *sip.Request, status int, body string, fields ...string) {
	f.Helper()
	res := sip.NewResponseFromRequest(req, status, reason(status), nil)
	if to := res.To(); status > 100 && !req.To().Params.Has("tag") {
		to.Params.Add("tag", f.tag)
	}
	if req.Method == sip.INVITE && status > 100 {
		res.AppendHeader(sip.NewHeader("Contact", "<sip:ada@"+f.address()+">"))
	}
	if body != "" {
		res.AppendHeader(sip.NewHeader("Content-Type", "application/sdp"))
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		if name == "Contact" {
			res.RemoveHeader("Contact")
		}
		res.AppendHeader(sip.NewHeader(name, value))
	}
	res.SetBody([]byte(body))
	f.send(res)
}

func (f *far) send(m sip.Message) {
	f.Helper()
	if _, err := f.conn.WriteToUDP([]byte(m.String()), f.box); err != nil {
		f.Fatal(err)
	}
}

// inside sends a request in the dialog that answering invite began.
func (f *far) inside(invite *sip.Request, method sip.RequestMethod, number int, fields ...string) {
	f.Helper()
	req := sip.NewRequest(method, invite.Contact().Address)
	via := fmt.Sprintf("SIP/2.0/UDP %s;branch=z9hG4bK%s%d;rport", f.address(), method, number)
	req.AppendHeader(sip.NewHeader("Via", via))
	from := invite.To().AsFrom()
	from.Params.Add("tag", f.tag)
	to := invite.From().AsTo()
	req.AppendHeader(&from)
	req.AppendHeader(&to)
	req.AppendHeader(sip.HeaderClone(invite.CallID()))
	req.AppendHeader(&sip.CSeqHeader{SeqNo: uint32(number), MethodName: method})
	req.AppendHeader(sip.NewHeader("Contact", "<sip:ada@"+f.address()+">"))
	body := ""
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		if name == "body" {
			body = value
			continue
		}
		req.AppendHeader(sip.NewHeader(name, value))
	}
	req.SetBody([]byte(body))
	f.send(req)
}

// dialled is a call out that is being placed.
type dialled struct {
	call *Call
	err  error
}

// dials places a call in the background.
func (s *stage) dials(ctx context.Context, o DialOptions) <-chan dialled {
	done := make(chan dialled, 1)
	go func() {
		c, err := s.e.Dial(ctx, o)
		done <- dialled{c, err}
	}()
	return done
}

// result waits for the end of placing a call.
func result(t *testing.T, done <-chan dialled) (*Call, error) {
	t.Helper()
	select {
	case d := <-done:
		return d.call, d.err
	case <-time.After(5 * time.Second):
		t.Fatal("Dial does not return")
		return nil, nil
	}
}

// connected returns a call out that has been answered, and its INVITE.
func (s *stage) connected(f *far) (*Call, *sip.Request) {
	s.Helper()
	done := s.dials(context.Background(), DialOptions{To: "100"})
	invite := f.want("INVITE")
	f.answer(invite, 200, offer)
	f.want("ACK", "INVITE")
	c, err := result(s.T, done)
	if err != nil {
		s.Fatal(err)
	}
	return c, invite
}

// sound returns what the media of the first call got: offers, and answers to its own.
func (s *stage) sound() (offers, answers []string) {
	s.mu.Lock()
	m := s.media[0]
	s.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.answered), slices.Clone(m.accepted)
}
