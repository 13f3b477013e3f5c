package ws

import (
	"errors"
	"fmt"
	"runtime/debug"
)

var errPanicked = errors.New("a goroutine of the line panicked")

// spawn runs work on a goroutine of the line. A panic there ends this line, and
// no other.
func (l *Line) spawn(doing string, work func()) {
	l.workers.Go(func() {
		defer l.survive(doing, func() { l.cutOff(errPanicked) })
		work()
	})
}

// survive is deferred where a panic must not end the program: it notes it in
// the log, with the stack, and then does what has to be done about it.
func (l *Line) survive(doing string, then func()) {
	p := recover()
	if p == nil {
		return
	}
	l.log.Error("a chat's line panicked", "doing", doing, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	then()
}
