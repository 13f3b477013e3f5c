package api

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"parley/store"
)

// A flood must not fill the audit log, and a client that creates a config for each chat
// must not push out the rest of it. Each caller has a budget of rows: actBurst at once,
// and one each actRefill. All refused requests together have refusedBurst and
// refusedRefill. Acts beyond that are counted, and each countFor there is a row for each
// kind of them, at most maxCounted. A flood of refusals for two years then takes less
// than half of the log.
const (
	actBurst      = 200 // a day of busy work on the console
	actRefill     = 8 * time.Minute
	refusedBurst  = 20
	refusedRefill = time.Hour
	maxActors     = 1000 // remembered budgets; the ones unused for longest start full again
	maxCounted    = 5
	countFor      = 3 * time.Hour
)

// actLimiter decides which acts have a row of their own, and counts the others.
type actLimiter struct {
	refused *rate.Limiter
	budgets *lru.Cache[string, *rate.Limiter]
	record  func(store.Act)
	now     func() time.Time

	mu      sync.Mutex
	counted map[string]store.Act // by what, actor and outcome
	timer   *time.Timer          // runs while counted is not empty
}

func newActLimiter(record func(store.Act), now func() time.Time) *actLimiter {
	budgets, _ := lru.New[string, *rate.Limiter](maxActors) // fails for a size below 1 only
	return &actLimiter{
		refused: rate.NewLimiter(rate.Every(refusedRefill), refusedBurst),
		budgets: budgets,
		record:  record,
		now:     now,
		counted: map[string]store.Act{},
	}
}

// allow reports whether an act has a row of its own.
func (l *actLimiter) allow(one store.Act) bool {
	if one.Outcome == store.ActRefused || one.Outcome == store.ActFailed {
		return l.refused.AllowN(l.now(), 1)
	}
	who := string(one.Who.Kind) + " " + one.Who.ID
	budget, ok := l.budgets.Get(who)
	if !ok {
		budget = rate.NewLimiter(rate.Every(actRefill), actBurst)
		if other, exists, _ := l.budgets.PeekOrAdd(who, budget); exists {
			budget = other
		}
	}
	return budget.AllowN(l.now(), 1)
}

// count counts an act that has no row of its own.
func (l *actLimiter) count(one store.Act) {
	key := one.What + " " + string(one.Outcome) + " " + string(one.Who.Kind) + " " + one.Who.ID
	l.mu.Lock()
	defer l.mu.Unlock()
	sum, ok := l.counted[key]
	if !ok {
		if len(l.counted) >= maxCounted-1 { // the last row is for all others
			key = "others"
			one = store.Act{
				What:    "request.others",
				Text:    "made many other requests, which the log of the program has",
				Outcome: store.ActRefused,
			}
			sum = l.counted[key]
		}
		one.Times = sum.Times
		one.On.ID, one.On.Name = "", ""
		sum = one
	}
	if sum.From != one.From {
		sum.From = "several addresses"
	}
	sum.Times++
	l.counted[key] = sum
	if l.timer == nil {
		l.timer = time.AfterFunc(countFor, l.flush)
	}
}

// flush records what was counted.
func (l *actLimiter) flush() {
	l.mu.Lock()
	all := l.counted
	l.counted = map[string]store.Act{}
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	l.mu.Unlock()
	for _, one := range slices.SortedFunc(maps.Values(all), func(a, b store.Act) int {
		return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Who.ID, b.Who.ID))
	}) {
		l.record(one)
	}
}
