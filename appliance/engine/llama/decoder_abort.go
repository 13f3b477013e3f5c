package llama

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebitengine/purego"

	"parley/appliance/engine"
)

// minAbortGain is how much time a step must have left to be worth aborting: about the time that the
// more urgent work takes to start.
const minAbortGain = 30 * time.Millisecond

// gateCheckInterval is how often a running step checks for waiting work at the gate.
const gateCheckInterval = 5 * time.Millisecond

// abort aborts the running step when more urgent work arrives at the model or at the gate. libllama
// calls it before every operation of a step, hundreds of times, on the thread that decodes.
type abort struct {
	gate *engine.Gate

	mu          sync.Mutex
	need        func() engine.Need // of the running step; nil: it cannot be aborted
	expectedEnd time.Time          // when the step should be finished
	prefillFor  string             // the conversation for which the step prefills, if it does nothing else
	repeatCost  time.Duration      // the cost of computing the same tokens within another step
	newcomer    *engine.Urgency    // the most urgent request that has arrived meanwhile
	changed     atomic.Bool        // newcomer has changed
	requested   atomic.Bool

	checkedAt time.Time // only used by the thread that decodes
}

// arm allows the next step to be aborted for work more urgent than need. need may change meanwhile:
// a reply that has its first sentence is less urgent than one without. took is the expected
// duration of the step. prefillFor is the conversation for which the step prefills, if it does
// nothing else, and repeatCost is the cost of computing the same tokens within that conversation's
// next step.
func (a *abort) arm(need func() engine.Need, took time.Duration, prefillFor string, repeatCost time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.need, a.expectedEnd, a.newcomer, a.checkedAt, a.prefillFor, a.repeatCost = need, now.Add(took), nil, now,
		prefillFor,
		repeatCost
	a.changed.Store(false)
	a.requested.Store(false)
}

func (a *abort) disarm() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.need = nil
	a.requested.Store(false)
}

// yieldTo aborts the running step for a request of a conversation, if the request is more urgent.
// If the step prefills for the same conversation, the request continues from the computed tokens,
// so it waits for the step, unless that takes longer than computing the same tokens again: a step
// that began on one core, while the user's words were transcribed, took half a second more than
// that.
func (a *abort) yieldTo(u *engine.Urgency, conversation string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.prefillFor != "" && a.prefillFor == strings.TrimSuffix(conversation, routerSuffix) &&
		time.Until(a.expectedEnd) <= a.repeatCost {
		return
	}
	if a.need != nil && u.Get().Compare(a.newcomer.Get()) < 0 {
		a.newcomer = u
		a.changed.Store(true)
	}
}

// shouldAbort answers libllama.
func (a *abort) shouldAbort() bool {
	if a.requested.Load() {
		return true
	}
	now := time.Now()
	if !a.changed.Swap(false) && now.Sub(a.checkedAt) < gateCheckInterval {
		return false
	}
	a.checkedAt = now
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.need == nil || a.expectedEnd.Sub(now) <= minAbortGain {
		return false
	}
	need := a.need()
	if a.newcomer.Get().Compare(need) < 0 || a.gate.Wanted(need) {
		a.requested.Store(true)
	}
	return a.requested.Load()
}

// abortCallbacks finds the abort of a context by the number that libllama passes back. Callbacks
// into Go are never freed, so one serves all contexts.
type abortCallbacks struct {
	once     sync.Once
	callback uintptr
	last     atomic.Uint64
	byNumber sync.Map // *abort by uint64
}

// watch returns a function that turns the abort callback of ctx on or off for its steps; the calls
// cost a small model a twentieth of its time. stop turns it off for good.
func (l *library) watch(ctx handle, a *abort) (ask func(bool), stop func()) {
	l.aborts.once.Do(func() {
		l.aborts.callback = purego.NewCallback(func(number uintptr) uintptr {
			if a, ok := l.aborts.byNumber.Load(uint64(number)); ok && a.(*abort).shouldAbort() {
				return 1
			}
			return 0
		})
	})
	number := l.aborts.last.Add(1)
	l.aborts.byNumber.Store(number, a)
	ask = func(yes bool) {
		if yes {
			l.setAbortCallback(ctx, l.aborts.callback, uintptr(number))
		} else {
			l.setAbortCallback(ctx, 0, 0)
		}
	}
	return ask, func() {
		ask(false)
		l.aborts.byNumber.Delete(number)
	}
}
