// Package ws carries live chats over WebSocket: text frames are messages of the contract,
// binary frames raw audio. It handles the socket and its limits; the session handles the
// content.
package ws

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/line"
)

// Kind is the kind of this line.
const Kind = "websocket"

// Timing holds the timeouts of a line. Zero values mean the defaults.
type Timing struct {
	// Write is how long a client may receive nothing of a message. The default of 10 s is
	// longer than networks stall that recover.
	Write time.Duration
	// PingEvery is the interval between pings, 9 s: proxies cut quiet connections after 30
	// s and more.
	PingEvery time.Duration
	// Pong is how long a pong may take, 10 s: any network that carries speech is faster. So
	// a lost client is detected in less than 20 s, and its conversation can be resumed.
	Pong time.Duration
	// Close is how long the closing handshake may take, 3 s: a round trip, and less than
	// the time that a box has to stop.
	Close time.Duration
}

func (t Timing) orDefault() Timing {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&t.Write, 10*time.Second)
	set(&t.PingEvery, 9*time.Second)
	set(&t.Pong, 10*time.Second)
	set(&t.Close, 3*time.Second)
	return t
}

// Server accepts the WebSockets of chats.
type Server struct {
	host       line.Host
	origins    []string
	timing     Timing
	maxMessage int64 // largest message from a client, in bytes
	log        *slog.Logger
	open       sync.WaitGroup

	stopping context.Context // ends when open sockets are to be dropped
	stop     context.CancelFunc
}

// NewServer returns a Server for the chats of host. Pages of foreign origins may connect if
// origins lists them ("https://kiosk.example", or "*" for all). Clients other than browsers
// send no origin.
func NewServer(host line.Host, origins []string, t Timing, log *slog.Logger) *Server {
	s := &Server{
		host:       host,
		origins:    origins,
		timing:     t.orDefault(),
		maxMessage: contract.MaxMessageBytes,
		log:        log,
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Wait waits until all sockets are closed, after the sessions were told to stop. When ctx
// ends it drops the open ones, and returns the error of ctx if one is still in use after
// that.
func (s *Server) Wait(ctx context.Context) error {
	const parting = 500 * time.Millisecond // for goroutines of dropped sockets
	closed := make(chan struct{})
	go func() {
		s.open.Wait()
		close(closed)
	}()
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		s.stop()
	}
	select {
	case <-closed:
		return nil
	case <-time.After(parting):
		return fmt.Errorf("waiting for WebSockets: %w", context.Cause(ctx))
	}
}

// ServeChat upgrades the request, starts a chat of the account and returns. The chat goes
// on until its socket or the authorization ends; so the memory of the request and its stack are
// released meanwhile. An error means that there was no upgrade, and the response is still
// to be written.
func (s *Server) ServeChat(w http.ResponseWriter, r *http.Request, account string,
	auth connection.Authorization) error {
	s.open.Add(1)
	defer s.open.Done()
	if err := checkUpgrade(r, s.origins); err != nil {
		return err
	}
	slot, err := s.host.Reserve(account)
	if err != nil {
		return err
	}
	l, err := s.accept(w, r)
	if err != nil {
		slot.Release()
		return err
	}
	session := s.begin(r, l, slot, account)
	if session == nil {
		l.finish()
		return nil
	}
	g := line.AuthorizedSession{
		Session:       session,
		Line:          l,
		Lifecycle:     l.lifecycle,
		Authorization: auth,
	}
	release := g.Watch()
	s.open.Go(func() {
		defer l.finish()
		defer release()
		l.carry(g)
	})
	return nil
}

// begin opens a chat on a line. It returns nil if that fails, after the client was told.
func (s *Server) begin(r *http.Request, l *Line, slot line.Slot, account string) (session line.Session) {
	defer l.lifecycle.Recover("opening a chat", func() {
		slot.Release()
		l.Close(contract.CloseInternal, contract.Internal.Slug())
	})
	settings, err := contract.ParseConnectSettings(r.URL.Query())
	if err == nil {
		client, _, _ := net.SplitHostPort(r.RemoteAddr) // empty if there is none
		session, err = slot.Open(r.Context(), connection.Opening{
			Account:   account,
			RequestID: l.errs.RequestID,
			Client:    client,
			Kind:      Kind,
			Settings:  settings,
			Line:      l,
		})
	}
	if err != nil {
		slot.Release()
		line.Refuse(r.Context(), l, s.log, err)
		return nil
	}
	return session
}
