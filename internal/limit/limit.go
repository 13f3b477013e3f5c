// Package limit bounds concurrency, and shares the capacity fairly between keys such as
// accounts or addresses.
package limit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Rule holds the bounds of a Limiter. 0 means no bound.
type Rule struct {
	MaxActive      int           // active at once
	Reserved       int           // further slots for keys that currently hold none
	MaxPerKey      int           // active at once, of one key
	MaxWaiting     int           // waiting
	MaxPerKeyTotal int           // active or waiting, of one key
	MaxWait        time.Duration // how long one waits
}

// Errors of Acquire and TryAcquire.
var (
	ErrFull    = errors.New("all slots are in use")
	ErrPerKey  = errors.New("the key has as many slots as it may have")
	ErrTimeout = errors.New("no slot became free in time")
)

// Limiter admits by a Rule. Of the waiting callers, one whose key has the fewest active
// slots comes first. It is safe for concurrent use.
type Limiter[K comparable] struct {
	Rule

	mu     sync.Mutex
	active int
	perKey map[K]int    // active ones; without keys that have none
	queue  []*waiter[K] // oldest first
}

type waiter[K comparable] struct {
	key      K
	admitted chan struct{} // closed when it is admitted
}

// New returns a Limiter with a rule.
func New[K comparable](r Rule) *Limiter[K] { return &Limiter[K]{Rule: r, perKey: map[K]int{}} }

// Active returns the number of active slots.
func (l *Limiter[K]) Active() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.active
}

// TryAcquire acquires a slot, or returns ErrPerKey or ErrFull. leave, which may be called
// more than once, releases it.
func (l *Limiter[K]) TryAcquire(who K) (leave func(), err error) {
	return l.TryAcquireWithin(who, l.MaxActive, l.MaxPerKey)
}

// TryAcquireWithin is TryAcquire with other bounds for this call.
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

// Acquire waits for a slot. The error is ErrPerKey or ErrFull if too many wait already,
// ErrTimeout, or the cause of ctx's end.
func (l *Limiter[K]) Acquire(ctx context.Context, key K) (leave func(), err error) {
	w, err := l.enqueue(key)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(l.MaxWait)
	defer timer.Stop()
	select {
	case <-w.admitted:
		return l.releaseOnce(key), nil
	case <-timer.C:
		err = ErrTimeout
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.queue, w); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	} else { // it has just been admitted
		l.release(key)
	}
	return nil, err
}

func (l *Limiter[K]) enqueue(key K) (*waiter[K], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	has := l.perKey[key]
	for _, t := range l.queue {
		if t.key == key {
			has++
		}
	}
	switch {
	case l.MaxPerKeyTotal > 0 && has >= l.MaxPerKeyTotal:
		return nil, ErrPerKey
	case l.MaxWaiting > 0 && len(l.queue) >= l.MaxWaiting && !l.hasCapacity(key):
		return nil, ErrFull
	}
	w := &waiter[K]{key, make(chan struct{})}
	l.queue = append(l.queue, w)
	l.admit()
	return w, nil
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

// admit admits as many waiters as there is capacity for: first a waiter whose key has the
// fewest active slots, and among those the oldest. If there is no capacity for that one,
// there is none for any other, whose key has as many or more.
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

// hasCapacity reports whether one more of a key may be admitted.
func (l *Limiter[K]) hasCapacity(who K) bool {
	has := l.perKey[who]
	if l.MaxPerKey > 0 && has >= l.MaxPerKey {
		return false
	}
	return l.MaxActive == 0 || l.active < l.MaxActive || has == 0 && l.active < l.MaxActive+l.Reserved
}
