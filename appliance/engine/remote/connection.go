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
	// maxSocketMessage bounds one message of a custom language model: eight times
	// what a whole answer may have as text, for what JSON makes of it.
	maxSocketMessage = 8 * maxCustomText
	// drainTimeout is how long the rest of an answer that is not wanted any more is
	// waited for. Who interrupts needs longer than that for what he has to say, so
	// a connection made anew costs him nothing.
	drainTimeout = time.Second
	// pingEvery keeps a connection through routers, which forget one that is
	// silent for a minute; pingTimeout is how long its answer may take.
	pingEvery   = 20 * time.Second
	pingTimeout = 10 * time.Second
)

// conn is one connection to a custom language model. One goroutine reads what
// comes, from its beginning to its end, and another one pings.
type connection struct {
	conn   *websocket.Conn
	key    string // with which it was made
	closed chan struct{}
	stop   context.CancelFunc

	mu           sync.Mutex
	answer       *pendingAnswer // that what comes belongs to; nil: nobody waits
	draining     bool           // the answer before is not at its end, and nobody wants it
	endMayFollow bool           // an end may still come that belongs to a call of a tool
	drainTimer   *time.Timer    // for the end of what is left
	failure      error          // why it is gone
}

// pendingAnswer is an answer that somebody waits for.
type pendingAnswer struct {
	messages chan socketAnswer
	done     chan struct{} // closed when nobody waits any more
}

// newConnection begins to read from a connection.
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

// readStream hands on what comes until there is no more.
func (l *connection) read(ctx context.Context) {
	for {
		_, data, err := l.conn.Read(ctx)
		if err != nil {
			l.end(err)
			return
		}
		var said socketAnswer
		if err := json.Unmarshal(data, &said); err != nil {
			said = socketAnswer{Type: typeError}
		}
		if to := l.route(said); to != nil {
			select {
			case to.messages <- said:
			case <-to.done:
			}
		}
	}
}

// takeMessage says whom what was said is for: nobody where it belongs to an answer that
// is not wanted any more.
func (l *connection) route(said socketAnswer) *pendingAnswer {
	l.mu.Lock()
	defer l.mu.Unlock()
	ended := said.Type == typeEnd
	switch {
	case l.draining:
		if ended {
			l.draining = false
			l.drainTimer.Stop()
		}
		return nil
	case l.endMayFollow && ended:
		l.endMayFollow = false
		return nil
	case said.Type == typeText:
		l.endMayFollow = false
	}
	return l.answer
}

// await has what comes from now on belong to a new answer. It reports whether the
// link can be used: not while the rest of the last answer is still to come.
func (l *connection) await() (*pendingAnswer, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.draining || l.failure != nil {
		return nil, false
	}
	l.answer = &pendingAnswer{messages: make(chan socketAnswer, 16), done: make(chan struct{})}
	return l.answer, true
}

// next waits for the next message of an answer. What came before the connection
// was lost is told before that.
func (l *connection) next(ctx context.Context, to *pendingAnswer) (socketAnswer, error) {
	select {
	case said := <-to.messages:
		return said, nil
	case <-ctx.Done():
		return socketAnswer{}, context.Cause(ctx)
	case <-l.closed:
	}
	select {
	case said := <-to.messages:
		return said, nil
	default:
		return socketAnswer{}, connectionGone(l.why())
	}
}

// done says that nobody waits for the answer any more: it is at its end, or at
// the call of a tool, behind which an end may come; or it is not, and the rest
// is dropped.
func (l *connection) done(ended, called bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.answer.done)
	l.answer = nil
	l.endMayFollow = called
	if l.draining = !ended && !called; l.draining {
		l.drainTimer = time.AfterFunc(drainTimeout, l.close)
	}
}

// ping keeps the connection, and notices when the other side has vanished.
func (l *connection) ping(ctx context.Context) {
	every := time.NewTicker(pingEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(ctx, pingTimeout)
		err := l.conn.Ping(ctx)
		cancel()
		if err != nil {
			l.close()
			return
		}
	}
}

// end notes why nothing more comes.
func (l *connection) end(err error) {
	l.mu.Lock()
	l.failure = err
	if l.drainTimer != nil {
		l.drainTimer.Stop()
	}
	l.mu.Unlock()
	close(l.closed)
	l.stop()
	_ = l.conn.CloseNow()
}

// close gives the connection up; its goroutines end.
func (l *connection) close() { l.stop() }

// leave closes the connection in order; the other side has a second to agree.
func (l *connection) leave() {
	defer time.AfterFunc(time.Second, l.close).Stop()
	_ = l.conn.Close(websocket.StatusNormalClosure, "the chat is over")
	l.close()
}

// alive reports whether an answer can be asked for over the link.
func (l *connection) alive(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure == nil && !l.draining && l.key == key
}

// why is what the link has ended with.
func (l *connection) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// closedBy tells whether the other side has closed the connection in order, and
// with which code.
func closedBy(err error) (code websocket.StatusCode, ok bool) {
	if e, closed := errors.AsType[websocket.CloseError](err); closed {
		return e.Code, true
	}
	return 0, false
}
