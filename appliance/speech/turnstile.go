package speech

import (
	"context"
	"fmt"
	"sync"
	"time"

	"parley/appliance/contract"
)

const (
	// atOnce is how many requests are spoken at once. They share the cores by
	// when each is due, and each holds a megabyte or two.
	atOnce = 32
	// keptFree is for how many accounts there is a place besides when those are
	// taken and they have none of them: 32 long texts of one account take minutes.
	keptFree = 8
	// mostWaiting is how many wait for their turn, and mostOfOne how many requests
	// one account may have, spoken and waiting: a page of a hundred prompts that
	// are asked for all at once.
	mostWaiting = 160
	mostOfOne   = 128
	// longestWait is half of the minute after which clients and proxies give up.
	longestWait = 30 * time.Second
	// turnRetry is when it is worth to try again: most requests are sentences,
	// which take less than a second each.
	turnRetry = 5 * time.Second
)

// turnstile lets requests in: so many at once, and of those that wait first that
// of the account that has the fewest. Some places are kept for accounts of which
// none is in.
type turnstile struct {
	atOnce, keptFree, mostWaiting, mostOfOne int
	longest                                  time.Duration

	mu      sync.Mutex
	running int
	of      map[string]*lane // by account, of those that have requests
	waiting int
	seq     uint64
}

// lane is what one account has.
type lane struct {
	running int
	queue   []*ticket // oldest first
}

type ticket struct {
	seq   uint64
	enter chan struct{} // closed when it is its turn
}

func newTurnstile(atOnce, keptFree, waiting, ofOne int, longest time.Duration) *turnstile {
	return &turnstile{
		atOnce:      atOnce,
		keptFree:    keptFree,
		mostWaiting: waiting,
		mostOfOne:   ofOne,
		longest:     longest,
		of:          map[string]*lane{},
	}
}

// enter waits for the turn of a request of an account; leave gives it back. A
// contract.ErrTooMany says that the account has too many, or that it takes too
// long.
func (t *turnstile) enter(ctx context.Context, account string) (leave func(), err error) {
	mine, err := t.queue(account)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(t.longest)
	defer timer.Stop()
	select {
	case <-mine.enter:
		return sync.OnceFunc(func() { t.leave(account) }), nil
	case <-timer.C:
		err = contract.ErrTooMany{What: fmt.Sprintf("all %d places for text-to-speech have been taken for %s", t.atOnce,
			t.longest), RetryAfter: turnRetry}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	t.giveUp(account, mine)
	return nil, err
}

// queue takes a place in the account's lane.
func (t *turnstile) queue(account string) (*ticket, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.of[account]
	if l == nil {
		l = &lane{}
	}
	switch {
	case l.running+len(l.queue) >= t.mostOfOne:
		return nil, contract.ErrTooMany{What: fmt.Sprintf("this account has %d requests for text-to-speech under "+
			"way, the most it may", t.mostOfOne), RetryAfter: turnRetry}
	case !t.roomFor(l) && t.waiting >= t.mostWaiting:
		return nil, contract.ErrTooMany{What: fmt.Sprintf("%d requests for text-to-speech wait already", t.mostWaiting),
			RetryAfter: turnRetry}
	}
	mine := &ticket{seq: t.seq, enter: make(chan struct{})}
	t.seq++
	l.queue = append(l.queue, mine)
	t.of[account] = l
	t.waiting++
	t.admit()
	return mine, nil
}

// giveUp leaves the queue, or the place that has just been given.
func (t *turnstile) giveUp(account string, mine *ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.of[account]
	for i, other := range l.queue {
		if other == mine {
			l.queue = append(l.queue[:i:i], l.queue[i+1:]...)
			t.waiting--
			t.forget(account)
			return
		}
	}
	t.free(account)
}

func (t *turnstile) leave(account string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free(account)
}

func (t *turnstile) free(account string) {
	t.running--
	t.of[account].running--
	t.forget(account)
	t.admit()
}

func (t *turnstile) forget(account string) {
	if l := t.of[account]; l.running == 0 && len(l.queue) == 0 {
		delete(t.of, account)
	}
}

// admit lets in as many as there is room for: first of the account that has the
// fewest, and among those who came first.
func (t *turnstile) admit() {
	for {
		next := t.first()
		if next == nil || !t.roomFor(next) {
			return // nor is there room for any other: they have as many, or more
		}
		close(next.queue[0].enter)
		next.queue = next.queue[1:]
		next.running++
		t.running++
		t.waiting--
	}
}

// first is the lane whose turn is next, or nil where nobody waits.
func (t *turnstile) first() *lane {
	var first *lane
	for _, l := range t.of {
		if len(l.queue) > 0 && (first == nil || l.before(first)) {
			first = l
		}
	}
	return first
}

// roomFor reports whether one more of the lane may be let in.
func (t *turnstile) roomFor(l *lane) bool {
	return t.running < t.atOnce || l.running == 0 && t.running < t.atOnce+t.keptFree
}

func (l *lane) before(other *lane) bool {
	if l.running != other.running {
		return l.running < other.running
	}
	return l.queue[0].seq < other.queue[0].seq
}
