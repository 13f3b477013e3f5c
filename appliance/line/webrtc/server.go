package webrtc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	pion "github.com/pion/webrtc/v4"

	"parley/appliance/contract"
)

// The types of bodies (RFC 9725, section 4; RFC 8840, section 9).
const (
	sdpType      = "application/sdp"
	fragmentType = "application/trickle-ice-sdpfrag"
)

// MaxOffer is how many bytes an offer may have: those of browsers have 3 to 8 kB.
const MaxOffer = 64 << 10

// Server takes the calls of chats.
type Server struct {
	host   Host
	net    *network
	timing Timing
	log    *slog.Logger

	mu    sync.Mutex
	calls map[string]*Call
	over  bool
	open  sync.WaitGroup

	stopping context.Context // ends when what is open is to be cut off
	stop     context.CancelFunc
}

// Open listens for the calls of host's chats. The error names the address.
func Open(host Host, n Network, t Timing, log *slog.Logger) (*Server, error) {
	t = t.orDefault()
	net, err := open(n, t, log)
	if err != nil {
		return nil, err
	}
	s := &Server{host: host, net: net, timing: t, log: log, calls: map[string]*Call{}}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Port is the UDP port of all calls.
func (s *Server) Port() string { return s.net.port() }

// Close waits for the calls to end, after the sessions were told to stop, and
// stops listening. Calls that last when ctx ends are cut off. A second Close does
// nothing.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	closed := s.over
	s.over = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	ended := make(chan struct{})
	go func() {
		s.open.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		s.stop()
		<-ended
	}
	s.stop()
	return s.net.mux.Close()
}

// Answer begins a call of account's with the client's offer and writes the
// answer to it; path is where the call is found from then on. The call ends when
// pass is lost. An error means that there is no call, and that the response is
// still to be written.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, account string, path func(id string) string, pass Pass) error {
	offer, err := body(r, sdpType)
	if err != nil {
		return err
	}
	settings, err := contract.ParseConnectSettings(r.URL.Query())
	if f, ok := errors.AsType[contract.Fault](err); ok {
		return f.Refused()
	} else if err != nil {
		return err
	}
	seat, err := s.host.Reserve(account)
	if err != nil {
		return err
	}
	client, _, _ := net.SplitHostPort(r.RemoteAddr)
	c, err := s.begin(account, w.Header().Get("X-Request-Id"), client, offer)
	if err != nil {
		seat.Release()
		return err
	}
	answer, err := c.answer(r.Context(), offer)
	if err != nil {
		seat.Release()
		s.forget(c)
		return err
	}
	go s.carry(c, seat, settings, pass)
	h := w.Header()
	h.Set("Content-Type", sdpType)
	h.Set("Location", path(c.id))
	h.Set("ETag", tag(answer))
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer)
	return nil
}

// body is the text of a request, of one of the types.
func body(r *http.Request, types ...string) (string, error) {
	got, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	known := false
	for _, t := range types {
		known = known || strings.EqualFold(got, t)
	}
	if !known {
		return "", contract.ErrMediaType{Got: r.Header.Get("Content-Type"), Allowed: strings.Join(types, " or ")}
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return "", err
	}
	return string(data), nil
}

// begin makes a call, whose connection is still to come about.
func (s *Server) begin(account, requestID, client, offer string) (*Call, error) {
	if !strings.Contains(offer, "m=audio") {
		return nil, contract.ErrInvalid{Field: "body", Why: "the offer has no audio: expected an SDP with an m=audio section, whose direction is sendrecv"}
	}
	c := &Call{
		id: uuid.NewString(), account: account, requestID: requestID, client: client,
		timing: s.timing, trip: &trip{}, words: newWords(strings.Contains(offer, "m=application"), s.timing.Write),
		joined: make(chan struct{}), opened: make(chan struct{}), heard: make(chan *pion.TrackRemote, 1), closing: make(chan struct{}),
	}
	c.log = s.log.With("call", c.id, "client", client, "request", requestID)
	c.gone, c.drop = context.WithCancelCause(s.stopping)
	var err error
	if c.pc, err = s.net.api.NewPeerConnection(pion.Configuration{ICEServers: s.net.servers}); err != nil {
		return nil, fmt.Errorf("beginning a call: %w", err)
	}
	if err := s.enlist(c); err != nil {
		return nil, errors.Join(err, c.pc.Close())
	}
	c.watch()
	return c, nil
}

// enlist notes a call, which is to be forgotten when it is over.
func (s *Server) enlist(c *Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return contract.ErrUnavailable{Why: "the box is stopping", RetryAfter: 5 * time.Second}
	}
	s.calls[c.id] = c
	s.open.Add(1)
	return nil
}

func (s *Server) forget(c *Call) {
	c.drop(ErrClosed)
	_ = c.pc.GracefulClose()
	s.mu.Lock()
	delete(s.calls, c.id)
	s.mu.Unlock()
	s.open.Done()
}

// find is a call of the account's. That of another is the same as none.
func (s *Server) find(account, id string) (*Call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[id]; c != nil && c.account == account {
		return c, nil
	}
	return nil, contract.ErrNotFound{What: "call", ID: id}
}

// Change takes what the client has to add to its offer: addresses of its own, or
// that it begins anew with others (RFC 9725, section 4.3). An offer in full
// begins anew, too, and is answered in full.
func (s *Server) Change(w http.ResponseWriter, r *http.Request, account, id string) error {
	c, err := s.find(account, id)
	if err != nil {
		return err
	}
	said, err := body(r, fragmentType, sdpType)
	if err != nil {
		return err
	}
	var answer string
	if got, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); got == sdpType {
		answer, err = c.answer(r.Context(), said)
	} else {
		answer, err = c.change(r.Context(), said)
	}
	if err != nil {
		return err
	}
	if answer == "" {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	w.Header().Set("ETag", tag(answer))
	_, _ = io.WriteString(w, answer)
	return nil
}

// HangUp ends a call of the account's.
func (s *Server) HangUp(account, id string) error {
	c, err := s.find(account, id)
	if err != nil {
		return err
	}
	c.drop(errLeft)
	return nil
}

// carry brings the sound and the messages of a call to a session and back, from
// the first connection to the end.
func (s *Server) carry(c *Call, seat Seat, settings contract.ConnectSettings, pass Pass) {
	defer s.forget(c)
	defer c.finish()
	defer seat.Release()
	if !c.connected() {
		return
	}
	c.spawn("sending sound", func() { c.voice.pace(c.gone) })
	c.spawn("sending messages", c.words.send)
	c.survive("a call", func() {
		session, err := seat.Open(c.gone, Opening{Account: c.account, RequestID: c.requestID, Client: c.client, Settings: settings, Line: c})
		if err != nil {
			c.refuse(err)
			return
		}
		c.follow(session, pass)
	})
}

// connected waits for the first connection.
func (c *Call) connected() bool {
	late := time.NewTimer(c.timing.Connect)
	defer late.Stop()
	select {
	case <-c.joined:
		return true
	case <-c.gone.Done():
	case <-late.C:
		c.log.Info("a call found no way to its client", "waited", c.timing.Connect)
		c.drop(errNeverCame)
	}
	return false
}

// refuse tells the client why there is no conversation, and ends the call. A
// fault of ours is told without its details, which are in the log.
func (c *Call) refuse(err error) {
	f, told := errors.AsType[contract.Fault](err)
	code := contract.ClosePolicy
	switch {
	case told && f.Code.Fatal():
		code = f.Code.CloseCode()
	case !told:
		c.log.Error("cannot open a chat", "err", err)
		f, code = contract.Fault{Code: contract.Internal}, contract.CloseInternal
	}
	if c.Send(c.gone, f.Code.Error(f.Detail)) == nil {
		c.Close(code, f.Code.Slug())
	}
}

// follow brings what the client sends to the session, until either is over.
func (c *Call) follow(s Session, pass Pass) {
	c.sessionMu.Lock()
	c.session = s
	c.sessionMu.Unlock()
	close(c.opened)
	c.spawn("hearing", func() { c.hear(s) })
	lost, release := pass.Watch()
	defer release()
	select {
	case <-s.Done():
	case <-lost.Done():
		_ = s.Fault(contract.KeyRevoked, "") // it is over already, or it ends with this
		<-s.Done()
	case <-c.gone.Done():
		c.log.Debug("a call ended", "why", context.Cause(c.gone))
	}
	s.HangUp()
	<-s.Done()
}

// seed is where the numbers of a stream begin: nobody is to guess them
// (RFC 3550, section 5.1).
func seed() (sequence uint16, clock uint32) {
	return uint16(rand.Uint32()), rand.Uint32()
}
