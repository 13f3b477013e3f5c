package sandbox

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// What a plugin that reckons for long leaves to others where they want the cores.
// A low priority would do the opposite of good: a thread that is put aside in the
// middle of compiled code keeps the garbage collector waiting until it is let on,
// and all of the box with it. So a plugin works at the priority of all, in turns
// so short that it is not put aside, and sleeps between them.
const (
	// paceTurn is how long a turn is: less than what the kernel gives a thread at
	// once, which is some 3 ms.
	paceTurn = time.Millisecond
	// paceLook is how often a plugin that nobody was in the way of looks whether it
	// was put aside; paceKept is for how long all keep to turns once one was.
	paceLook = 2 * time.Millisecond
	paceKept = 200 * time.Millisecond
	// A call that has used no more than a moment sleeps as long as it works; with
	// each paceStep of a core's time that it has used it sleeps one turn more, up to
	// paceMost, where it has a twentieth of a core, shared with the other sleepers.
	paceStep = 10 * time.Millisecond
	paceMost = 19
)

// crowd is whether the cores are wanted by more than there are.
type crowd struct {
	until   atomic.Int64 // in nanoseconds of Unix time
	waiting atomic.Int32 // plugins that sleep for others
}

// pace is that of one call.
type pace struct {
	begun  time.Time     // of the turn
	before usage         // at its beginning
	used   time.Duration // of a core, since the call first looked
	locked bool          // to its thread
}

// usage is what a thread has used of a core, and how often it was put aside.
type usage struct {
	core  time.Duration
	aside int64
}

// ofThread is that of the thread that calls. What it is for does without where the
// kernel does not tell.
func ofThread() usage {
	var t unix.Timespec
	var r unix.Rusage
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &r)
	return usage{time.Duration(t.Nano()), r.Nivcsw}
}

// paced has the runtime tell the call when it calls function pace.
func paced(ctx context.Context, pace uint32) context.Context {
	return experimental.WithFunctionListenerFactory(ctx,
		experimental.FunctionListenerFactoryFunc(func(f api.FunctionDefinition) experimental.FunctionListener {
			if f.Index() == pace {
				return ticks{}
			}
			return nil
		}))
}

// ticks hears the function that a module's checks call every few times.
type ticks struct{}

func (ticks) Before(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64,
	_ experimental.StackIterator) {
	if r := of(ctx); r != nil {
		r.tick()
	}
}

func (ticks) After(context.Context, api.Module, api.FunctionDefinition, []uint64) {}
func (ticks) Abort(context.Context, api.Module, api.FunctionDefinition, error)    {}

// tick lets others have the core, where they want it. It is called a few
// times in a millisecond by code that does not end.
func (r *running) tick() {
	p, c, now := &r.pace, &r.in.module.host.crowd, time.Now()
	took := now.Sub(p.begun)
	if took < paceTurn { // which most calls end in
		return
	}
	if !p.locked {
		runtime.LockOSThread() // what was used is told of threads
		p.locked, p.begun, p.before = true, now, ofThread()
		return
	}
	crowded := now.UnixNano() < c.until.Load()
	if took < paceLook && !crowded {
		return
	}
	u := ofThread()
	core := u.core - p.before.core
	p.used += core
	if u.aside > p.before.aside && took-core > took/4 {
		c.until.Store(max(c.until.Load(), now.Add(paceKept).UnixNano()))
		crowded = true
	}
	if crowded {
		r.giveWay()
	}
	p.begun, p.before = time.Now(), u
}

// giveWay sleeps for as long as is due, or until the call's time is up.
func (r *running) giveWay() {
	c := &r.in.module.host.crowd
	turns := min(1+int64(r.pace.used/paceStep), paceMost) * int64(c.waiting.Add(1))
	defer c.waiting.Add(-1)
	t := time.NewTimer(time.Duration(turns) * paceTurn)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Done():
	}
}

// end is called when the call has ended.
func (p *pace) end() {
	if p.locked {
		runtime.UnlockOSThread()
	}
}
