package engine

import (
	"cmp"
	"sync"
	"time"
)

// Priority says what kind of work waits for the cores.
type Priority int

// The priorities. Work that somebody will miss goes by the moment at which it
// is due, and that of requests behind conversations unless it is very late
// (requestDelay); before it comes neither reading ahead nor a batch job, beyond the
// piece of it that is running.
const (
	Batch       Priority = iota // analysis jobs: when nobody else wants the cores
	Prefetch                    // what may be of use later: reading ahead
	Request                     // text-to-speech and other requests: behind what conversations miss
	Speculative                 // a turn prepared before the user has finished
	Live                        // a turn that someone waits for
)

// String is the name of the priority in figures.
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

// defaultDelay is how long after the call a piece of work is due where nobody said
// when: a turn that someone waits for at once; a request when a person who has
// pressed a button begins to wonder, so that it gives way to a turn and to a
// guess that is nearly one; a guess after the silence that most configs ask for.
func (p Priority) defaultDelay() time.Duration {
	switch p {
	case Request:
		return 500 * time.Millisecond
	case Speculative:
		return 800 * time.Millisecond
	}
	return 0
}

// requestDelay is how long after its moment a request still lets conversations go
// first. A request for speech is late for good where the voice is slower than its
// sound, and one call of such a voice holds the cores for seconds; so lateness alone
// must not put it before an answer. Ten seconds are a turn of a conversation, from
// its first guess to the answer's first clauses: behind those the listener is
// supplied, and the cores are free. And they are a sixth of the minute after which
// proxies give up on an answer of which nothing comes.
const requestDelay = 10 * time.Second

// Urgency says how soon a piece of work is needed. It may be changed while the
// work waits for the cores, or between two pieces of it: a guess that becomes a
// turn is promoted where it stands. It may be used from many goroutines; nil is
// Batch.
type Urgency struct {
	mu       sync.Mutex
	need     Need
	watchers map[*func()]struct{}
}

// Need is what an Urgency says at one moment.
type Need struct {
	Priority Priority
	Due      time.Time // when somebody begins to miss it; of Ahead and Batch it says nothing
}

// NewUrgency is that of work which is due at a moment; the zero time is the
// moment that the priority suggests: for Live now.
func NewUrgency(p Priority, due time.Time) *Urgency { return &Urgency{need: needOf(p, due)} }

// Urgency is that of work of which nobody says when it is due.
func (p Priority) Urgency() *Urgency { return NewUrgency(p, time.Time{}) }

func needOf(p Priority, due time.Time) Need {
	if due.IsZero() {
		due = time.Now().Add(p.defaultDelay())
	}
	return Need{p, due}
}

// Get is what it says now.
func (u *Urgency) Get() Need {
	if u == nil {
		return Need{}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.need
}

// Set changes it, and with it the place of the work that waits.
func (u *Urgency) Set(p Priority, due time.Time) {
	u.mu.Lock()
	u.need = needOf(p, due)
	told := make([]func(), 0, len(u.watchers))
	for f := range u.watchers {
		told = append(told, *f)
	}
	u.mu.Unlock()
	for _, f := range told {
		f()
	}
}

// Watch has changed called after each change until stop is called; one that is
// under way then may still come. changed must not block.
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

// NotBefore is n, due at a moment at the earliest.
func (n Need) NotBefore(at time.Time) Need {
	if n.Due.Before(at) {
		n.Due = at
	}
	return n
}

// hasDeadline reports whether somebody misses the work when it comes late.
func (n Need) hasDeadline() bool { return n.Priority > Prefetch }

// Compare is negative where n is more urgent than m, positive where it is less.
func (n Need) Compare(m Need) int {
	if !n.hasDeadline() || !m.hasDeadline() {
		return cmp.Compare(m.Priority, n.Priority)
	}
	return cmp.Or(n.orderTime().Compare(m.orderTime()), cmp.Compare(m.Priority, n.Priority))
}

// orderTime is the moment by which needs that somebody misses are ordered.
func (n Need) orderTime() time.Time {
	if n.Priority == Request {
		return n.Due.Add(requestDelay)
	}
	return n.Due
}
