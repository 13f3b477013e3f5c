package remote

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Pacing says how long a pool waits for its servers.
type Pacing struct {
	// Patience is the shortest time that a server has until its first output while another one, or an
	// embedded engine, can take over. A pool whose quickest server is slower on the average gives
	// patienceFactor times that average.
	Patience time.Duration
	// Check is the time between two checks of a server that is down. It is also how long a server is
	// left alone after its first failure; each further failure in a row doubles that, up to
	// maxAlone. 5 s are unnoticeable for a server and short for an operator who restarts it.
	Check time.Duration
	// Busy is how long a server is left alone that said it is overloaded and not for how long: 2 s
	// let it finish a call or two.
	Busy time.Duration
}

func (p Pacing) orDefault(patience time.Duration) Pacing {
	return Pacing{
		Patience: cmp.Or(p.Patience, patience),
		Check:    cmp.Or(p.Check, 5*time.Second),
		Busy:     cmp.Or(p.Busy, 2*time.Second),
	}
}

const (
	// patienceFactor is how many times the average of the quickest a server may take. Prompts and
	// sentences of different lengths take up to three times the average.
	patienceFactor = 4
	// maxAlone is the longest time for which a server is left alone: a restarted one is back in use
	// within a minute.
	maxAlone = time.Minute
	// stickyCalls is how many more calls in flight than the least loaded server may have the one
	// that served a conversation before: its cache of the prompt is worth about as much.
	stickyCalls = 2
	// latencyFades is the time in which a measured latency halves, so that a server that was slow
	// once is tried again.
	latencyFades = 30 * time.Second
)

// PoolOptions are what all pools have in common.
type PoolOptions struct {
	Log    *slog.Logger
	Pacing Pacing // zero fields mean the defaults
}

// pool chooses among servers that serve the same, and follows how they are.
type pool struct {
	members []*member
	pacing  Pacing
	log     *slog.Logger
	ctx     context.Context // of the checks
	cancel  context.CancelFunc
	checks  sync.WaitGroup
}

// newPool returns a pool. patience is the default of Pacing.
func newPool(servers []*server, o PoolOptions, patience time.Duration) *pool {
	p := &pool{pacing: o.Pacing.orDefault(patience), log: o.Log}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	for _, s := range servers {
		p.members = append(p.members, &member{server: s})
	}
	return p
}

// Close ends the checks and closes idle connections. No call may be running.
func (p *pool) Close() error {
	p.cancel()
	p.checks.Wait()
	var err error
	for _, m := range p.members {
		err = errors.Join(err, m.server.Close())
	}
	return err
}

// Describe names the servers for people.
func (p *pool) Describe() string {
	names := ""
	for i, m := range p.members {
		if i > 0 {
			names += ", "
		}
		names += m.server.Describe()
	}
	return names
}

// call is one request to a server of a pool. It calls begun when there is output, before it passes it
// on, and ends with the error of begun.
type call func(ctx context.Context, member int, begun func() error) error

// request says how servers are chosen for a call.
type request struct {
	without []bool        // members that are not asked; nil: all are
	prefer  int           // the member that is taken if it is not much busier than others; -1 is none
	extra   time.Duration // added to the patience
	covered bool          // something else takes over when all servers fail
}

// run has one server after the other make a call, until one has begun to answer; see race for calls that
// may be made at the same time. The error is an *Error, that of ctx, or one that is not the server's.
//
// Until the first output, all attempts together take no longer than the FirstPiece of one server, or
// twice the patience if something else takes over.
func (p *pool) run(ctx context.Context, r request, use call) error {
	patience := p.patience() + r.extra
	budget := p.members[0].server.limits.FirstPiece + r.extra
	if r.covered {
		budget = min(budget, 2*patience)
	}
	deadline := time.Now().Add(budget)
	tried := make([]bool, len(p.members))
	copy(tried, r.without)
	var err error
	for {
		i, last := p.next(tried, r)
		left := time.Until(deadline)
		switch {
		case (i < 0 || left <= 0) && err == nil:
			return p.noneLeft(r)
		case i < 0 || left <= 0:
			return err
		}
		tried[i] = true
		if !last || r.covered {
			left = min(left, patience)
		}
		begun, failed := p.attempt(ctx, i, left, use)
		if failed == nil || begun || !othersMaySucceed(failed) {
			return failed
		}
		err = failed
	}
}

// attempt has a member make a call, which has a time until its first output.
func (p *pool) attempt(ctx context.Context, i int, patience time.Duration, use call) (begun bool, err error) {
	m := p.members[i]
	m.enter()
	defer m.leave()
	started := time.Now()
	watched, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(patience, func() { cancel(slow{errFirstPiece, patience}) })
	defer timer.Stop()
	err = use(watched, i, func() error {
		if begun {
			return nil
		}
		if !timer.Stop() {
			return slow{errFirstPiece, patience}
		}
		begun = true
		m.answered(time.Since(started))
		return nil
	})
	if late, is := err.(slow); is && ctx.Err() == nil {
		err = m.server.tooSlow(late)
	}
	p.note(ctx, m, started, begun, err)
	return begun, err
}

// tooSlow is the failure of a server that was given up.
func (s *server) tooSlow(late slow) *Error {
	return &Error{
		Kind:   TimedOut,
		What:   s.what,
		Server: s.name,
		Why:    late.Error(),
		Err:    late,
	}
}

// note notes the outcome of a call. ctx is the caller's.
func (p *pool) note(ctx context.Context, m *member, started time.Time, begun bool, err error) {
	fault, is := errors.AsType[*Error](err)
	switch {
	case err == nil && !begun:
		m.answered(time.Since(started))
	case is && ctx.Err() == nil:
		late := time.Duration(0)
		if !begun && fault.Kind == TimedOut {
			late = time.Since(started)
		}
		p.failed(m, fault, late)
	}
}

// othersMaySucceed reports whether a failure is that of one server and not of the request.
func othersMaySucceed(err error) bool {
	fault, is := errors.AsType[*Error](err)
	return is && !fault.ofRequest()
}

// ofRequest reports whether a server refused the request for what it is, as other servers would.
func (e *Error) ofRequest() bool {
	switch e.Status {
	case 0, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return false
	}
	return e.Kind == Refused
}

// patience returns how long a server may take until its first output while something else can take
// over.
func (p *pool) patience() time.Duration {
	quickest := time.Duration(0)
	for _, m := range p.members {
		if l := m.usually(); l > 0 && (quickest == 0 || l < quickest) {
			quickest = l
		}
	}
	return min(max(p.pacing.Patience, patienceFactor*quickest), p.members[0].server.limits.FirstPiece)
}

// next returns the member to try: the preferred one, or the one with the fewest calls in flight, and
// of those the quickest. If all are down or busy and the pool is not covered, it is the one that is
// due first. It returns -1 if there is none. last says that no other is left.
func (p *pool) next(tried []bool, r request) (best int, last bool) {
	now := time.Now()
	best = -1
	var least, preferred load
	known, open := false, 0
	for i, m := range p.members {
		l := m.load(now)
		if tried[i] || l.away > 0 && r.covered {
			continue
		}
		open++
		if best < 0 || l.less(least) {
			best, least = i, l
		}
		if i == r.prefer {
			preferred, known = l, true
		}
	}
	if known && preferred.away == 0 && preferred.calls <= least.calls+stickyCalls {
		best = r.prefer
	}
	return best, open <= 1
}

// load is what decides which member is taken.
type load struct {
	away    time.Duration // how long it is left alone; 0 if it is up
	calls   int
	latency time.Duration
}

func (l load) less(o load) bool {
	c := cmp.Or(cmp.Compare(l.away, o.away), cmp.Compare(l.calls, o.calls), cmp.Compare(l.latency, o.latency))
	return c < 0 || c == 0 && rand.IntN(2) == 0
}

// noneLeft is the failure if no server is up.
func (p *pool) noneLeft(r request) *Error {
	e := &Error{Kind: Unreachable}
	for i, m := range p.members {
		if r.without != nil && r.without[i] {
			continue
		}
		e.What = m.server.what
		if e.Server += " " + m.server.name; e.Why == "" {
			e.Why = "no server is up"
		}
		if why := m.whyAway(); why != nil {
			e.Why += "; " + why.Error()
		}
	}
	e.Server = strings.TrimSpace(e.Server)
	return e
}

// failed notes the failure of a member, and checks it from time to time until it is up again. late is
// how long a call had no output that was given up for that; otherwise 0.
func (p *pool) failed(m *member, fault *Error, late time.Duration) {
	if fault.ofRequest() {
		return
	}
	if m.failed(fault, late, p.pacing) {
		p.log.Warn("a server fails; it is not asked until it answers again", "serves", m.server.what, "server",
			m.server.name, "model", m.server.model, "err", fault)
		p.checks.Go(func() { p.checkUntilUp(m) })
	}
}

// checkUntilUp checks a member that is down until it answers.
func (p *pool) checkUntilUp(m *member) {
	for {
		select {
		case <-time.After(max(p.pacing.Check, m.alone())):
		case <-p.ctx.Done():
			return
		}
		if m.alone() > 0 { // it failed again meanwhile
			continue
		}
		_, err := m.server.check(p.ctx)
		if p.ctx.Err() != nil {
			return
		}
		if m.checked(err) {
			p.log.Info("a server answers again", "serves", m.server.what, "server", m.server.name, "model",
				m.server.model)
			return
		}
	}
}

// warm makes a call of all members at the same time. It returns nil if one answers, or else a refusal
// before other errors.
func (p *pool) warm(ctx context.Context, one func(ctx context.Context, member int) error) error {
	errs := make([]error, len(p.members))
	var calls sync.WaitGroup
	for i, m := range p.members {
		calls.Go(func() {
			errs[i] = one(ctx, i)
			if fault, is := errors.AsType[*Error](errs[i]); is && ctx.Err() == nil {
				p.failed(m, fault, 0)
			}
		})
	}
	calls.Wait()
	var worst error
	for _, err := range errs {
		if err == nil {
			return nil
		}
		if fault, is := errors.AsType[*Error](err); worst == nil || is && fault.Kind == Refused {
			worst = err
		}
	}
	return worst
}
