// Package ws carries live chats over WebSocket: text frames are the messages
// of the contract, binary frames raw audio. It knows the socket and its
// limits; what is said over it is the session's.
package ws

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"parley/appliance/contract"
)

// A Host has room for conversations.
type Host interface {
	// Reserve takes room for one conversation of an account before the socket
	// is accepted, so that a full box (contract.ErrFull), or an account that
	// has all it may (contract.ErrTooMany), can still be told over HTTP.
	Reserve(account string) (Seat, error)
}

// A Seat is reserved room.
type Seat interface {
	// Open begins the conversation. The session may send on o.Line at once. A
	// contract.Fault is told to the client. The session releases the seat.
	Open(ctx context.Context, o Opening) (Session, error)
	// Release gives the seat back where there is no session. It may be called
	// once more than is needed.
	Release()
}

// Opening is what the line knows of a conversation before it begins.
type Opening struct {
	Account   string
	RequestID string // of the handshake
	Client    string // its network address
	Settings  contract.ConnectSettings
	Line      *Line
}

// A Session is one live conversation, as the line uses it. After an error of
// any of these it is over.
type Session interface {
	Receive(m contract.ClientMessage) error
	// Hear takes sound, mono at engine.SpeechRateHz, and owns it.
	Hear(pcm []float32) error
	// Audio is the format of headerless audio that is in force; nil is a
	// container.
	Audio() *contract.AudioConfiguration
	// Fault takes a message that could not be read, so that its error comes in
	// order with the rest.
	Fault(code contract.Code, detail string) error
	// HangUp says that the client is gone.
	HangUp()
	// Done is closed when the session is over, after it has closed the line.
	Done() <-chan struct{}
}

// A Pass is what lets a client be here, for as long as it holds.
type Pass interface {
	// Holds asks whether it does: contract.ErrUnauthorized says no, another error
	// that it is not known. It is asked at each message of the client but audio.
	Holds(ctx context.Context) error
	// Watch returns a context that ends when it holds no more. release, called
	// once, gives the watch back.
	Watch() (lost context.Context, release func())
}

// Timing holds the patience of a line. The zero value of each means its
// default.
type Timing struct {
	// Write is how long one message may take to be handed to the network, and
	// how long a message may wait for room in the queue. The default of 10 s
	// is enough for a clip on any link that carries speech in real time: 10 s
	// of it is what the largest clip holds.
	Write time.Duration
	// PingEvery is how often a client is asked for a sign of life, 10 s: below
	// the 30 s and more after which proxies cut quiet connections.
	PingEvery time.Duration
	// Pong is how long it may take to give it, 10 s, which any network that
	// carries speech does it in. So a client that is gone is found within 20 s,
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
	set(&t.PingEvery, 10*time.Second)
	set(&t.Pong, 10*time.Second)
	set(&t.Close, 3*time.Second)
	return t
}

// Server accepts the WebSockets of chats.
type Server struct {
	host    Host
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
func NewServer(host Host, origins []string, t Timing, log *slog.Logger) *Server {
	s := &Server{host: host, origins: origins, timing: t.orDefault(), largest: contract.MaxMessageBytes, log: log}
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
func (s *Server) ServeChat(w http.ResponseWriter, r *http.Request, account string, pass Pass) error {
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
	g := guarded{session, l, pass}
	release := g.watch()
	s.open.Go(func() {
		defer l.finish()
		defer release()
		l.carry(g)
	})
	return nil
}

// begin opens a conversation on a line; nil means that there is none, of which the
// client has been told.
func (s *Server) begin(r *http.Request, l *Line, seat Seat, account string) (session Session) {
	defer l.survive("opening a chat", func() {
		seat.Release()
		l.Close(contract.CloseInternal, contract.Internal.Slug())
	})
	settings, err := contract.ParseConnectSettings(r.URL.Query())
	if err == nil {
		client, _, _ := net.SplitHostPort(r.RemoteAddr) // empty where it is none
		session, err = seat.Open(r.Context(), Opening{Account: account, RequestID: l.requestID, Client: client, Settings: settings, Line: l})
	}
	if err != nil {
		seat.Release()
		s.refuse(r.Context(), l, err)
		return nil
	}
	return session
}

// refuse tells the client why there is no conversation, and closes. A fault of
// ours is told without its details, which are in the log.
func (s *Server) refuse(ctx context.Context, l *Line, err error) {
	f, told := errors.AsType[contract.Fault](err)
	full, isFull := errors.AsType[contract.ErrFull](err)
	code := contract.ClosePolicy
	switch {
	case told && f.Code.Fatal():
		code = f.Code.CloseCode()
	case isFull:
		l.Close(closeTryLater, full.Error())
		return
	case !told:
		s.log.ErrorContext(ctx, "cannot open a chat", "err", err)
		f, code = contract.Fault{Code: contract.Internal}, contract.CloseInternal
	}
	if err := l.Send(ctx, f.Code.Error(f.Detail)); err == nil {
		l.Close(code, f.Code.Slug())
	}
}

// closeTryLater is the close code for "not now" (IANA registry: Try Again Later).
const closeTryLater = 1013
