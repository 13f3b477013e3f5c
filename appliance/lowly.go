package appliance

import (
	"context"
	"log/slog"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// lowlyThreads is how many plugins may be at work at once; one that waits for
	// a server counts. There are as many callers at most on a small box.
	lowlyThreads = 8
	// lowlyNice is how far below the rest of the box they stand (nice values):
	// at 10 the kernel gives a thread a tenth of what one of the engines' gets
	// beside it on a core, and still lets it run every few dozen milliseconds. At
	// 19 it may stand still for longer than that, and the garbage collector, which
	// has to wait for every thread that runs Go, with it.
	lowlyNice = 10
)

// lowly are threads on which plugins run. A plugin may use all of a core for as
// long as it is allowed, and must not take that from the voice of somebody
// else's answer.
type lowly struct {
	work chan func()
	all  sync.WaitGroup
}

func startLowly(log *slog.Logger) *lowly {
	l := &lowly{work: make(chan func())}
	for range lowlyThreads {
		l.all.Go(func() { l.run(log) })
	}
	return l
}

// run works until the end. The thread ends with it: nobody else is to get one
// whose priority is low, and it cannot be raised again.
func (l *lowly) run(log *slog.Logger) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() { // its priority is what others see of the whole box
		l.elsewhere(log)
		return
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), lowlyNice); err != nil {
		log.Warn("plugins run with the priority of conversations", "err", err)
	}
	for f := range l.work {
		f()
	}
}

// elsewhere works on another thread, while this one is kept from being that.
func (l *lowly) elsewhere(log *slog.Logger) {
	defer runtime.UnlockOSThread()
	over := make(chan struct{})
	go func() {
		defer close(over)
		l.run(log)
	}()
	<-over
}

// Do runs f on one of the threads and returns when it has ended; where none is
// free before ctx ends, f is not run.
func (l *lowly) Do(ctx context.Context, f func()) error {
	over := make(chan struct{})
	select {
	case l.work <- func() { defer close(over); f() }:
		<-over
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends the threads. Nothing may be done any more.
func (l *lowly) Close() {
	close(l.work)
	l.all.Wait()
}
