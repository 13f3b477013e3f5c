package engine

import (
	"container/heap"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Gate lends the processor cores to one engine call after another, so that all engines together
// never run more threads than there are cores. Long work passes the gate in pieces.
type Gate struct {
	cores    int
	observer atomic.Pointer[func(Passage)]

	mu         sync.Mutex
	free       int
	urgent     int         // calls with a deadline that hold cores
	batchFrom  time.Time   // when Batch may begin
	batchTimer *time.Timer // admits Batch then; nil before the first
	seq        uint64
	waiting    waiters
	loans      map[*loan]struct{} // work whose cores can be recalled for something more urgent
}

// batchDelay is how long Batch waits after work with a deadline has left the cores. A turn passes the gate in some
// hundred pieces, a moment apart; a piece of Batch in each gap would add up to more than a user should wait.
const batchDelay = 100 * time.Millisecond

// NewGate returns a Gate over the given number of cores, at least one.
func NewGate(cores int) *Gate {
	cores = max(cores, 1)
	return &Gate{cores: cores, free: cores, loans: map[*loan]struct{}{}}
}

// Cores returns how many cores the gate manages.
func (g *Gate) Cores() int { return g.cores }

// Passage describes one call that has passed the gate.
type Passage struct {
	Priority Priority // at the end of the call
	Cores    int
	Waited   time.Duration // time spent waiting for the cores
	Held     time.Duration // time spent holding the cores
}

// Observe registers tell, which is called at the end of each passage. tell must not block, since
// the work that has just ended waits for it.
func (g *Gate) Observe(tell func(Passage)) { g.observer.Store(&tell) }

// Load returns how many cores are in use and how many calls wait for cores, by priority.
func (g *Gate) Load() (busy int, waiting [Live + 1]int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.waiting {
		waiting[w.need.Priority]++
	}
	return g.cores - g.free, waiting
}

// Wanted reports whether a waiting call is more urgent than need. Work that holds cores and can be
// given up uses it.
func (g *Gate) Wanted(need Need) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting) > 0 && g.waiting[0].need.Compare(need) < 0
}

// Enter waits for the given number of cores (at most all of them) and returns the function that
// releases them, to be called once. The most urgent waiter goes first, equals in order of arrival.
// A waiter at the head is not overtaken by waiters that need fewer cores, so it cannot starve.
func (g *Gate) Enter(ctx context.Context, u *Urgency, cores int) (leave func(), err error) {
	_, leave, err = g.EnterSome(ctx, u, cores, cores)
	return leave, err
}

// EnterSome is like Enter for work that can also run on fewer cores: it grants as many cores as are
// free when its turn comes, between least and most.
func (g *Gate) EnterSome(ctx context.Context, u *Urgency, least, most int) (cores int, leave func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return 0, nil, err
	}
	most = min(max(most, 1), g.cores)
	least = min(max(least, 1), most)
	asked := time.Now()
	w := &waiter{
		urgency: u,
		least:   least,
		most:    most,
		ready:   make(chan struct{}),
		index:   -1,
	}
	defer u.Watch(func() { g.reorder(w) })()
	g.mu.Lock()
	w.need, w.seq = u.Get(), g.seq
	g.seq++
	heap.Push(&g.waiting, w)
	g.admit()
	g.recall()
	g.mu.Unlock()

	select {
	case <-w.ready:
		return w.granted, g.leaveFunc(w, asked), nil
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		if w.index < 0 { // admitted at the same moment: release the cores again
			g.release(w)
		} else {
			heap.Remove(&g.waiting, w.index)
		}
		g.admit()
		return 0, nil, context.Cause(ctx)
	}
}

// reorder moves w to the position of its changed urgency.
func (g *Gate) reorder(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.index < 0 {
		return
	}
	w.need = w.urgency.Get()
	heap.Fix(&g.waiting, w.index)
	g.admit()
	g.recall()
}

// Do waits for cores, runs work with them, and releases them. It also releases them if work panics.
func (g *Gate) Do(ctx context.Context, u *Urgency, cores int, work func() error) error {
	leave, err := g.Enter(ctx, u, cores)
	if err != nil {
		return err
	}
	defer leave()
	return work()
}

// errRecalled cancels work whose cores are needed for something more urgent.
var errRecalled = errors.New("the cores are needed for something more urgent")

// loan is work that returns its cores when they are recalled.
type loan struct {
	urgency *Urgency
	firm    bool // not recalled for work of the same priority
	recall  context.CancelCauseFunc
}

// yields reports whether the loan ends for a waiter with this need.
func (l *loan) yields(to Need) bool {
	need := l.urgency.Get()
	return to.Compare(need) < 0 && (!l.firm || to.Priority != need.Priority)
}

// DoRestartable is like Do for long work that cannot be cut into pieces and gives the same result
// when it is repeated. When a more urgent call needs the cores, the context of work is cancelled,
// and work starts again when its turn comes. It completes in the end, because it becomes more
// urgent than everything that is due later.
//
// takes is the expected duration of work. A Request is due that much later: it cannot be finished
// sooner, and another request that takes hardly any time can go first. The time that work of the
// same priority may cost it is bounded by takes plus the attempt that exceeds it. Otherwise an
// earlier request that needs the cores again and again, piece by piece, would restart it in each
// gap and it would never complete. After that it yields only to conversations.
func (g *Gate) DoRestartable(ctx context.Context, u *Urgency, cores int, takes time.Duration,
	work func(context.Context) error) error {
	if need := u.Get(); need.Priority == Request {
		u.Set(Request, need.Due.Add(takes))
	}
	var lost time.Duration
	for {
		var held time.Duration // of the last attempt
		recalled, err := g.doRecallable(ctx, u, cores, lost > takes, func(ctx context.Context) error {
			begun := time.Now()
			defer func() { held = time.Since(begun) }()
			return work(ctx)
		})
		if !recalled {
			return err
		}
		lost += held
	}
}

// DoRestartableOnce is like DoRestartable for work of 50 to 100 ms: it yields once, and the second
// attempt runs to its end. So it makes progress even if more urgent calls arrive again and again.
func (g *Gate) DoRestartableOnce(ctx context.Context, u *Urgency, cores int, work func(context.Context) error) error {
	recalled, err := g.doRecallable(ctx, u, cores, false, work)
	if !recalled {
		return err
	}
	return g.Do(ctx, u, cores, func() error { return work(ctx) })
}

// doRecallable runs work until a more urgent call needs the cores. If firm is set, only calls of
// another priority recall them.
func (g *Gate) doRecallable(ctx context.Context, u *Urgency, cores int, firm bool,
	work func(context.Context) error) (recalled bool, err error) {
	err = g.Do(ctx, u, cores, func() error {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer g.lend(&loan{u, firm, cancel})()
		return work(ctx)
	})
	return errors.Is(err, errRecalled) && ctx.Err() == nil, err
}

// lend registers a loan; back removes it.
func (g *Gate) lend(l *loan) (back func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.loans[l] = struct{}{}
	g.recall()
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.loans, l)
	}
}

// recall ends the loans that are less urgent than a waiting call.
func (g *Gate) recall() {
	for l := range g.loans {
		if slices.ContainsFunc(g.waiting, func(w *waiter) bool { return l.yields(w.need) }) {
			l.recall(errRecalled)
		}
	}
}

// leaveFunc returns the function that releases the cores of a passage.
func (g *Gate) leaveFunc(w *waiter, asked time.Time) func() {
	entered := time.Now()
	return sync.OnceFunc(func() {
		g.mu.Lock()
		g.release(w)
		g.admit()
		g.mu.Unlock()
		if tell := g.observer.Load(); tell != nil {
			(*tell)(Passage{w.urgency.Get().Priority, w.granted, entered.Sub(asked), time.Since(entered)})
		}
	})
}

// admit grants cores to the waiters at the head for which enough are free.
func (g *Gate) admit() {
	for len(g.waiting) > 0 && g.waiting[0].least <= g.free && !g.delays(g.waiting[0]) {
		w := heap.Pop(&g.waiting).(*waiter)
		w.granted = min(w.most, g.free)
		g.free -= w.granted
		if w.urgent = w.need.hasDeadline(); w.urgent {
			g.urgent++
		}
		close(w.ready)
	}
}

// release takes back the cores of an admitted waiter.
func (g *Gate) release(w *waiter) {
	g.free += w.granted
	if w.urgent {
		g.urgent--
		g.batchFrom = time.Now().Add(batchDelay)
	}
}

// delays reports whether a waiter is Batch that may not begin yet, and admits it when it may.
func (g *Gate) delays(w *waiter) bool {
	if w.need.Priority != Batch {
		return false
	}
	if g.urgent > 0 {
		return true // until the last of them leaves
	}
	rest := time.Until(g.batchFrom)
	if rest <= 0 {
		return false
	}
	if g.batchTimer != nil {
		g.batchTimer.Stop()
	}
	g.batchTimer = time.AfterFunc(rest, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.admit()
	})
	return true
}

type waiter struct {
	urgency     *Urgency
	need        Need // urgency's value when it was last read
	seq         uint64
	least, most int  // cores
	granted     int  // cores, once admitted
	urgent      bool // it had a deadline when it was admitted
	ready       chan struct{}
	index       int // in the heap; -1 before and after
}

type waiters []*waiter

func (q waiters) Len() int { return len(q) }
func (q waiters) Less(i, j int) bool {
	if c := q[i].need.Compare(q[j].need); c != 0 {
		return c < 0
	}
	return q[i].seq < q[j].seq
}
func (q waiters) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}
func (q *waiters) Push(x any) {
	w := x.(*waiter)
	w.index = len(*q)
	*q = append(*q, w)
}
func (q *waiters) Pop() any {
	old := *q
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	w.index = -1
	return w
}
