package line

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// The reasons for which a line ends.
var (
	ErrClosed   = errors.New("the line is closed")
	ErrTooSlow  = errors.New("the client does not take what is sent")
	ErrLeft     = errors.New("the client has left")
	ErrPanicked = errors.New("a goroutine of the line panicked")
)

// Lifecycle is the lifecycle of one line. It ends in two steps, in either order: the
// session closes the line, which then sends what is queued, and the connection goes away.
// Any goroutine may use it.
type Lifecycle struct {
	log        *slog.Logger
	disconnect func()
	unwatch    func() bool // stops watching the server's end

	once    sync.Once
	closing chan struct{} // closed by Close, after code and reason are set
	code    int
	reason  string

	gone   context.Context // ends when the connection is unusable
	cancel context.CancelCauseFunc

	workers sync.WaitGroup
}

// NewLifecycle returns the lifecycle of a line. disconnect closes the connection; it may be
// nil. When stopping ends, the connection is dropped.
func NewLifecycle(stopping context.Context, log *slog.Logger, disconnect func()) *Lifecycle {
	l := &Lifecycle{log: log, disconnect: disconnect, closing: make(chan struct{})}
	l.gone, l.cancel = context.WithCancelCause(context.Background())
	l.unwatch = context.AfterFunc(stopping, func() { l.Drop(ErrClosed) })
	return l
}

// Close closes the line after what is queued. Only the first call counts; first reports
// whether this is it.
func (l *Lifecycle) Close(code int, reason string) (first bool) {
	l.once.Do(func() {
		l.code, l.reason = code, reason
		close(l.closing)
		first = true
	})
	return first
}

// Closing returns a channel that Close closes.
func (l *Lifecycle) Closing() <-chan struct{} { return l.closing }

// Closed returns the arguments of Close, once Closing is closed.
func (l *Lifecycle) Closed() (code int, reason string) { return l.code, l.reason }

// Gone returns a context that ends when the connection is unusable. Its cause is the
// reason.
func (l *Lifecycle) Gone() context.Context { return l.gone }

// Drop ends the connection at once. The first reason counts.
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

// Go runs work on a goroutine of the line. A panic there ends this line only. Go must not
// be called after Wait.
func (l *Lifecycle) Go(doing string, work func()) {
	l.workers.Go(func() {
		defer l.Recover(doing, func() { l.Drop(ErrPanicked) })
		work()
	})
}

// Recover is deferred where a panic must not end the program. It logs the panic with its
// stack, and then calls then.
func (l *Lifecycle) Recover(doing string, then func()) {
	p := recover()
	if p == nil {
		return
	}
	l.log.Error("panic in the line of a chat", "doing", doing, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	then()
}

// Wait returns when all goroutines of the line have ended, after the connection is gone.
func (l *Lifecycle) Wait() {
	l.workers.Wait()
	l.unwatch()
}
