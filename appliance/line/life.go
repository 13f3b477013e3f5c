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

// Life is that of one line. It has two ends: the session closes the line, which
// then sends what is queued; and the connection goes, after that or before. Any
// goroutine may use it.
type Life struct {
	log    *slog.Logger
	sever  func()
	unhook func() bool // from the server's end

	once    sync.Once
	closing chan struct{} // closed by Close, after code and reason are set
	code    int
	reason  string

	gone context.Context // ends when the connection is of no use any more
	drop context.CancelCauseFunc

	workers sync.WaitGroup
}

// Begin makes the life of a line, whose connection is severed by a function, nil
// where nothing needs to be done for that. It is cut off when stopping ends.
func Begin(stopping context.Context, log *slog.Logger, sever func()) *Life {
	l := &Life{log: log, sever: sever, closing: make(chan struct{})}
	l.gone, l.drop = context.WithCancelCause(context.Background())
	l.unhook = context.AfterFunc(stopping, func() { l.Drop(ErrClosed) })
	return l
}

// Close notes that the line is to end after what is queued. Only the first call
// counts, which first tells.
func (l *Life) Close(code int, reason string) (first bool) {
	l.once.Do(func() {
		l.code, l.reason = code, reason
		close(l.closing)
		first = true
	})
	return first
}

// Closing is closed by Close.
func (l *Life) Closing() <-chan struct{} { return l.closing }

// Closed is with what the line was closed, once Closing is closed.
func (l *Life) Closed() (code int, reason string) { return l.code, l.reason }

// Gone ends when the connection is of no use any more; its cause says why.
func (l *Life) Gone() context.Context { return l.gone }

// Drop ends the connection at once. The first reason given holds.
func (l *Life) Drop(why error) {
	l.drop(why)
	if l.sever != nil {
		l.sever()
	}
}

// Over returns why nothing can be sent any more, or nil.
func (l *Life) Over() error {
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

// Spawn runs work on a goroutine of the line. A panic there ends this line, and
// no other. It must not be called when End has begun to wait.
func (l *Life) Spawn(doing string, work func()) {
	l.workers.Go(func() {
		defer l.Survive(doing, func() { l.Drop(ErrPanicked) })
		work()
	})
}

// Survive is deferred where a panic must not end the program: it notes it in the
// log, with the stack, and then does what has to be done about it.
func (l *Life) Survive(doing string, then func()) {
	p := recover()
	if p == nil {
		return
	}
	l.log.Error("a chat's line panicked", "doing", doing, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	then()
}

// End returns when nobody works for the line any more, after the connection has
// gone.
func (l *Life) End() {
	l.workers.Wait()
	l.unhook()
}
