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
	// draining is how long the rest of an answer that is not wanted any more is
	// waited for. Who interrupts needs longer than that for what he has to say, so
	// a connection made anew costs him nothing.
	draining = time.Second
	// pingEvery keeps a connection through routers, which forget one that is
	// silent for a minute; pingTimeout is how long its answer may take.
	pingEvery   = 20 * time.Second
	pingTimeout = 10 * time.Second
)

// link is one connection to a custom language model. One goroutine reads what
// comes, from its beginning to its end, and another one pings.
type link struct {
	conn *websocket.Conn
	key  string // with which it was made
	gone chan struct{}
	stop context.CancelFunc

	mu      sync.Mutex
	answer  *awaited    // that what comes belongs to; nil: nobody waits
	left    bool        // the answer before is not at its end, and nobody wants it
	mayEnd  bool        // an end may still come that belongs to a call of a tool
	hurry   *time.Timer // for the end of what is left
	failure error       // why it is gone
}

// awaited is an answer that somebody waits for.
type awaited struct {
	said  chan socketAnswer
	given chan struct{} // closed when nobody waits any more
}

// newLink begins to read from a connection.
func newLink(conn *websocket.Conn, key string, run func(func())) *link {
	conn.SetReadLimit(maxSocketMessage)
	ctx, stop := context.WithCancel(context.Background())
	l := &link{
		conn: conn,
		key:  key,
		gone: make(chan struct{}),
		stop: stop,
	}
	run(func() { l.read(ctx) })
	run(func() { l.ping(ctx) })
	return l
}

// read hands on what comes until there is no more.
func (l *link) read(ctx context.Context) {
	for {
		_, data, err := l.conn.Read(ctx)
		if err != nil {
			l.end(err)
			return
		}
		var said socketAnswer
		if err := json.Unmarshal(data, &said); err != nil {
			said = socketAnswer{Type: saysFail}
		}
		if to := l.take(said); to != nil {
			select {
			case to.said <- said:
			case <-to.given:
			}
		}
	}
}

// take says whom what was said is for: nobody where it belongs to an answer that
// is not wanted any more.
func (l *link) take(said socketAnswer) *awaited {
	l.mu.Lock()
	defer l.mu.Unlock()
	ended := said.Type == saysEnd
	switch {
	case l.left:
		if ended {
			l.left = false
			l.hurry.Stop()
		}
		return nil
	case l.mayEnd && ended:
		l.mayEnd = false
		return nil
	case said.Type == saysText:
		l.mayEnd = false
	}
	return l.answer
}

// await has what comes from now on belong to a new answer. It reports whether the
// link can be used: not while the rest of the last answer is still to come.
func (l *link) await() (*awaited, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left || l.failure != nil {
		return nil, false
	}
	l.answer = &awaited{said: make(chan socketAnswer, 16), given: make(chan struct{})}
	return l.answer, true
}

// next waits for the next message of an answer. What came before the connection
// was lost is told before that.
func (l *link) next(ctx context.Context, to *awaited) (socketAnswer, error) {
	select {
	case said := <-to.said:
		return said, nil
	case <-ctx.Done():
		return socketAnswer{}, context.Cause(ctx)
	case <-l.gone:
	}
	select {
	case said := <-to.said:
		return said, nil
	default:
		return socketAnswer{}, goneBecause(l.why())
	}
}

// done says that nobody waits for the answer any more: it is at its end, or at
// the call of a tool, behind which an end may come; or it is not, and the rest
// is dropped.
func (l *link) done(ended, called bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.answer.given)
	l.answer = nil
	l.mayEnd = called
	if l.left = !ended && !called; l.left {
		l.hurry = time.AfterFunc(draining, l.close)
	}
}

// ping keeps the connection, and notices when the other side has vanished.
func (l *link) ping(ctx context.Context) {
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
func (l *link) end(err error) {
	l.mu.Lock()
	l.failure = err
	if l.hurry != nil {
		l.hurry.Stop()
	}
	l.mu.Unlock()
	close(l.gone)
	l.stop()
	_ = l.conn.CloseNow()
}

// close gives the connection up; its goroutines end.
func (l *link) close() { l.stop() }

// leave closes the connection in order; the other side has a second to agree.
func (l *link) leave() {
	defer time.AfterFunc(time.Second, l.close).Stop()
	_ = l.conn.Close(websocket.StatusNormalClosure, "the chat is over")
	l.close()
}

// alive reports whether an answer can be asked for over the link.
func (l *link) alive(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure == nil && !l.left && l.key == key
}

// why is what the link has ended with.
func (l *link) why() error {
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
