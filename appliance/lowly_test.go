package appliance

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// niceness is that of the thread it is called on (the call's 20 is 0).
func niceness(t *testing.T) int {
	t.Helper()
	n, err := unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid())
	if err != nil {
		t.Error(err)
	}
	return 20 - n
}

func TestPluginsRunBelowEverythingElse(t *testing.T) {
	l := startLowly(slog.New(slog.DiscardHandler))
	before := niceness(t)
	seen := make(chan int, lowlyThreads)
	hold := make(chan struct{})
	var working sync.WaitGroup
	for range lowlyThreads {
		working.Go(func() {
			if err := l.Do(t.Context(), func() { seen <- niceness(t); <-hold }); err != nil {
				t.Error(err)
			}
		})
	}
	for range lowlyThreads {
		if n := <-seen; n < lowlyNice {
			t.Errorf("a plugin runs with %d", n)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := l.Do(ctx, func() { t.Error("one more is run than there are threads") }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more than there are threads: %v", err)
	}
	close(hold)
	working.Wait()
	l.Close()
	if now, err := unix.Getpriority(unix.PRIO_PROCESS, unix.Getpid()); err != nil || 20-now != before {
		t.Errorf("the process has %d, and had %d: %v", 20-now, before, err)
	}
}
