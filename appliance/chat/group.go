package chat

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// A group is goroutines that work for a chat. One that panics ends its chat
// and no other. Nothing else in this package, or in those below it, starts a
// goroutine.
type group struct {
	running sync.WaitGroup
	log     *slog.Logger
	crashed func() // called after a panic, by the goroutine that had it; nil: nobody
}

// Go runs f on a goroutine of its own.
func (g *group) Go(f func()) {
	g.running.Go(func() {
		if catchPanic(g.log, f) != nil && g.crashed != nil {
			g.crashed()
		}
	})
}

// Wait returns when none of the goroutines runs any more.
func (g *group) Wait() { g.running.Wait() }

// errPanicked is all that is said of a panic; the log has it with its stack.
var errPanicked = errors.New("a part of the chat panicked; the box's log says where")

// catchPanic calls f. A panic in it goes to the log, and becomes errPanicked.
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
