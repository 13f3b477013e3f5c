package chat

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"parley/store"
)

// However long the disk is full, the end of a chat is written when there is space. A permanent error is not
// retried, and a box that stops does not wait.
func TestTheEndOfAChatIsWrittenWhenTheDiskHasSpace(t *testing.T) {
	full := func(n, of int) error {
		if n < of {
			return fmt.Errorf("ending: %w", store.ErrFull)
		}
		return nil
	}
	for name, x := range map[string]struct {
		answer func(n int) error
		after  time.Duration
		want   int
	}{
		"at once":       {func(int) error { return nil }, time.Minute, 1},
		"in the end":    {func(n int) error { return full(n, 20) }, time.Hour, 20},
		"never":         {func(n int) error { return full(n, 1000) }, time.Minute, 12},
		"of what is no": {func(int) error { return fmt.Errorf("ending: %w", store.ErrNotFound) }, time.Hour, 1},
		"in vain":       {func(int) error { return fmt.Errorf("ending: %w", store.ErrConflict) }, time.Hour, 1},
		"later in vain": {func(n int) error {
			if n < 3 {
				return store.ErrBusy
			}
			return store.ErrConflict
		}, time.Hour, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := Host{sessions: group{log: slog.New(slog.DiscardHandler)}}
			h.ctx, h.stop = context.WithCancel(t.Context())
			asked := 0
			h.retry(slog.New(slog.DiscardHandler), "end it", func(context.Context) error {
				asked++
				return x.answer(asked)
			})
			time.Sleep(x.after - time.Millisecond)
			synctest.Wait()
			if asked != x.want {
				t.Errorf("%s: asked %d times, want %d", name, asked, x.want)
			}
			h.stop()
			h.sessions.Wait()
		})
	}
}
