package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/engine"
)

// handshakeTimeout limits connecting, with TCP, TLS and the upgrade. It ends before FirstPiece, so
// that the error names the cause.
const handshakeTimeout = 8 * time.Second

// redialDelay is how long after a failed connection no new one is prefetched.
const redialDelay = 5 * time.Second

// Socket is a custom language model that uses a WebSocket: one connection for its one conversation,
// replaced when it breaks and when an abandoned answer does not end.
type Socket struct {
	client  *http.Client
	address string
	server  string // scheme and host, for messages
	limits  Limits

	answering chan struct{} // holds one element while an answer is requested
	dialing   chan struct{} // holds one element while a connection is made
	running   sync.WaitGroup

	mu     sync.Mutex
	conn   *connection // nil: none yet
	failed time.Time   // when a connection last failed
	closed bool
}

// openSocket prepares the use of the model at a URL.
func openSocket(u *url.URL, o CustomOptions) *Socket {
	overHTTP := *u
	overHTTP.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	transport := customTransport(overHTTP.Scheme == "https", o.Allowed)
	transport.ForceAttemptHTTP2 = false
	return &Socket{
		client:    customClient(transport, &overHTTP),
		address:   u.String(),
		server:    u.Scheme + "://" + u.Host,
		limits:    o.Limits.orDefault(),
		answering: make(chan struct{}, 1),
		dialing:   make(chan struct{}, 1),
	}
}

// Generate sends the conversation and streams the answer. If an existing connection breaks before
// anything was answered, it is replaced once.
func (s *Socket) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	start := time.Now()
	if err := unsupported(p); err != nil {
		return engine.Usage{}, err
	}
	select {
	case s.answering <- struct{}{}:
		defer func() { <-s.answering }()
	case <-ctx.Done():
		return engine.Usage{}, context.Cause(ctx)
	}
	for try := 0; ; try++ {
		usage, reused, err := s.once(ctx, start, p, emit)
		fault, ok := errors.AsType[*Error](err)
		if !ok || fault.Kind != Disconnected || fault.Answered || !reused || try > 0 {
			return usage, err
		}
	}
}

// once requests an answer; reused says that it used an existing connection.
func (s *Socket) once(ctx context.Context, start time.Time, p engine.Prompt,
	emit func(engine.Part) error) (_ engine.Usage, reused bool, _ error) {
	watched, watch := newTimeouts(ctx, s.limits, start)
	defer watch.stop()
	a := &answer{
		start:    start,
		timeouts: watch,
		emit:     emit,
		usage:    &engine.Usage{},
		custom:   true,
		session:  p.Session,
	}
	l, reused, err := s.ready(watched, p.Key)
	if err != nil {
		return *a.usage, reused, s.fault(watched, ctx, err, false)
	}
	err = s.ask(watched, l, p, a)
	switch {
	case a.emitError != nil: // the error of emit
		return *a.usage, reused, a.emitError
	case err != nil:
		return *a.usage, reused, s.fault(watched, ctx, err, a.begun)
	}
	return *a.usage, reused, nil
}

// ask sends the request over a connection and reads the answer to its end.
func (s *Socket) ask(ctx context.Context, l *connection, p engine.Prompt, a *answer) error {
	body, err := socketBody(p)
	if err != nil {
		return err
	}
	to, ok := l.await()
	if !ok {
		return errGone
	}
	defer func() { l.done(a.finished, a.call != nil) }()
	if err := l.conn.Write(ctx, websocket.MessageText, body); err != nil {
		l.close()
		return connectionGone(err)
	}
	before := ""
	for !a.finished && a.call == nil {
		message, err := l.next(ctx, to)
		if err != nil {
			return err
		}
		if err := takeMessage(a, message, &before); err != nil {
			l.close()
			return err
		}
	}
	return a.deliverCall()
}

// takeMessage emits the content of a message.
func takeMessage(a *answer, message socketAnswer, before *string) error {
	if message.hasContent() {
		a.timeouts.next() // other messages only show that the server is alive
	}
	a.events++
	if err := a.setSession(message.CustomSessionID); err != nil {
		return err
	}
	switch message.Type {
	case typeText:
		if a.textBytes += len(message.Text); a.textBytes > maxCustomText {
			return errTooMuchText
		}
		piece := missingSpace(*before, message.Text) + message.Text
		if message.Text != "" {
			*before = message.Text
		}
		return a.deliver(piece)
	case typeEnd:
		a.finished = true
	case typeCall:
		call, err := message.call()
		a.call = call
		return err
	case typeError:
		return errNoMessage
	}
	return nil
}

// ready returns a usable connection; reused says that it existed before.
func (s *Socket) ready(ctx context.Context, key string) (_ *connection, reused bool, _ error) {
	select {
	case s.dialing <- struct{}{}:
		defer func() { <-s.dialing }()
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	s.mu.Lock()
	l := s.conn
	s.mu.Unlock()
	if l != nil && l.alive(key) {
		return l, true, nil
	}
	if l != nil {
		l.close()
	}
	l, err := s.dial(ctx, key)
	if err != nil {
		s.mu.Lock()
		s.failed = time.Now()
		s.mu.Unlock()
		return nil, false, err
	}
	return l, false, nil
}

func (s *Socket) dial(ctx context.Context, key string) (*connection, error) {
	header := http.Header{"User-Agent": {"parley"}}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, handshakeTimeout, errHandshake)
	defer cancel()
	conn, response, err := websocket.Dial(ctx, s.address,
		&websocket.DialOptions{HTTPClient: s.client, HTTPHeader: header})
	if err != nil {
		if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
			return nil, &statusError{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After")}
		}
		return nil, errors.Join(err, context.Cause(ctx))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = conn.CloseNow()
		return nil, errGone
	}
	s.conn = newConnection(conn, key, s.running.Go)
	return s.conn, nil
}

// Prefill opens the connection before the first answer, or again after it broke; each answer sends
// the conversation itself. Errors are reported with the next answer.
func (s *Socket) Prefill(ctx context.Context, p engine.Prompt) error {
	s.mu.Lock()
	idle := s.closed || time.Since(s.failed) < redialDelay
	s.mu.Unlock()
	if !idle {
		_, _, _ = s.ready(ctx, p.Key)
	}
	return nil
}

// Choose is not supported by the protocol.
func (s *Socket) Choose(context.Context, engine.Prompt, []string) ([]float64, error) {
	return nil, fmt.Errorf("custom language model: it returns no probabilities: %w", engine.ErrUnsupported)
}

// Forget closes the connection, since the conversation is over. It does not wait for the other
// side.
func (s *Socket) Forget(string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && s.conn != nil {
		s.running.Go(s.conn.leave)
	}
	s.closed = true
}

// Close closes the connection and waits for its goroutines.
func (s *Socket) Close() error {
	s.Forget("")
	s.running.Wait()
	s.client.CloseIdleConnections()
	return nil
}

// The ways in which a connection fails.
var (
	errGone      = errors.New("the connection is gone")
	errHandshake = errors.New("the handshake took too long")
	errNoMessage = errors.New("it sent an error, or what is none of the protocol's messages")
)

// connectionGone wraps the reason why no more of an answer arrives.
func connectionGone(err error) error { return fmt.Errorf("%w: %w", errGone, err) }

// fault classifies the outcome of a request, like Model.fault.
func (s *Socket) fault(watched, ctx context.Context, err error, answered bool) error {
	m := server{name: s.server, what: languageModel, limits: s.limits, custom: true}
	status, refused := errors.AsType[*statusError](err)
	code, closed := closedBy(err)
	e := &Error{
		Kind:     Disconnected,
		Server:   s.server,
		Answered: answered,
		Err:      err,
		Custom:   true,
		Why:      clip(err.Error()),
	}
	switch {
	case context.Cause(watched) != nil:
		return m.fault(watched, ctx, err, answered)
	case refused:
		m.status(e, status)
		if e.Kind == Refused || e.Kind == BadAnswer {
			e.Kind = Disconnected // there is no connection
		}
	case closed && code == websocket.StatusMessageTooBig:
		e.Kind, e.public = BadAnswer, "A message of it is too long."
	case closed:
		e.public = fmt.Sprintf("It closed the connection with code %d, before assistant_end.", code)
	case strings.Contains(err.Error(), "read limited at"):
		e.Kind, e.public = BadAnswer, fmt.Sprintf("A message of it has more than %d bytes.", maxSocketMessage)
	case errors.Is(err, errHandshake):
		e.public = "The handshake took too long."
	case errors.Is(err, errGone):
		e.public = "The connection broke."
	case errors.Is(err, errNoMessage):
		e.Kind, e.public = BadAnswer, sentence(errNoMessage.Error())
	default:
		return m.fault(watched, ctx, err, answered)
	}
	return e
}
