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

// A plugin that computes for long yields the cores when others want them. A low priority
// would make things worse: a thread that is preempted inside compiled code delays the
// garbage collector, and with it the whole box, until it runs again. So a plugin runs at
// normal priority, in slices so short that it is not preempted, and sleeps between them.
const (
	// throttleSlice is the length of a slice: less than the kernel's time slice of about 3
	// ms.
	throttleSlice = time.Millisecond
	// throttleCheck is how often an unthrottled plugin checks whether it was preempted.
	// contentionHold is how long all plugins are throttled after one was.
	throttleCheck  = 2 * time.Millisecond
	contentionHold = 200 * time.Millisecond
	// A call that has used little CPU time sleeps as long as it runs. With each
	// throttleStep of CPU time it sleeps one slice more, up to maxThrottle, where it gets a
	// twentieth of a core, shared with the other sleeping plugins.
	throttleStep = 10 * time.Millisecond
	maxThrottle  = 19
)

// contention records whether more threads want the cores than there are.
type contention struct {
	until    atomic.Int64 // in Unix nanoseconds
	sleeping atomic.Int32 // number of plugins that sleep
}

// throttle is the CPU accounting of one call.
type throttle struct {
	begun  time.Time     // start of the slice
	before usage         // at the start of the slice
	used   time.Duration // CPU time since the first check
	locked bool          // to its OS thread
}

// usage is the CPU time of a thread, and how often it was preempted.
type usage struct {
	cpu         time.Duration
	preemptions int64
}

// threadUsage returns the usage of the calling thread. On errors it is zero, and plugins
// are not throttled.
func threadUsage() usage {
	var t unix.Timespec
	var r unix.Rusage
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &r)
	return usage{time.Duration(t.Nano()), r.Nivcsw}
}

// withTickListener makes the runtime report calls of the function with index tick.
func withTickListener(ctx context.Context, tick uint32) context.Context {
	return experimental.WithFunctionListenerFactory(ctx,
		experimental.FunctionListenerFactoryFunc(func(f api.FunctionDefinition) experimental.FunctionListener {
			if f.Index() == tick {
				return tickListener{}
			}
			return nil
		}))
}

// tickListener listens to the function that the checks of a module call every few times.
type tickListener struct{}

func (tickListener) Before(ctx context.Context, _ api.Module, _ api.FunctionDefinition, _ []uint64,
	_ experimental.StackIterator) {
	if r := callOf(ctx); r != nil {
		r.tick()
	}
}

func (tickListener) After(context.Context, api.Module, api.FunctionDefinition, []uint64) {}
func (tickListener) Abort(context.Context, api.Module, api.FunctionDefinition, error)    {}

// tick yields the core if others want it. Code that does not end calls it a few times per
// millisecond.
func (r *callContext) tick() {
	p, c, now := &r.throttle, &r.instance.module.host.contention, time.Now()
	took := now.Sub(p.begun)
	if took < throttleSlice { // most calls return here
		return
	}
	if !p.locked {
		runtime.LockOSThread() // CPU time is measured by thread
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

// sleepForOthers sleeps as long as is due, or until the call's time is up.
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

// end is called at the end of the call.
func (p *throttle) end() {
	if p.locked {
		runtime.UnlockOSThread()
	}
}
