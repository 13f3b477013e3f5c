package remote

import (
	"context"
	"errors"
	"strings"
	"time"
)

// racing is a call that several servers may make at the same time, of which one is heard. It hands its
// output to the caller's goroutine with pass.
type racing func(ctx context.Context, member int, pass func(output func() error) error) error

// errLost is the cause with which the calls end that were not the first to have output.
var errLost = errors.New("another server answered first")

// coveredPatience is how many times its patience a race takes at most if something else takes over.
const coveredPatience = 3

// race has a server make a call, and the next one when it fails, or when it takes longer than the patience:
// a slow server goes on, since it may have done most of the work. The first output decides. The error is
// an *Error, that of ctx, or one that is not the server's.
//
// Until the first output, a race takes no longer than the FirstPiece of one server, or coveredPatience
// times the patience if something else takes over.
func (p *pool) race(ctx context.Context, r request, use racing) error {
	patience := p.patience() + r.extra
	budget := p.members[0].server.limits.FirstPiece + r.extra
	if r.covered {
		budget = min(budget, coveredPatience*patience)
	}
	over, cancel := context.WithCancelCause(ctx)
	c := &contest{
		pool:     p,
		request:  r,
		use:      use,
		caller:   ctx,
		over:     over,
		cancel:   cancel,
		patience: patience,
		tried:    make([]bool, len(p.members)),
		winner:   -1,
		outputs:  make(chan output),
		ends:     make(chan racerEnd, len(p.members)),
	}
	copy(c.tried, r.without)
	defer c.wait()
	defer cancel(errLost)
	return c.run(budget)
}

// contest is a race. The caller's goroutine owns it.
type contest struct {
	pool     *pool
	request  request
	use      racing
	caller   context.Context
	over     context.Context // of the calls
	cancel   context.CancelCauseFunc
	patience time.Duration
	tried    []bool
	running  int
	winner   int // the member that had output first; -1: none had
	outputs  chan output
	ends     chan racerEnd
}

// output is output of a member, which waits for the result.
type output struct {
	member int
	give   func() error
	result chan error
}

// racerEnd is the end of a member's call.
type racerEnd struct {
	member int
	err    error
}

func (c *contest) run(budget time.Duration) error {
	if !c.start() {
		return c.pool.noneLeft(c.request)
	}
	deadline, late := time.NewTimer(budget), time.NewTimer(c.patience)
	defer deadline.Stop()
	defer late.Stop()
	for {
		select {
		case o := <-c.outputs:
			if c.winner < 0 {
				c.winner = o.member
				deadline.Stop()
				late.Stop()
			}
			if o.member != c.winner {
				o.result <- errLost
				continue
			}
			o.result <- o.give()
		case end := <-c.ends:
			c.running--
			switch {
			case end.member == c.winner || end.err == nil:
				return end.err
			case c.winner >= 0:
			case !othersMaySucceed(end.err):
				return end.err
			case !c.start() && c.running == 0:
				return end.err
			}
		case <-late.C:
			if c.start() {
				late.Reset(c.patience)
			}
		case <-deadline.C:
			c.cancel(slow{errFirstPiece, budget})
			return c.tooSlow(slow{errFirstPiece, budget})
		case <-c.caller.Done():
			return context.Cause(c.caller)
		}
	}
}

// start has the next server make the call, if there is one.
func (c *contest) start() bool {
	i, _ := c.pool.next(c.tried, c.request)
	if i < 0 {
		return false
	}
	c.tried[i] = true
	c.running++
	go c.attempt(i)
	return true
}

// attempt makes the call with a member. One that was overtaken after its patience has failed.
func (c *contest) attempt(i int) {
	m := c.pool.members[i]
	m.enter()
	started := time.Now()
	begun := false
	err := c.use(c.over, i, func(give func() error) error {
		o := output{i, give, make(chan error, 1)}
		select {
		case c.outputs <- o:
		case <-c.over.Done():
			return context.Cause(c.over)
		}
		select {
		case err := <-o.result:
			if !errors.Is(err, errLost) && !begun {
				begun = true
				m.answered(time.Since(started))
			}
			return err
		case <-c.over.Done():
			return context.Cause(c.over)
		}
	})
	if took := time.Since(started); !begun && c.caller.Err() == nil && c.over.Err() != nil && took >= c.patience/2 {
		if _, late := context.Cause(c.over).(slow); late || took >= c.patience {
			err = m.server.tooSlow(slow{errFirstPiece, took})
		}
	}
	c.pool.note(c.caller, m, started, begun, err)
	m.leave()
	c.ends <- racerEnd{i, err}
}

// tooSlow is the failure of a race in which nobody had output in time.
func (c *contest) tooSlow(late slow) *Error {
	e := &Error{Kind: TimedOut, Why: late.Error(), Err: late}
	for i, m := range c.pool.members {
		if c.tried[i] && (c.request.without == nil || !c.request.without[i]) {
			e.What = m.server.what
			e.Server = strings.TrimSpace(e.Server + " " + m.server.name)
		}
	}
	return e
}

// wait waits for the calls that still run, which were cancelled.
func (c *contest) wait() {
	for c.running > 0 {
		<-c.ends
		c.running--
	}
}
