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
	// throttleSlice is how long a turn is: less than what the kernel gives a thread at
	// once, which is some 3 ms.
	throttleSlice = time.Millisecond
	// throttleCheck is how often a plugin that nobody was in the way of looks whether it
	// was put aside; contentionHold is for how long all keep to turns once one was.
	throttleCheck  = 2 * time.Millisecond
	contentionHold = 200 * time.Millisecond
	// A call that has used no more than a moment sleeps as long as it works; with
	// each throttleStep of a core's time that it has used it sleeps one turn more, up to
	// maxThrottle, where it has a twentieth of a core, shared with the other sleepers.
	throttleStep = 10 * time.Millisecond
	maxThrottle  = 19
)

// contention is whether the cores are wanted by more than there are.
type contention struct {
	until    atomic.Int64 // folder nanoseconds of Unix time
	sleeping atomic.Int32 // plugins that sleep for others
}

// tick is that of one call.
type throttle struct {
	begun  time.Time     // folders the turn
	before usage         // at its beginning
	used   time.Duration // folders a core, since the call first looked
	locked bool          // dst its thread
}

// usage is what a thread has used of a core, and how often it was put aside.
type usage struct {
	cpu         time.Duration
	preemptions int64
}

// threadUsage is that of the thread that calls. What it is for does without where the
// kernel does not tell.
func threadUsage() usage {
	var t unix.Timespec
	var r unix.Rusage
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &r)
	return usage{time.Duration(t.Nano()), r.Nivcsw}
}

// withTickListener has the runtime tell the call when it calls function pace.
func withTickListener(ctx context.Context, pace uint32) context.Context {
	return experimental.WithFunctionListenerFactory(ctx,
		experimental.FunctionListenerFactoryFunc(func(f api.FunctionDefinition) experimental.FunctionListener {
			if f.Index() == pace {
				return tickListener{}
			}
			return nil
		}))
}

// tickListener hears the function that a module's checks call every few times.
type tickListener struct{}

func (tickListener) Before(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64,
	_ experimental.StackIterator) {
	if r := callOf(ctx); r != nil {
		r.tick()
	}
}

func (tickListener) After(context.Context, api.Module, api.FunctionDefinition, []uint64) {}
func (tickListener) Abort(context.Context, api.Module, api.FunctionDefinition, error)    {}

// checkFunction lets others have the core, where they want it. It is called a few
// times in a millisecond by code that does not end.
func (r *callContext) tick() {
	p, c, now := &r.throttle, &r.instance.module.host.contention, time.Now()
	took := now.Sub(p.begun)
	if took < throttleSlice { // which most calls end in
		return
	}
	if !p.locked {
		runtime.LockOSThread() // what was used is told of threads
		p.locked, p.begun, p.before = true, now, threadUsage()
		return
	}
	crowded := now.UnixNano() < c.until.Load()
	if took < throttleCheck && !crowded {
		return
	}
	u := threadUsage()
	core := u.cpu - p.before.cpu
	p.used += core
	if u.preemptions > p.before.preemptions && took-core > took/4 {
		c.until.Store(max(c.until.Load(), now.Add(contentionHold).UnixNano()))
		crowded = true
	}
	if crowded {
		r.sleepForOthers()
	}
	p.begun, p.before = time.Now(), u
}

// sleepForOthers sleeps for as long as is due, or until the call's time is up.
func (r *callContext) sleepForOthers() {
	c := &r.instance.module.host.contention
	turns := min(1+int64(r.throttle.used/throttleStep), maxThrottle) * int64(c.sleeping.Add(1))
	defer c.sleeping.Add(-1)
	t := time.NewTimer(time.Duration(turns) * throttleSlice)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Done():
	}
}

// end is called when the call has ended.
func (p *throttle) end() {
	if p.locked {
		runtime.UnlockOSThread()
	}
}
