package appliance

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat"
)

// A box whose disk is full says so, and that it is ready when there is room.
func TestABoxThatCannotWriteIsReadyWhenItCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var full atomic.Bool
		full.Store(true)
		var log bytes.Buffer
		a := &admission{stop: ctx, log: slog.New(slog.NewTextHandler(&log, nil)), writable: func(context.Context) error {
			if full.Load() {
				return errors.New("the disk is full")
			}
			return nil
		}}
		var told []string
		a.open(&chat.Host{}, func(why string) { told = append(told, why) }, func() { told = append(told, "ready") })
		synctest.Wait()
		time.Sleep(3 * rechecking)
		if got := strings.Join(told, ", "); got != "the disk is full" || strings.Join(a.Missing(ctx), "") != "the disk is full" {
			t.Errorf("told %q, want the trouble, once", got)
		}
		full.Store(false)
		time.Sleep(2 * rechecking)
		if got := strings.Join(told, ", "); got != "the disk is full, ready" || len(a.Missing(ctx)) != 0 {
			t.Errorf("told %q", got)
		}
		// Later a readiness check meets it first.
		full.Store(true)
		a.Missing(ctx)
		a.Missing(ctx)
		synctest.Wait()
		full.Store(false)
		time.Sleep(2 * rechecking)
		if n := strings.Count(log.String(), "not ready"); n != 2 || strings.Count(log.String(), "ready again") != 1 {
			t.Errorf("the log says\n%s", &log)
		}
		cancel()
		a.wait()
	})
}

func TestABoxThatStopsIsNotReady(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := &admission{stop: ctx, log: slog.New(slog.DiscardHandler), writable: func(context.Context) error { return errors.New("full") }}
	a.open(&chat.Host{}, func(string) { cancel() }, func() { t.Error("it is said to be ready") })
	a.wait()
}
