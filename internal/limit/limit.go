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
	MaxActive      int           // that are in
	Reserved       int           // for how many who have none there is room besides
	MaxPerKey      int           // perKey MaxActive, those of one
	MaxWaiting     int           // that wait to be let in
	MaxPerKeyTotal int           // that are in or wait, of one
	MaxWait        time.Duration // for which one waits
}

// Errors of who is not let in.
var (
	ErrFull    = errors.New("there is no room")
	ErrPerKey  = errors.New("one has as many as it may")
	ErrTimeout = errors.New("it took too long until there was room")
)

// Limiter lets in by a Rule. Of those that wait, that of the one that has the fewest
// is first. It may be used from many goroutines.
type Limiter[K comparable] struct {
	Rule

	mu     sync.Mutex
	active int
	perKey map[K]int    // those that are in, without who has none
	queue  []*waiter[K] // oldest first
}

type waiter[K comparable] struct {
	key      K
	admitted chan struct{} // closed when it is its turn
}

// New returns a Limiter by a rule.
func New[K comparable](r Rule) *Limiter[K] { return &Limiter[K]{Rule: r, perKey: map[K]int{}} }

// Active is how many are in.
func (l *Limiter[K]) Active() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.active
}

// TryAcquire lets one in, unless that is an ErrPerKey or an ErrFull. leave, which may be called
// again, gives the place back.
func (l *Limiter[K]) TryAcquire(who K) (leave func(), err error) {
	return l.TryAcquireWithin(who, l.MaxActive, l.MaxPerKey)
}

// TryAcquireWithin is Try with other bounds for this one.
func (l *Limiter[K]) TryAcquireWithin(who K, atOnce, ofOne int) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case ofOne > 0 && l.perKey[who] >= ofOne:
		return nil, ErrPerKey
	case atOnce > 0 && l.active >= atOnce:
		return nil, ErrFull
	}
	l.active++
	l.perKey[who]++
	return l.releaseOnce(who), nil
}

// Acquire lets one in as soon as there is room. The error is an ErrPerKey or an ErrFull
// where too many wait already, an ErrTimeout, or the cause of ctx's end.
func (l *Limiter[K]) Acquire(ctx context.Context, who K) (leave func(), err error) {
	mine, err := l.enqueue(who)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(l.MaxWait)
	defer timer.Stop()
	select {
	case <-mine.admitted:
		return l.releaseOnce(who), nil
	case <-timer.C:
		err = ErrTimeout
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.queue, mine); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	} else { // its turn has just come
		l.release(who)
	}
	return nil, err
}

func (l *Limiter[K]) enqueue(who K) (*waiter[K], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	has := l.perKey[who]
	for _, t := range l.queue {
		if t.key == who {
			has++
		}
	}
	switch {
	case l.MaxPerKeyTotal > 0 && has >= l.MaxPerKeyTotal:
		return nil, ErrPerKey
	case l.MaxWaiting > 0 && len(l.queue) >= l.MaxWaiting && !l.hasCapacity(who):
		return nil, ErrFull
	}
	mine := &waiter[K]{who, make(chan struct{})}
	l.queue = append(l.queue, mine)
	l.admit()
	return mine, nil
}

func (l *Limiter[K]) releaseOnce(who K) func() {
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.release(who)
	})
}

func (l *Limiter[K]) release(who K) {
	l.active--
	if l.perKey[who]--; l.perKey[who] == 0 {
		delete(l.perKey, who)
	}
	l.admit()
}

// admit lets in as many as there is room for: first of the one that has the fewest,
// and among those who came first. Where there is none for that one, there is none for
// any other: they have as many, or more.
func (l *Limiter[K]) admit() {
	for len(l.queue) > 0 {
		next := slices.MinFunc(l.queue, func(a, b *waiter[K]) int { return l.perKey[a.key] - l.perKey[b.key] })
		if !l.hasCapacity(next.key) {
			return
		}
		i := slices.Index(l.queue, next)
		l.queue = slices.Delete(l.queue, i, i+1)
		l.active++
		l.perKey[next.key]++
		close(next.admitted)
	}
}

// hasCapacity tells whether one more may be let in.
func (l *Limiter[K]) hasCapacity(who K) bool {
	has := l.perKey[who]
	if l.MaxPerKey > 0 && has >= l.MaxPerKey {
		return false
	}
	return l.MaxActive == 0 || l.active < l.MaxActive || has == 0 && l.active < l.MaxActive+l.Reserved
}
