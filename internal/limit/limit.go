// Package limit lets so many in at once, and shares the room that there is between
// those who want it: accounts, or addresses.
package limit

import (
	"context"
	"errors"
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

	mu      sync.Mutex
	in      int
	waiting int
	next    uint64 // ticket
	of      map[K]*share
}

// share is what one has. Who has nothing has none.
type share struct {
	in    int
	queue []*ticket // oldest first
}

type ticket struct {
	number uint64
	enter  chan struct{} // closed when it is its turn
}

// New returns a Limiter by a rule.
func New[K comparable](r Rule) *Limiter[K] { return &Limiter[K]{Rule: r, of: map[K]*share{}} }

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
	s := l.share(who)
	defer l.forget(who)
	switch {
	case ofOne > 0 && s.in >= ofOne:
		return nil, ErrOfOne
	case atOnce > 0 && l.in >= atOnce:
		return nil, ErrFull
	}
	s.in++
	l.in++
	return sync.OnceFunc(func() { l.leave(who) }), nil
}

// Enter lets one in as soon as there is room. The error is an ErrOfOne or an ErrFull
// where too many wait already, an ErrWaited, or the cause of ctx's end.
func (l *Limiter[K]) Enter(ctx context.Context, who K) (leave func(), err error) {
	mine, err := l.queue(who)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(l.Patience)
	defer timer.Stop()
	select {
	case <-mine.enter:
		return sync.OnceFunc(func() { l.leave(who) }), nil
	case <-timer.C:
		err = ErrWaited
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.giveUp(who, mine)
	return nil, err
}

func (l *Limiter[K]) queue(who K) (*ticket, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.share(who)
	defer l.forget(who)
	switch {
	case l.MostOf > 0 && s.in+len(s.queue) >= l.MostOf:
		return nil, ErrOfOne
	case l.Waiting > 0 && l.waiting >= l.Waiting && !l.roomFor(s):
		return nil, ErrFull
	}
	mine := &ticket{l.next, make(chan struct{})}
	l.next++
	s.queue = append(s.queue, mine)
	l.waiting++
	l.admit()
	return mine, nil
}

// giveUp leaves the queue, or the place that has just been given.
func (l *Limiter[K]) giveUp(who K, mine *ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.of[who]
	for i, other := range s.queue {
		if other == mine {
			s.queue = append(s.queue[:i:i], s.queue[i+1:]...)
			l.waiting--
			l.forget(who)
			return
		}
	}
	l.free(who)
}

func (l *Limiter[K]) leave(who K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free(who)
}

func (l *Limiter[K]) free(who K) {
	l.in--
	l.of[who].in--
	l.forget(who)
	l.admit()
}

func (l *Limiter[K]) share(who K) *share {
	s := l.of[who]
	if s == nil {
		s = &share{}
		l.of[who] = s
	}
	return s
}

func (l *Limiter[K]) forget(who K) {
	if s := l.of[who]; s.in == 0 && len(s.queue) == 0 {
		delete(l.of, who)
	}
}

// admit lets in as many as there is room for: first of the one that has the fewest,
// and among those who came first.
func (l *Limiter[K]) admit() {
	for {
		next := l.first()
		if next == nil || !l.roomFor(next) {
			return // nor is there room for any other: they have as many, or more
		}
		close(next.queue[0].enter)
		next.queue = next.queue[1:]
		next.in++
		l.in++
		l.waiting--
	}
}

// first is the share whose turn is next, or nil where nobody waits.
func (l *Limiter[K]) first() *share {
	var first *share
	for _, s := range l.of {
		if len(s.queue) > 0 && (first == nil || s.before(first)) {
			first = s
		}
	}
	return first
}

// roomFor tells whether one more of the share may be let in.
func (l *Limiter[K]) roomFor(s *share) bool {
	if l.OfOne > 0 && s.in >= l.OfOne {
		return false
	}
	return l.AtOnce == 0 || l.in < l.AtOnce || s.in == 0 && l.in < l.AtOnce+l.Kept
}

func (s *share) before(other *share) bool {
	if s.in != other.in {
		return s.in < other.in
	}
	return s.queue[0].number < other.queue[0].number
}
