// Package limit lets so many in at once, and shares the room that there is between
// those who want it: accounts, or addresses.
package limit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Rule says how many there may be. A number that is 0 bounds nothing.
type Rule struct {
	AtOnce   int           // that are in
	Kept     int           // for how many who have none there is room besides
	OfOne    int           // of AtOnce, those of one
	Waiting  int           // that wait to be let in
	MostOf   int           // that are in or wait, of one
	Patience time.Duration // for which one waits
}

// Errors of who is not let in.
var (
	ErrFull   = errors.New("there is no room")
	ErrOfOne  = errors.New("one has as many as it may")
	ErrWaited = errors.New("it took too long until there was room")
)

// Limiter lets in by a Rule. Of those that wait, that of the one that has the fewest
// is first. It may be used from many goroutines.
type Limiter[K comparable] struct {
	Rule

	mu    sync.Mutex
	in    int
	of    map[K]int    // those that are in, without who has none
	queue []*ticket[K] // oldest first
}

type ticket[K comparable] struct {
	who   K
	enter chan struct{} // closed when it is its turn
}

// New returns a Limiter by a rule.
func New[K comparable](r Rule) *Limiter[K] { return &Limiter[K]{Rule: r, of: map[K]int{}} }

// In is how many are in.
func (l *Limiter[K]) In() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.in
}

// Try lets one in, unless that is an ErrOfOne or an ErrFull. leave, which may be called
// again, gives the place back.
func (l *Limiter[K]) Try(who K) (leave func(), err error) { return l.TryWithin(who, l.AtOnce, l.OfOne) }

// TryWithin is Try with other bounds for this one.
func (l *Limiter[K]) TryWithin(who K, atOnce, ofOne int) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case ofOne > 0 && l.of[who] >= ofOne:
		return nil, ErrOfOne
	case atOnce > 0 && l.in >= atOnce:
		return nil, ErrFull
	}
	l.in++
	l.of[who]++
	return l.leave(who), nil
}

// Enter lets one in as soon as there is room. The error is an ErrOfOne or an ErrFull
// where too many wait already, an ErrWaited, or the cause of ctx's end.
func (l *Limiter[K]) Enter(ctx context.Context, who K) (leave func(), err error) {
	mine, err := l.wait(who)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(l.Patience)
	defer timer.Stop()
	select {
	case <-mine.enter:
		return l.leave(who), nil
	case <-timer.C:
		err = ErrWaited
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.queue, mine); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	} else { // its turn has just come
		l.free(who)
	}
	return nil, err
}

func (l *Limiter[K]) wait(who K) (*ticket[K], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	has := l.of[who]
	for _, t := range l.queue {
		if t.who == who {
			has++
		}
	}
	switch {
	case l.MostOf > 0 && has >= l.MostOf:
		return nil, ErrOfOne
	case l.Waiting > 0 && len(l.queue) >= l.Waiting && !l.roomFor(who):
		return nil, ErrFull
	}
	mine := &ticket[K]{who, make(chan struct{})}
	l.queue = append(l.queue, mine)
	l.admit()
	return mine, nil
}

func (l *Limiter[K]) leave(who K) func() {
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.free(who)
	})
}

func (l *Limiter[K]) free(who K) {
	l.in--
	if l.of[who]--; l.of[who] == 0 {
		delete(l.of, who)
	}
	l.admit()
}

// admit lets in as many as there is room for: first of the one that has the fewest,
// and among those who came first. Where there is none for that one, there is none for
// any other: they have as many, or more.
func (l *Limiter[K]) admit() {
	for len(l.queue) > 0 {
		next := slices.MinFunc(l.queue, func(a, b *ticket[K]) int { return l.of[a.who] - l.of[b.who] })
		if !l.roomFor(next.who) {
			return
		}
		i := slices.Index(l.queue, next)
		l.queue = slices.Delete(l.queue, i, i+1)
		l.in++
		l.of[next.who]++
		close(next.enter)
	}
}

// roomFor tells whether one more may be let in.
func (l *Limiter[K]) roomFor(who K) bool {
	has := l.of[who]
	if l.OfOne > 0 && has >= l.OfOne {
		return false
	}
	return l.AtOnce == 0 || l.in < l.AtOnce || has == 0 && l.in < l.AtOnce+l.Kept
}
