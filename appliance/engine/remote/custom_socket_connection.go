package remote

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// maxSocketMessage limits one message of a custom language model: eight times the text of a
	// whole answer, for its JSON encoding.
	maxSocketMessage = 8 * maxCustomText
	// drainTimeout is how long to wait for the rest of an abandoned answer. A user who interrupts
	// speaks for longer than that, so a new connection costs no time.
	drainTimeout = time.Second
	// pingEvery keeps a connection alive in routers, which forget one that is silent for a minute.
	// pingTimeout limits the wait for the pong.
	pingEvery   = 20 * time.Second
	pingTimeout = 10 * time.Second
)

// connection is one connection to a custom language model. One goroutine reads from it and another
// one pings.
type connection struct {
	conn   *websocket.Conn
	key    string // the key that it was opened with
	closed chan struct{}
	stop   context.CancelFunc

	mu           sync.Mutex
	answer       *pendingAnswer // receives what arrives; nil: nobody waits
	draining     bool           // the previous answer was abandoned before its end
	endMayFollow bool           // an end that belongs to a previous tool call may still arrive
	drainTimer   *time.Timer    // closes the connection at drainTimeout
	failure      error          // why the connection ended
}

// pendingAnswer is an answer that a caller waits for.
type pendingAnswer struct {
	messages chan socketAnswer
	done     chan struct{} // closed when nobody waits any more
}

// newConnection starts the goroutines of a connection.
func newConnection(conn *websocket.Conn, key string, run func(func())) *connection {
	conn.SetReadLimit(maxSocketMessage)
	ctx, stop := context.WithCancel(context.Background())
	l := &connection{
		conn:   conn,
		key:    key,
		closed: make(chan struct{}),
		stop:   stop,
	}
	run(func() { l.read(ctx) })
	run(func() { l.ping(ctx) })
	return l
}

// read passes on messages until the connection ends.
func (c *connection) read(ctx context.Context) {
	for {
		_, data, err := c.conn.Read(ctx)
		if err != nil {
			c.end(err)
			return
		}
		var message socketAnswer
		if err := json.Unmarshal(data, &message); err != nil {
			message = socketAnswer{Type: typeError}
		}
		if to := c.route(message); to != nil {
			select {
			case to.messages <- message:
			case <-to.done:
			}
		}
	}
}

// route returns the answer to which a message belongs, or nil if it belongs to an abandoned one.
func (c *connection) route(message socketAnswer) *pendingAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended := message.Type == typeEnd
	switch {
	case c.draining:
		if ended {
			c.draining = false
			c.drainTimer.Stop()
		}
		return nil
	case c.endMayFollow && ended:
		c.endMayFollow = false
		return nil
	case message.Type == typeText:
		c.endMayFollow = false
	}
	return c.answer
}

// await registers a new answer for the next messages. It returns false if the connection cannot be
// used, which includes the time until the rest of an abandoned answer has arrived.
func (c *connection) await() (*pendingAnswer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.draining || c.failure != nil {
		return nil, false
	}
	c.answer = &pendingAnswer{messages: make(chan socketAnswer, 16), done: make(chan struct{})}
	return c.answer, true
}

// next waits for the next message of an answer. Messages from before the connection broke are
// returned first.
func (c *connection) next(ctx context.Context, to *pendingAnswer) (socketAnswer, error) {
	select {
	case message := <-to.messages:
		return message, nil
	case <-ctx.Done():
		return socketAnswer{}, context.Cause(ctx)
	case <-c.closed:
	}
	select {
	case message := <-to.messages:
		return message, nil
	default:
		return socketAnswer{}, connectionGone(c.why())
	}
}

// done unregisters the answer: it has ended; or it has called a tool, after which an end may
// follow; or it was abandoned, and its rest is dropped.
func (c *connection) done(ended, called bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.answer.done)
	c.answer = nil
	c.endMayFollow = called
	if c.draining = !ended && !called; c.draining {
		c.drainTimer = time.AfterFunc(drainTimeout, c.close)
	}
}

// ping keeps the connection alive and detects when the other side has vanished.
func (c *connection) ping(ctx context.Context) {
	every := time.NewTicker(pingEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(ctx, pingTimeout)
		err := c.conn.Ping(ctx)
		cancel()
		if err != nil {
			c.close()
			return
		}
	}
}

// end records why the connection ended.
func (c *connection) end(err error) {
	c.mu.Lock()
	c.failure = err
	if c.drainTimer != nil {
		c.drainTimer.Stop()
	}
	c.mu.Unlock()
	close(c.closed)
	c.stop()
	_ = c.conn.CloseNow()
}

// close drops the connection; its goroutines end.
func (c *connection) close() { c.stop() }

// leave closes the connection in order; the other side has a second to confirm.
func (c *connection) leave() {
	defer time.AfterFunc(time.Second, c.close).Stop()
	_ = c.conn.Close(websocket.StatusNormalClosure, "the chat is over")
	c.close()
}

// alive reports whether the connection can be used for an answer.
func (c *connection) alive(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure == nil && !c.draining && c.key == key
}

// why returns the error with which the connection ended.
func (c *connection) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// closedBy reports whether the other side has closed the connection in order, and its close code.
func closedBy(err error) (code websocket.StatusCode, ok bool) {
	if e, closed := errors.AsType[websocket.CloseError](err); closed {
		return e.Code, true
	}
	return 0, false
}
