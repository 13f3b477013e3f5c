package remote

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The causes with which timeouts cancel a request.
var (
	errFirstPiece = errors.New("no answer began")
	errIdle       = errors.New("neither more of the answer nor its end came")
	errReply      = errors.New("the answer did not end")
	errCheck      = errors.New("no list of models came")
)

// slow is the cause of a limit that is shorter than that of Limits.
type slow struct {
	cause error
	after time.Duration
}

func (s slow) Error() string {
	return fmt.Sprintf("%v within %v", s.cause, max(s.after, 0).Round(time.Millisecond))
}

// timeouts cancels a request whose server exceeds its limits.
type timeouts struct {
	cancel context.CancelCauseFunc
	whole  *time.Timer
	timer  *time.Timer // for the first piece, later for the next one
	idle   time.Duration
}

// newTimeouts returns a context that ends with ctx or when a limit, counted from start, is
// exceeded.
func newTimeouts(ctx context.Context, l Limits, start time.Time) (context.Context, *timeouts) {
	ctx, cancel := context.WithCancelCause(ctx)
	after := func(d time.Duration, cause error) *time.Timer {
		return time.AfterFunc(d-time.Since(start), func() { cancel(cause) })
	}
	return ctx, &timeouts{
		cancel: cancel,
		whole:  after(l.Reply, errReply),
		timer:  after(l.FirstPiece, errFirstPiece),
		idle:   l.Idle,
	}
}

// next records a piece and starts the wait for the next one.
func (t *timeouts) next() {
	t.timer.Stop()
	t.timer = time.AfterFunc(t.idle, func() { t.cancel(errIdle) })
}

// nextWithin is next with a limit of its own.
func (t *timeouts) nextWithin(d time.Duration) {
	t.timer.Stop()
	t.timer = time.AfterFunc(d, func() { t.cancel(slow{errIdle, d}) })
}

// pause stops the wait for the next piece.
func (t *timeouts) pause() { t.timer.Stop() }

// stop cancels the request, if it still runs, and the timers.
func (t *timeouts) stop() {
	t.whole.Stop()
	t.timer.Stop()
	t.cancel(nil)
}
