package ws

import (
	"bytes"
	"context"
	"net"
	"net/http"

	"github.com/coder/websocket"

	"parley/appliance/contract"
	"parley/appliance/line"
)

// A TextSocket is a WebSocket on which text frames of a foreign protocol go both ways.
type TextSocket struct {
	line *Line
	// RequestID is the id of the request that opened the socket.
	RequestID string
	// Client is the network address of the client without its port.
	Client string
}

// ServeText upgrades the request, and calls carry with the socket. When carry returns, the
// socket is closed with code 1000, unless carry has closed it. A message of the client may
// have maxMessage bytes. An error means that there was no upgrade, and the response is still
// to be written.
func (s *Server) ServeText(w http.ResponseWriter, r *http.Request, maxMessage int64,
	carry func(*TextSocket)) error {
	s.open.Add(1)
	defer s.open.Done()
	if err := checkUpgrade(r, s.origins); err != nil {
		return err
	}
	l, err := s.accept(w, r)
	if err != nil {
		return err
	}
	l.maxMessage = maxMessage
	defer l.finish()
	defer l.Close(contract.CloseNormal, "")
	defer l.lifecycle.Recover("carrying a socket", func() { l.Close(contract.CloseInternal, contract.Internal.Slug()) })
	client, _, _ := net.SplitHostPort(r.RemoteAddr)
	carry(&TextSocket{line: l, RequestID: l.errs.RequestID, Client: client})
	return nil
}

// Receive calls take with one message after the other, until the client leaves or take
// returns an error. A message is valid during the call. A message above the limit closes the
// socket with code 1009.
func (t *TextSocket) Receive(take func(message []byte) error) {
	t.line.endedBy(t.line.messages(func(_ websocket.MessageType, frame *bytes.Buffer) error {
		return sessionError(take(frame.Bytes()))
	}))
}

// Send queues a message, and returns at once. A client that lets the queue fill is dropped.
// Any goroutine may call it.
func (t *TextSocket) Send(message []byte) error {
	if err := t.line.lifecycle.Err(); err != nil {
		return err
	}
	if !t.line.capacity.TryAcquire(weight(message)) {
		t.line.lifecycle.Drop(line.ErrTooSlow)
		return line.ErrTooSlow
	}
	t.line.queue.Put(queued{data: message})
	t.line.wake()
	return nil
}

// Go runs work on a goroutine of the socket. ServeText waits for its end. A panic there drops
// the socket.
func (t *TextSocket) Go(doing string, work func()) { t.line.lifecycle.Go(doing, work) }

// Close closes the socket after what is queued. It returns at once; only the first call
// counts.
func (t *TextSocket) Close(code int, reason string) { t.line.Close(code, reason) }

// Gone returns a context that ends when the connection is unusable. Its cause is the reason.
func (t *TextSocket) Gone() context.Context { return t.line.lifecycle.Gone() }
