package chat

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// A group is a set of goroutines that work for a chat. A panic in one ends its chat and no other. No other
// code in this package or below starts goroutines.
type group struct {
	running sync.WaitGroup
	log     *slog.Logger
	crashed func() // called after a panic, on the goroutine that panicked; may be nil
}

// Go runs f on a new goroutine.
func (g *group) Go(f func()) {
	g.running.Go(func() {
		if catchPanic(g.log, f) != nil && g.crashed != nil {
			g.crashed()
		}
	})
}

// Wait returns when none of the goroutines runs any more.
func (g *group) Wait() { g.running.Wait() }

// errPanicked is the error after a panic. The log has the panic with its stack.
var errPanicked = errors.New("a part of the chat panicked; the box's log says where")

// catchPanic calls f. It logs a panic in f and returns errPanicked for it.
func catchPanic(log *slog.Logger, f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			log.Error("a part of a chat panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = errPanicked
		}
	}()
	f()
	return nil
}
