package webrtc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	pion "github.com/pion/webrtc/v4"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/line"
	"parley/appliance/line/rtp"
)

// The media types of bodies (RFC 9725, section 4; RFC 8840, section 9).
const (
	sdpType      = "application/sdp"
	fragmentType = "application/trickle-ice-sdpfrag"
)

// MaxOffer bounds an offer in bytes. Offers of browsers have 3 to 8 kB.
const MaxOffer = 64 << 10

// Server serves chats over WebRTC.
type Server struct {
	host   line.Host
	net    *network
	timing Timing
	log    *slog.Logger

	mu    sync.Mutex
	calls map[string]*Call
	over  bool
	open  sync.WaitGroup

	stopping context.Context // ends when open calls are to be dropped
	stop     context.CancelFunc
}

// Open listens for calls to chats of host. The error names the address.
func Open(host line.Host, n Network, t Timing, log *slog.Logger) (*Server, error) {
	t = t.orDefault()
	net, err := open(n, t, log)
	if err != nil {
		return nil, err
	}
	s := &Server{
		host:   host,
		net:    net,
		timing: t,
		log:    log,
		calls:  map[string]*Call{},
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Port returns the UDP port of all calls.
func (s *Server) Port() string { return s.net.port() }

// Close waits for the calls to end, after the sessions were told to stop, and closes the
// socket. When ctx ends, it drops the remaining calls. A second Close does nothing.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	closed := s.over
	s.over = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	defer context.AfterFunc(ctx, s.stop)()
	s.open.Wait()
	s.stop()
	return s.net.mux.Close()
}

// Answer starts a call of the account from the client's offer, and writes the answer; path
// returns the URL path of the call. The call ends when the authorization does. An error
// means that there is no call, and the response is still to be written.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request, account string, path func(id string) string,
	auth connection.Authorization) error {
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
	slot, err := s.host.Reserve(account)
	if err != nil {
		return err
	}
	client, _, _ := net.SplitHostPort(r.RemoteAddr)
	c, err := s.begin(account, w.Header().Get("X-Request-Id"), client, offer)
	if err != nil {
		slot.Release()
		return err
	}
	answer, err := c.answer(r.Context(), offer)
	if err != nil {
		slot.Release()
		s.forget(c)
		return err
	}
	go s.carry(c, slot, settings, auth)
	h := w.Header()
	h.Set("Content-Type", sdpType)
	h.Set("Location", path(c.id))
	h.Set("ETag", c.currentETag())
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer)
	return nil
}

// body returns the body of a request of one of the media types.
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

// begin creates a call that is not connected yet.
func (s *Server) begin(account, requestID, client, offer string) (*Call, error) {
	if err := cmp.Or(checkOffer(offer), checkFirst(offer)); err != nil {
		return nil, err
	}
	c := &Call{
		id:        uuid.NewString(),
		account:   account,
		client:    client,
		errs:      line.ErrorLimiter{RequestID: requestID},
		timing:    s.timing,
		roundTrip: &rtp.RoundTrip{},
		beat:      s.net.beat,
		channel:   newDataChannel(hasChannel(offer), s.timing.Write),
		joined:    make(chan struct{}),
		opened:    make(chan struct{}),
		tracks:    make(chan *pion.TrackRemote, maxSections),
	}
	c.log = s.log.With("call", c.id, "client", client, "request", requestID)
	c.lifecycle = line.NewLifecycle(s.stopping, c.log, nil)
	var err error
	if c.pc, err = s.net.connect(newBounds(c.lifecycle.Drop)); err != nil {
		c.lifecycle.Wait()
		return nil, fmt.Errorf("beginning a call: %w", err)
	}
	c.inflow.received = func() uint64 { return c.pc.SCTP().Stats().BytesReceived }
	if err := s.enlist(c); err != nil {
		c.lifecycle.Wait()
		return nil, errors.Join(err, c.pc.Close())
	}
	c.watch()
	return c, nil
}

// enlist registers a call until it is forgotten.
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
	c.lifecycle.Drop(line.ErrClosed)
	_ = c.pc.GracefulClose()
	c.lifecycle.Wait()
	s.mu.Lock()
	delete(s.calls, c.id)
	s.mu.Unlock()
	s.open.Done()
}

// find returns a live call of the account. A call of another account is not found.
func (s *Server) find(account, id string) (*Call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[id]; c != nil && c.account == account && c.lifecycle.Gone().Err() == nil {
		return c, nil
	}
	return nil, contract.ErrNotFound{What: "call", ID: id}
}

// Change processes a change of the client's offer: more addresses, or new credentials that
// restart ICE (RFC 9725, section 4.3). A complete offer is answered by a complete answer.
func (s *Server) Change(w http.ResponseWriter, r *http.Request, account, id string) error {
	c, err := s.find(account, id)
	if err != nil {
		return err
	}
	said, err := body(r, fragmentType, sdpType)
	if err != nil {
		return err
	}
	if err := c.checkETag(r.Header.Values("If-Match")); err != nil {
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
	w.Header().Set("ETag", c.currentETag())
	_, _ = io.WriteString(w, answer)
	return nil
}

// HangUp ends a call of the account.
func (s *Server) HangUp(account, id string) error {
	c, err := s.find(account, id)
	if err != nil {
		return err
	}
	c.lifecycle.Drop(line.ErrLeft)
	return nil
}

// carry runs a call, from its first connection to its end.
func (s *Server) carry(c *Call, slot line.Slot, settings contract.ConnectSettings, auth connection.Authorization) {
	defer s.forget(c)
	defer c.finish()
	defer slot.Release()
	if !c.connected() {
		return
	}
	c.lifecycle.Go("sending sound", func() { c.voice.run(c.lifecycle.Gone()) })
	c.lifecycle.Go("sending messages", c.channel.send)
	defer c.lifecycle.Recover("a call", func() { c.lifecycle.Drop(line.ErrPanicked) })
	session, err := c.open(slot, settings)
	if err != nil {
		line.Refuse(c.lifecycle.Gone(), c, c.log, err)
		return
	}
	c.follow(line.AuthorizedSession{
		Session:       session,
		Line:          c,
		Lifecycle:     c.lifecycle,
		Authorization: auth,
	})
}

// open starts the chat.
func (c *Call) open(slot line.Slot, settings contract.ConnectSettings) (session line.Session, err error) {
	defer c.lifecycle.Recover("opening a chat", func() { err = line.ErrPanicked })
	return slot.Open(c.lifecycle.Gone(), connection.Opening{
		Account:   c.account,
		RequestID: c.errs.RequestID,
		Client:    c.client,
		Kind:      Kind,
		Settings:  settings,
		Line:      c,
		RealTime:  true,
	})
}

// connected waits for the first connection, and reports whether there is one.
func (c *Call) connected() bool {
	late := time.NewTimer(c.timing.Connect)
	defer late.Stop()
	select {
	case <-c.joined:
		return true
	case <-c.lifecycle.Gone().Done():
	case <-late.C:
		c.log.Info("no connection to the client of a call", "waited", c.timing.Connect)
		c.lifecycle.Drop(errNeverCame)
	}
	return false
}

// follow passes what the client sends to the session, until either ends.
func (c *Call) follow(s line.AuthorizedSession) {
	c.session = s
	close(c.opened)
	c.lifecycle.Go("hearing", func() { c.hear(s) })
	defer s.Watch()()
	select {
	case <-s.Done():
	case <-c.lifecycle.Gone().Done():
		c.log.Debug("a call ended", "why", context.Cause(c.lifecycle.Gone()))
	}
	s.HangUp()
	<-s.Done()
}
