package engine

import (
	"cmp"
	"sync"
	"time"
)

// Priority is the kind of work that waits for the cores.
type Priority int

// The priorities. Work with a deadline (Request and above) is ordered by the moment at which it is
// due; requests yield to conversations unless they are very late (requestDelay). Prefetch and Batch
// come after all of it, except for the piece that is already running.
const (
	Batch       Priority = iota // analysis jobs: run when nothing else has needed the cores for batchDelay
	Prefetch                    // work done before it is asked for
	Request                     // text-to-speech and other requests: after conversations
	Speculative                 // a turn that is prepared before the user has finished
	Live                        // a turn that a user waits for
)

// String returns the name of the priority in metrics.
func (p Priority) String() string {
	switch p {
	case Batch:
		return "batch"
	case Prefetch:
		return "ahead"
	case Request:
		return "request"
	case Speculative:
		return "speculative"
	}
	return "live"
}

// defaultDelay is how long after the call work is due if the caller gives no moment. A live turn is
// due at once. A request is due when a person who pressed a button begins to wonder, so it yields
// to a turn and to a guess that nearly is one. A guess is due after the silence that most configs
// ask for.
func (p Priority) defaultDelay() time.Duration {
	switch p {
	case Request:
		return 500 * time.Millisecond
	case Speculative:
		return 800 * time.Millisecond
	}
	return 0
}

// requestDelay is how long after its due moment a request still yields to conversations. A speech
// request stays late where the voice is slower than its playback, and one call of such a voice
// holds the cores for seconds, so lateness alone must not put it before an answer. Ten seconds are
// one turn of a conversation, from its first guess to the first clauses of the answer; after those
// the listener has enough sound and the cores are free. They are also a sixth of the minute after
// which proxies close a response that sends nothing.
const requestDelay = 10 * time.Second

// Urgency says how soon work is needed. It may change while the work waits for the cores or between
// two pieces of it: a guess that becomes a turn is promoted in the queue. It is safe for concurrent
// use. A nil Urgency is Batch.
type Urgency struct {
	mu       sync.Mutex
	need     Need
	watchers map[*func()]struct{}
}

// Need is the value of an Urgency at one moment.
type Need struct {
	Priority Priority
	Due      time.Time // when a user begins to miss the result; ignored for Prefetch and Batch
}

// NewUrgency returns the urgency of work that is due at a moment. The zero time selects the default
// of the priority, which is now for Live.
func NewUrgency(p Priority, due time.Time) *Urgency { return &Urgency{need: needOf(p, due)} }

// Urgency returns a new Urgency of this priority with the default due moment.
func (p Priority) Urgency() *Urgency { return NewUrgency(p, time.Time{}) }

func needOf(p Priority, due time.Time) Need {
	if due.IsZero() {
		due = time.Now().Add(p.defaultDelay())
	}
	return Need{p, due}
}

// Get returns the current need.
func (u *Urgency) Get() Need {
	if u == nil {
		return Need{}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.need
}

// Set changes the need, and with it the position of waiting work.
func (u *Urgency) Set(p Priority, due time.Time) {
	u.mu.Lock()
	u.need = needOf(p, due)
	notify := make([]func(), 0, len(u.watchers))
	for f := range u.watchers {
		notify = append(notify, *f)
	}
	u.mu.Unlock()
	for _, f := range notify {
		f()
	}
}

// Watch calls changed after each change until stop is called. A call that is already under way may
// still happen after stop. changed must not block.
func (u *Urgency) Watch(changed func()) (stop func()) {
	if u == nil {
		return func() {}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.watchers == nil {
		u.watchers = map[*func()]struct{}{}
	}
	u.watchers[&changed] = struct{}{}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.watchers, &changed)
	}
}

// NotBefore returns n, due at the given moment at the earliest.
func (n Need) NotBefore(at time.Time) Need {
	if n.Due.Before(at) {
		n.Due = at
	}
	return n
}

// hasDeadline reports whether a user misses the work when it is late.
func (n Need) hasDeadline() bool { return n.Priority > Prefetch }

// Compare is negative if n is more urgent than m and positive if it is less urgent.
func (n Need) Compare(m Need) int {
	if !n.hasDeadline() || !m.hasDeadline() {
		return cmp.Compare(m.Priority, n.Priority)
	}
	return cmp.Or(n.orderTime().Compare(m.orderTime()), cmp.Compare(m.Priority, n.Priority))
}

// orderTime is the moment by which needs with a deadline are ordered.
func (n Need) orderTime() time.Time {
	if n.Priority == Request {
		return n.Due.Add(requestDelay)
	}
	return n.Due
}
