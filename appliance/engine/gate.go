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

// Gate gives the cores of the machine to one engine call after another, so
// that the engines together never run more threads than there are cores. Work
// that takes long passes the gate in pieces.
type Gate struct {
	cores    int
	observer atomic.Pointer[func(Passage)]

	mu      sync.Mutex
	free    int
	seq     uint64
	waiting waiters
	loans   map[*loan]struct{} // cores that are given back where somebody needs them sooner
}

// NewGate returns a Gate over so many cores, at least one.
func NewGate(cores int) *Gate {
	cores = max(cores, 1)
	return &Gate{cores: cores, free: cores, loans: map[*loan]struct{}{}}
}

// Cores is how many cores the gate gives out.
func (g *Gate) Cores() int { return g.cores }

// Passage is one call that has passed the gate.
type Passage struct {
	Priority Priority // when it ended
	Cores    int
	Waited   time.Duration // for the cores
	Held     time.Duration // with the cores
}

// Observe has tell called for each passage when it is over. tell must not
// block: the work that has just ended waits for it.
func (g *Gate) Observe(tell func(Passage)) { g.observer.Store(&tell) }

// Load is how many cores are given out now, and how many calls wait for some,
// by their priority.
func (g *Gate) Load() (busy int, waiting [Live + 1]int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.waiting {
		waiting[w.need.Priority]++
	}
	return g.cores - g.free, waiting
}

// Wanted reports whether somebody waits who is more urgent than need: for who
// holds cores and can give up what it does.
func (g *Gate) Wanted(need Need) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting) > 0 && g.waiting[0].need.Compare(need) < 0
}

// Enter waits for so many cores (at most all of them) and returns the function
// that gives them back, to be called once. The most urgent goes first, equals in
// order of arrival; who stands first is not overtaken by those who want fewer
// cores, so it cannot starve.
func (g *Gate) Enter(ctx context.Context, u *Urgency, cores int) (leave func(), err error) {
	_, leave, err = g.EnterSome(ctx, u, cores, cores)
	return leave, err
}

// EnterSome is Enter for who can use one free core while another is busy: it
// gives as many as there are when its turn comes, between least and most.
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
		return w.given, g.leaveFunc(u, w.given, asked), nil
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		if w.index < 0 { // admitted in the same moment: hand the cores on
			g.free += w.given
		} else {
			heap.Remove(&g.waiting, w.index)
		}
		g.admit()
		return 0, nil, context.Cause(ctx)
	}
}

// reorder puts w where its urgency, which has changed, belongs.
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

// Do waits for so many cores, runs work with them, and gives them back, however
// work ends: a panic costs nobody else a core.
func (g *Gate) Do(ctx context.Context, u *Urgency, cores int, work func() error) error {
	leave, err := g.Enter(ctx, u, cores)
	if err != nil {
		return err
	}
	defer leave()
	return work()
}

// errRecalled ends work that somebody more urgent needs the cores of.
var errRecalled = errors.New("the cores are needed for something more urgent")

// loan is work that gives its cores back when they are recalled.
type loan struct {
	urgency *Urgency
	firm    bool // others of its priority wait for it
	recall  context.CancelCauseFunc
}

// yields reports whether the loan ends for who waits.
func (l *loan) yields(to Need) bool {
	need := l.urgency.Get()
	return to.Compare(need) < 0 && (!l.firm || to.Priority != need.Priority)
}

// DoRestartable is Do for work that takes long, cannot be cut into pieces and is the same
// when it is done again: where somebody more urgent comes for the cores, the work's
// context ends, and when that has its turn again it begins anew. It comes through in
// the end, since it becomes more urgent than whatever is due later.
//
// takes is how long the work probably takes. A request that takes so long is due so
// much later: it cannot be there sooner anyway, and another one that takes hardly any
// time need not wait for it, but goes in between. What others of its priority make
// it lose is bounded by as much, and the try that goes over it: one that was there
// before and comes for the cores again and again, piece by piece, would have it begin
// in each gap and come to nothing. After that it gives way to conversations alone.
func (g *Gate) DoRestartable(ctx context.Context, u *Urgency, cores int, takes time.Duration,
	work func(context.Context) error) error {
	if need := u.Get(); need.Priority == Request {
		u.Set(Request, need.Due.Add(takes))
	}
	var lost time.Duration
	for {
		var held time.Duration // by the last try
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

// DoRestartableOnce is DoRestartable for work that takes a twentieth of a second or two: it gives
// way once, and the second time it is done to its end. So it comes on also where
// somebody more urgent wants the cores again and again.
func (g *Gate) DoRestartableOnce(ctx context.Context, u *Urgency, cores int, work func(context.Context) error) error {
	recalled, err := g.doRecallable(ctx, u, cores, false, work)
	if !recalled {
		return err
	}
	return g.Do(ctx, u, cores, func() error { return work(ctx) })
}

// doRecallable does work until somebody more urgent comes for the cores: somebody of
// another priority, where it is firm.
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

// recall ends the loans of those who are less urgent than somebody who waits.
func (g *Gate) recall() {
	for l := range g.loans {
		if slices.ContainsFunc(g.waiting, func(w *waiter) bool { return l.yields(w.need) }) {
			l.recall(errRecalled)
		}
	}
}

func (g *Gate) leaveFunc(u *Urgency, cores int, asked time.Time) func() {
	entered := time.Now()
	return sync.OnceFunc(func() {
		g.mu.Lock()
		g.free += cores
		g.admit()
		g.mu.Unlock()
		if tell := g.observer.Load(); tell != nil {
			(*tell)(Passage{u.Get().Priority, cores, entered.Sub(asked), time.Since(entered)})
		}
	})
}

// admit lets in the waiters at the head for whom there is room.
func (g *Gate) admit() {
	for len(g.waiting) > 0 && g.waiting[0].least <= g.free {
		w := heap.Pop(&g.waiting).(*waiter)
		w.given = min(w.most, g.free)
		g.free -= w.given
		close(w.ready)
	}
}

type waiter struct {
	urgency     *Urgency
	need        Need // what urgency said when it was last looked at
	seq         uint64
	least, most int // cores
	given       int // once admitted
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
