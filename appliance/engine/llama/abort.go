package llama

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebitengine/purego"

	"parley/appliance/engine"
)

// minAbortGain is how long a step must have to go for it to be given up: it
// takes about as long until who comes instead has begun.
const minAbortGain = 30 * time.Millisecond

// gateCheckInterval is how often a step that runs looks who waits at the gate.
const gateCheckInterval = 5 * time.Millisecond

// abort gives up the step that runs when somebody more urgent comes, to the
// model or to the gate. libllama asks it before every operation of a step,
// hundreds of times, on the thread that decodes.
type abort struct {
	gate *engine.Gate

	mu         sync.Mutex
	need       func() engine.Need // of the step that runs; nil: it is not given up
	ends       time.Time          // when the step should be over
	prefillFor string             // the conversation that it reads ahead for, if for nothing else
	repeatCost time.Duration      // what reading the same once more costs, within another step
	newcomer   *engine.Urgency    // the most urgent that has come to the model meanwhile
	changed    atomic.Bool        // comes has changed
	wanted     atomic.Bool

	checkedAt time.Time // by the thread that decodes
}

// arm lets the step that is about to run be given up for somebody more urgent
// than need, which may change meanwhile: a reply that has its first sentence is
// less urgent than one without. took is how long the step should take; ahead is the
// conversation that it reads ahead for, if it does nothing else, and again what it
// costs that one to have the same read within its next step.
func (a *abort) arm(need func() engine.Need, took time.Duration, ahead string, again time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.need, a.ends, a.newcomer, a.checkedAt, a.prefillFor, a.repeatCost = need, now.Add(took), nil, now, ahead, again
	a.changed.Store(false)
	a.wanted.Store(false)
}

func (a *abort) disarm() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.need = nil
	a.wanted.Store(false)
}

// yieldTo asks for the step that runs to be given up for a request of a
// conversation, if that is more urgent. One that the step reads ahead for goes on
// from where its prompt has been read to; so it waits for the step, but where that
// takes longer than to read the same again. One that began with one core, while
// the user's words were transcribed, took half a second more than that.
func (a *abort) yieldTo(u *engine.Urgency, conversation string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.prefillFor != "" && a.prefillFor == strings.TrimSuffix(conversation, routerSuffix) &&
		time.Until(a.ends) <= a.repeatCost {
		return
	}
	if a.need != nil && u.Get().Compare(a.newcomer.Get()) < 0 {
		a.newcomer = u
		a.changed.Store(true)
	}
}

// shouldAbort answers libllama.
func (a *abort) shouldAbort() bool {
	if a.wanted.Load() {
		return true
	}
	now := time.Now()
	if !a.changed.Swap(false) && now.Sub(a.checkedAt) < gateCheckInterval {
		return false
	}
	a.checkedAt = now
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.need == nil || a.ends.Sub(now) <= minAbortGain {
		return false
	}
	need := a.need()
	if a.newcomer.Get().Compare(need) < 0 || a.gate.Wanted(need) {
		a.wanted.Store(true)
	}
	return a.wanted.Load()
}

// abortCallbacks finds the abort of a context by the number that libllama gives back:
// callbacks into Go are never freed, so there is one for all.
type abortCallbacks struct {
	once     sync.Once
	callback uintptr
	last     atomic.Uint64
	byNumber sync.Map // of *abort, by uint64
}

// watch returns ask, by which libllama asks a during the steps of ctx or does
// not: to ask takes a small model a twentieth of its time. After stop it never
// does.
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
