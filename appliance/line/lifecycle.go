package line

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// Why a line is over.
var (
	ErrClosed   = errors.New("the line is closed")
	ErrTooSlow  = errors.New("the client does not take what is sent")
	ErrLeft     = errors.New("the client has left")
	ErrPanicked = errors.New("a goroutine of the line panicked")
)

// Lifecycle is that of one line. It has two ends: the session closes the line, which
// then sends what is queued; and the connection goes, after that or before. Any
// goroutine may use it.
type Lifecycle struct {
	log        *slog.Logger
	disconnect func()
	unwatch    func() bool // from the server's end

	once    sync.Once
	closing chan struct{} // closed by Close, after code and reason are set
	code    int
	reason  string

	gone   context.Context // ends when the connection is of no use any more
	cancel context.CancelCauseFunc

	workers sync.WaitGroup
}

// NewLifecycle makes the life of a line, whose connection is severed by a function, nil
// where nothing needs to be done for that. It is cut off when stopping ends.
func NewLifecycle(stopping context.Context, log *slog.Logger, sever func()) *Lifecycle {
	l := &Lifecycle{log: log, disconnect: sever, closing: make(chan struct{})}
	l.gone, l.cancel = context.WithCancelCause(context.Background())
	l.unwatch = context.AfterFunc(stopping, func() { l.Drop(ErrClosed) })
	return l
}

// Close notes that the line is to end after what is queued. Only the first call
// counts, which first tells.
func (l *Lifecycle) Close(code int, reason string) (first bool) {
	l.once.Do(func() {
		l.code, l.reason = code, reason
		close(l.closing)
		first = true
	})
	return first
}

// Closing is closed by Close.
func (l *Lifecycle) Closing() <-chan struct{} { return l.closing }

// Closed is with what the line was closed, once Closing is closed.
func (l *Lifecycle) Closed() (code int, reason string) { return l.code, l.reason }

// Gone ends when the connection is of no use any more; its cause says why.
func (l *Lifecycle) Gone() context.Context { return l.gone }

// Drop ends the connection at once. The first reason given holds.
func (l *Lifecycle) Drop(why error) {
	l.cancel(why)
	if l.disconnect != nil {
		l.disconnect()
	}
}

// Err returns why nothing can be sent any more, or nil.
func (l *Lifecycle) Err() error {
	if l.gone.Err() != nil {
		return context.Cause(l.gone)
	}
	select {
	case <-l.closing:
		return ErrClosed
	default:
		return nil
	}
}

// Go runs work on a goroutine of the line. A panic there ends this line, and
// no other. It must not be called when End has begun to wait.
func (l *Lifecycle) Go(doing string, work func()) {
	l.workers.Go(func() {
		defer l.Recover(doing, func() { l.Drop(ErrPanicked) })
		work()
	})
}

// Recover is deferred where a panic must not end the program: it notes it in the
// log, with the stack, and then does what has to be done about it.
func (l *Lifecycle) Recover(doing string, then func()) {
	p := recover()
	if p == nil {
		return
	}
	l.log.Error("a chat's line panicked", "doing", doing, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	then()
}

// Wait returns when nobody works for the line any more, after the connection has
// gone.
func (l *Lifecycle) Wait() {
	l.workers.Wait()
	l.unwatch()
}
