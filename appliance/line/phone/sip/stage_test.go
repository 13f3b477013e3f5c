package sip

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/appliance/contract"
)

// TestMain makes the timers of SIP ten times as fast.
func TestMain(m *testing.M) {
	sip.SetTimers(50*time.Millisecond, 400*time.Millisecond, 500*time.Millisecond)
	os.Exit(m.Run())
}

const offer = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n" +
	"m=audio 4000 RTP/AVP 0\r\n"

// silence is a Media without sound, which notes what signalling does with it.
type silence struct {
	Media

	mu       sync.Mutex
	answered []string
	accepted []string
	press    func(rune)
	refuse   bool
	closed   chan struct{}
	once     sync.Once
	silent   chan struct{}
}

func (s *silence) Offer() ([]byte, error) { return []byte(offer), nil }

func (s *silence) Answer(o []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse || !strings.Contains(string(o), "m=audio") {
		return nil, errors.New("no codec")
	}
	s.answered = append(s.answered, string(o))
	return []byte(offer), nil
}

func (s *silence) Accept(a []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(a) == 0 {
		return errors.New("no answer")
	}
	s.accepted = append(s.accepted, string(a))
	return nil
}

func (s *silence) Listen(_ func([]float32), press func(rune)) { s.press = press }
func (s *silence) Held() bool                                 { return true }
func (s *silence) Silent() <-chan struct{}                    { return s.silent }
func (s *silence) Close()                                     { s.once.Do(func() { close(s.closed) }) }
func (s *silence) Stats() contract.PhoneMedia                 { return contract.PhoneMedia{} }

// A stage is an endpoint with a telephone, the peer, which speaks raw messages over UDP.
type stage struct {
	*testing.T
	e     *Endpoint
	at    string
	conn  *net.UDPConn
	calls int

	invitations chan *Invitation
	mu          sync.Mutex
	media       []*silence
	refuse      bool
}

// panics is the name of a caller at whom the box panics.
const panics = "Bomb"

// desk is the trunk of the peer's address.
func desk() Trunk { return Trunk{Name: "desk", Address: "127.0.0.1"} }

// open opens an endpoint on UDP and TCP, for a test that runs beside others.
func open(t *testing.T, trunks ...Trunk) *stage {
	t.Helper()
	t.Parallel()
	return openAlone(t, trunks...)
}

func openAlone(t *testing.T, trunks ...Trunk) *stage {
	t.Helper()
	s := &stage{T: t, invitations: make(chan *Invitation, 64)}
	e, err := Open(Options{
		Listen:    []string{"udp://127.0.0.1:0", "tcp://127.0.0.1:0"},
		Media:     s.newMedia,
		Trunks:    trunks,
		UserAgent: "parley",
		Log:       slog.New(slog.DiscardHandler),
	}, func(_ context.Context, i *Invitation) {
		if i.From == panics {
			panic(panics)
		}
		s.invitations <- i
	})
	if err != nil {
		t.Fatal(err)
	}
	s.e = e
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	s.at = strings.TrimPrefix(e.Listeners()[0], "udp://")
	s.conn = s.socket()
	return s
}

func (s *stage) newMedia(netip.Addr, bool) (Media, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &silence{
		refuse: s.refuse,
		closed: make(chan struct{}),
		silent: make(chan struct{}),
	}
	s.media = append(s.media, m)
	return m, nil
}

// socket returns a socket that is connected to the endpoint.
func (s *stage) socket() *net.UDPConn {
	to, _ := net.ResolveUDPAddr("udp", s.at)
	conn, err := net.DialUDP("udp", nil, to)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	return conn
}

// A request is what the peer sends; fields are added to those of its kind, or replace them.
type request struct {
	method, callID, branch, fromTag, toTag string
	number                                 int
	fields                                 []string
	body                                   string
}

// text writes a request of the telephone.
func (s *stage) text(r request) string {
	from := s.conn.LocalAddr().String()
	fields := []string{
		fmt.Sprintf("Via: SIP/2.0/UDP %s;branch=z9hG4bK%s;rport", from, r.branch),
		"Max-Forwards: 70",
		fmt.Sprintf("From: \"Ada\" <sip:1001@%s>;tag=%s", from, r.fromTag),
		"To: <sip:100@" + s.at + ">",
		"Call-ID: " + r.callID,
		fmt.Sprintf("CSeq: %d %s", r.number, r.method),
		"Contact: <sip:1001@" + from + ">",
	}
	if r.toTag != "" {
		fields[3] += ";tag=" + r.toTag
	}
	if r.body != "" {
		fields = append(fields, "Content-Type: application/sdp")
	}
	for _, f := range r.fields {
		name, _, _ := strings.Cut(f, ":")
		replaced := false
		for i, old := range fields {
			if strings.HasPrefix(old, name+":") {
				fields[i], replaced = f, true
			}
		}
		if !replaced {
			fields = append(fields, f)
		}
	}
	fields = append(fields, fmt.Sprintf("Content-Length: %d", len(r.body)))
	return r.method + " sip:100@" + s.at + " SIP/2.0\r\n" + strings.Join(fields, "\r\n") + "\r\n\r\n" + r.body
}

func (s *stage) send(text string) {
	s.Helper()
	if _, err := s.conn.Write([]byte(text)); err != nil {
		s.Fatal(err)
	}
}

// read returns the next message from the box, or nil after a while.
func (s *stage) read(within time.Duration) sip.Message {
	s.Helper()
	buffer := make([]byte, 64<<10)
	_ = s.conn.SetReadDeadline(time.Now().Add(within))
	n, err := s.conn.Read(buffer)
	if err != nil {
		return nil
	}
	m, err := parse(buffer[:n])
	if err != nil {
		s.Fatalf("the box sent what it cannot read itself: %v\n%s", err, buffer[:n])
	}
	return m
}

// want returns the next response with a status, skipping others of below 200.
func (s *stage) want(status int) *sip.Response {
	s.Helper()
	for {
		m := s.read(2 * time.Second)
		res, ok := m.(*sip.Response)
		switch {
		case m == nil:
			s.Fatalf("no response; want %d", status)
		case !ok:
			s.Fatalf("a request came; want %d:\n%s", status, m)
		case res.StatusCode == status:
			s.confirm(res)
			return res
		case res.StatusCode >= 200:
			s.Fatalf("status %d; want %d:\n%s", res.StatusCode, status, res)
		}
	}
}

// want2 returns the next response with one of two statuses.
func (s *stage) want2(one, other int) *sip.Response {
	s.Helper()
	for {
		res, ok := s.read(2 * time.Second).(*sip.Response)
		if !ok {
			s.Fatalf("no response; want %d or %d", one, other)
		}
		if res.StatusCode == one || res.StatusCode == other {
			s.confirm(res)
			return res
		}
	}
}

// respond writes a response. A body follows its Content-Type after a line end.
func (s *stage) respond(req *sip.Request, status int, fields ...string) string {
	res := sip.NewResponseFromRequest(req, status, reason(status), nil)
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		value, body, _ := strings.Cut(value, "\n")
		res.AppendHeader(sip.NewHeader(name, value))
		if body != "" {
			res.SetBody([]byte(body))
		}
	}
	return res.String()
}

// confirm sends the ACK of a refused INVITE.
func (s *stage) confirm(res *sip.Response) {
	if res.StatusCode < 300 || res.CSeq().MethodName != sip.INVITE {
		return
	}
	ack := strings.NewReplacer("SIP/2.0 "+strconv.Itoa(res.StatusCode)+" "+res.Reason, "ACK sip:100@"+s.at+" SIP/2.0",
		" INVITE\r\n", " ACK\r\n").Replace(res.String())
	s.send(ack)
}

// wantRequest returns the next request with a method, skipping repeated responses.
func (s *stage) wantRequest(method sip.RequestMethod) *sip.Request {
	s.Helper()
	for {
		m := s.read(2 * time.Second)
		if m == nil {
			s.Fatalf("no %s came", method)
		}
		if req, ok := m.(*sip.Request); ok {
			if req.Method != method {
				s.Fatalf("%s came; want %s", req.Method, method)
			}
			return req
		}
	}
}

// quiet fails if a message comes.
func (s *stage) quiet(during time.Duration) {
	s.Helper()
	if m := s.read(during); m != nil {
		s.Fatalf("came:\n%s", m)
	}
}

// dial returns the INVITE of a new call.
func (s *stage) dial(fields ...string) request {
	s.calls++
	id := fmt.Sprintf("%s-%d", strings.ReplaceAll(s.Name(), "/", "-"), s.calls)
	return request{
		method:  "INVITE",
		callID:  id,
		branch:  id,
		fromTag: "caller",
		number:  1,
		fields:  fields,
		body:    offer,
	}
}

// invitation returns the next one.
func (s *stage) invitation() *Invitation {
	s.Helper()
	select {
	case i := <-s.invitations:
		return i
	case <-time.After(2 * time.Second):
		s.Fatal("no invitation")
		return nil
	}
}

// in returns a request in the dialog of a call.
func (r request) in(res *sip.Response, method string, number int, fields ...string) request {
	tag, _ := res.To().Params.Get("tag")
	return request{
		method:  method,
		callID:  r.callID,
		branch:  fmt.Sprintf("%s-%s-%d", r.callID, method, number),
		fromTag: r.fromTag,
		toTag:   tag,
		number:  number,
		fields:  fields,
	}
}

// answered returns a call that has been answered and confirmed.
func (s *stage) answered(fields ...string) (*Call, request, *sip.Response) {
	s.Helper()
	invite := s.dial(fields...)
	s.send(s.text(invite))
	s.want(100)
	c, err := s.invitation().Answer(context.Background())
	if err != nil {
		s.Fatal(err)
	}
	res := s.want(200)
	s.send(s.text(invite.in(res, "ACK", 1)))
	return c, invite, res
}

// ended waits until a call is over.
func (s *stage) ended(c *Call) error {
	s.Helper()
	select {
	case <-c.Done():
		return c.Err()
	case <-time.After(3 * time.Second):
		s.Fatal("the call goes on")
		return nil
	}
}

// requestOf returns an INVITE to an address; fields replace its own.
func requestOf(t testing.TB, to string, fields ...string) *sip.Request {
	t.Helper()
	all := []string{"From: <sip:1001@h>;tag=1", "To: <sip:100@box>", "Via: SIP/2.0/UDP h;branch=z9hG4bK1",
		"Call-ID: 1", "CSeq: 1 INVITE"}
	for _, f := range fields {
		name, _, _ := strings.Cut(f, ":")
		all = append(slices.DeleteFunc(all, func(old string) bool { return strings.HasPrefix(old, name+":") }), f)
	}
	m, err := parse([]byte("INVITE " + to + " SIP/2.0\r\n" + strings.Join(all, "\r\n") + "\r\n\r\n"))
	if err != nil {
		t.Fatalf("%q: %v", fields, err)
	}
	return m.(*sip.Request)
}
