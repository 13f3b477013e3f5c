package espeak

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// maxProcesses is the number of processes. One is enough for a box, at 0.2 ms a clause; the
	// second is for when the first hangs.
	maxProcesses = 2
	// secondAfter is how long a caller waits for the first process before a second is started: far
	// longer than a text takes normally.
	secondAfter = 100 * time.Millisecond
)

var errClosed = errors.New("espeak: the phonemizer is closed")

// pool lends processes, each to one caller at a time, and replaces those that crash or hang. No
// lock is held while a caller waits.
type pool struct {
	start   func() (*process, error)
	idle    chan *process
	closing chan struct{}
	running sync.WaitGroup // goroutines that use or start a process

	mu       sync.Mutex
	live     map[*process]bool
	starting int // processes that are being started
	closed   bool
}

func newPool(start func() (*process, error)) *pool {
	return &pool{
		start:   start,
		idle:    make(chan *process, maxProcesses),
		closing: make(chan struct{}),
		live:    map[*process]bool{},
	}
}

// get waits for a process, which the caller returns with put.
func (p *pool) get(ctx context.Context) (*process, error) {
	select {
	case c := <-p.idle:
		return c, nil
	default:
	}
	failed := p.grow(1)
	more := time.NewTimer(secondAfter)
	defer more.Stop()
	for {
		select {
		case c := <-p.idle:
			return c, nil
		case err := <-failed:
			if err != nil {
				return nil, err
			}
			failed = nil // the process is ready, for whichever caller was first
		case <-more.C:
			if failed == nil {
				failed = p.grow(maxProcesses)
			}
			more.Reset(secondAfter)
		case <-p.closing:
			return nil, errClosed
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// grow starts a process in the background, unless there are most of them. The channel receives the
// error of the start, or nil when the process is ready; the channel is nil if none is started.
func (p *pool) grow(most int) <-chan error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.live)+p.starting >= most {
		return nil
	}
	p.starting++
	done := make(chan error, 1)
	p.running.Go(func() {
		c, err := p.start()
		p.mu.Lock()
		p.starting--
		if err == nil {
			p.live[c] = true
		}
		closed := p.closed
		p.mu.Unlock()
		switch {
		case err != nil:
		case closed:
			p.end(c)
		default:
			p.idle <- c
		}
		done <- err
	})
	return done
}

// put returns a process. A process that is no longer usable is ended and replaced.
func (p *pool) put(c *process, good bool) {
	p.mu.Lock()
	keep := good && !p.closed
	p.mu.Unlock()
	if keep {
		p.idle <- c
		return
	}
	p.end(c)
	p.grow(1)
}

// run runs f in the background; it returns false if the pool is closed.
func (p *pool) run(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.running.Go(f)
	return true
}

func (p *pool) end(c *process) {
	c.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, c)
}

// close ends all processes and the calls that use them.
func (p *pool) close() {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	live := make([]*process, 0, len(p.live))
	for c := range p.live {
		live = append(live, c)
	}
	p.mu.Unlock()
	if first {
		close(p.closing)
	}
	for _, c := range live {
		c.Stop()
	}
	p.running.Wait()
}
