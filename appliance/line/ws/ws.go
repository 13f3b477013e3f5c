// Package ws carries live chats over WebSocket: text frames are the messages
// of the contract, binary frames raw audio. It knows the socket and its
// limits; what is said over it is the session's.
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

// Kind is what a conversation over a WebSocket is called.
const Kind = "websocket"

// Timing holds the patience of a line. The zero value of each means its
// default.
type Timing struct {
	// Write is how long a client may take nothing of what is being written to it.
	// The default of 10 s is longer than what a network stalls for and comes back.
	Write time.Duration
	// PingEvery is how often a client is asked for a sign of life, 9 s: below
	// the 30 s and more after which proxies cut quiet connections.
	PingEvery time.Duration
	// Pong is how long it may take to give it, 10 s, which any network that
	// carries speech does it in. So a client that is gone is found in less than 20 s,
	// and what it was talking about can be gone on with.
	Pong time.Duration
	// Close is how long the closing handshake may take, 3 s: a round trip, and
	// within the time that a box takes to stop.
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
	host    line.Host
	origins []string
	timing  Timing
	largest int64 // message that a client may send, in bytes
	log     *slog.Logger
	open    sync.WaitGroup

	stopping context.Context // ends when what is open is to be cut off
	stop     context.CancelFunc
}

// NewServer returns a Server for the chats of host. Pages of other origins than
// the box's own may connect when origins lists them ("https://kiosk.example",
// or "*" for all); clients that are no browsers send no origin.
func NewServer(host line.Host, origins []string, t Timing, log *slog.Logger) *Server {
	s := &Server{
		host:    host,
		origins: origins,
		timing:  t.orDefault(),
		largest: contract.MaxMessageBytes,
		log:     log,
	}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Wait returns when every socket is closed. It is for the box's end, after the
// sessions were told to stop. Sockets that are open when ctx ends are cut off;
// ctx's error is returned if one is still in use then.
func (s *Server) Wait(ctx context.Context) error {
	const parting = 500 * time.Millisecond // for goroutines whose socket is gone
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

// ServeChat begins one conversation of account, with its upgrade, and returns when
// it goes on by itself: until the socket is over, or the client's pass holds no
// more, which then is no longer watched. So what the request needed, and the stack
// on which it was understood, is given back while the conversation lasts. An error
// means that there was no upgrade and the response is still to be written.
func (s *Server) ServeChat(w http.ResponseWriter, r *http.Request, account string,
	pass connection.Authorization) error {
	s.open.Add(1)
	defer s.open.Done()
	if err := checkUpgrade(r, s.origins); err != nil {
		return err
	}
	seat, err := s.host.Reserve(account)
	if err != nil {
		return err
	}
	l, err := s.accept(w, r)
	if err != nil {
		seat.Release()
		return err
	}
	session := s.begin(r, l, seat, account)
	if session == nil {
		l.finish()
		return nil
	}
	g := line.AuthorizedSession{
		Session:       session,
		Line:          l,
		Lifecycle:     l.lifecycle,
		Authorization: pass,
	}
	release := g.Watch()
	s.open.Go(func() {
		defer l.finish()
		defer release()
		l.carry(g)
	})
	return nil
}

// begin opens a conversation on a line; nil means that there is none, of which the
// client has been told.
func (s *Server) begin(r *http.Request, l *Line, seat line.Slot, account string) (session line.Session) {
	defer l.lifecycle.Recover("opening a chat", func() {
		seat.Release()
		l.Close(contract.CloseInternal, contract.Internal.Slug())
	})
	settings, err := contract.ParseConnectSettings(r.URL.Query())
	if err == nil {
		client, _, _ := net.SplitHostPort(r.RemoteAddr) // empty where it is none
		session, err = seat.Open(r.Context(), connection.Opening{
			Account:   account,
			RequestID: l.errs.RequestID,
			Client:    client,
			Kind:      Kind,
			Settings:  settings,
			Line:      l,
		})
	}
	if err != nil {
		seat.Release()
		line.Refuse(r.Context(), l, s.log, err)
		return nil
	}
	return session
}
