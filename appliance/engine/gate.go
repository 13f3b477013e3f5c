package engine

import (
	"container/heap"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Priority orders the work that waits for the cores: higher goes first.
type Priority int

// The priorities, lowest first. A live turn never waits for a batch job,
// beyond the piece of it that is running.
const (
	Batch       Priority = iota // analysis jobs
	Request                     // text-to-speech and other requests
	Speculative                 // a turn prepared before the user has finished
	Live                        // a turn that someone waits for
)

// Gate gives the cores of the machine to one engine call after another, so
// that the engines together never run more threads than there are cores. Work
// that takes long passes the gate in pieces.
type Gate struct {
	cores int
	told  atomic.Pointer[func(Passage)]

	mu      sync.Mutex
	free    int
	seq     uint64
	waiting waiters
}

// String is the name of the priority in figures.
func (p Priority) String() string {
	switch p {
	case Batch:
		return "batch"
	case Request:
		return "request"
	case Speculative:
		return "speculative"
	}
	return "live"
}

// NewGate returns a Gate over so many cores, at least one.
func NewGate(cores int) *Gate {
	cores = max(cores, 1)
	return &Gate{cores: cores, free: cores}
}

// Cores is how many cores the gate gives out.
func (g *Gate) Cores() int { return g.cores }

// Passage is one call that has passed the gate.
type Passage struct {
	Priority Priority
	Cores    int
	Waited   time.Duration // for the cores
	Held     time.Duration // with the cores
}

// Observe has tell called for each passage when it is over. tell must not
// block: the work that has just ended waits for it.
func (g *Gate) Observe(tell func(Passage)) { g.told.Store(&tell) }

// Load is how many cores are given out now, and how many calls wait for some,
// by their priority.
func (g *Gate) Load() (busy int, waiting [Live + 1]int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.waiting {
		waiting[w.priority]++
	}
	return g.cores - g.free, waiting
}

// Enter waits for so many cores (at most all of them) and returns the function
// that gives them back, to be called once. Higher priorities go first, equal
// ones in order of arrival; a large request at the head is not overtaken by
// smaller ones behind it, so it cannot starve.
func (g *Gate) Enter(ctx context.Context, p Priority, cores int) (leave func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	cores = min(max(cores, 1), g.cores)
	asked := time.Now()
	g.mu.Lock()
	if len(g.waiting) == 0 && g.free >= cores {
		g.free -= cores
		g.mu.Unlock()
		return g.leaver(p, cores, asked), nil
	}
	w := &waiter{priority: p, seq: g.seq, cores: cores, ready: make(chan struct{})}
	g.seq++
	heap.Push(&g.waiting, w)
	g.admit()
	g.mu.Unlock()

	select {
	case <-w.ready:
		return g.leaver(p, cores, asked), nil
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		if w.index < 0 { // admitted in the same moment: hand the cores on
			g.free += cores
		} else {
			heap.Remove(&g.waiting, w.index)
		}
		g.admit()
		return nil, context.Cause(ctx)
	}
}

// Do waits for so many cores, runs work with them, and gives them back, however
// work ends: a panic costs nobody else a core.
func (g *Gate) Do(ctx context.Context, p Priority, cores int, work func() error) error {
	leave, err := g.Enter(ctx, p, cores)
	if err != nil {
		return err
	}
	defer leave()
	return work()
}

func (g *Gate) leaver(p Priority, cores int, asked time.Time) func() {
	entered := time.Now()
	return sync.OnceFunc(func() {
		g.mu.Lock()
		g.free += cores
		g.admit()
		g.mu.Unlock()
		if tell := g.told.Load(); tell != nil {
			(*tell)(Passage{p, cores, entered.Sub(asked), time.Since(entered)})
		}
	})
}

// admit lets in the waiters at the head for whom there is room.
func (g *Gate) admit() {
	for len(g.waiting) > 0 && g.waiting[0].cores <= g.free {
		w := heap.Pop(&g.waiting).(*waiter)
		g.free -= w.cores
		close(w.ready)
	}
}

type waiter struct {
	priority Priority
	seq      uint64
	cores    int
	ready    chan struct{}
	index    int // in the heap; -1 once admitted
}

type waiters []*waiter

func (q waiters) Len() int { return len(q) }
func (q waiters) Less(i, j int) bool {
	if q[i].priority != q[j].priority {
		return q[i].priority > q[j].priority
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
