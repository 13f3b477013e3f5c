package remote

import (
	"math"
	"sync"
	"time"

	"parley/appliance/engine"
)

// member is a server of a pool.
type member struct {
	server *server

	mu       sync.Mutex
	calls    int           // in flight
	latency  time.Duration // recent average until the first output, or until it was given up; 0: unknown
	measured time.Time     // when latency was
	usual    time.Duration // as latency, of calls that were answered
	inRow    int           // failures since the last answer
	until    time.Time     // it is left alone before that
	down     bool          // it is left alone until a check or a call succeeds, too
	checking bool          // it is checked until it is up
	why      error         // it is left alone
	answers  uint64        // since the start
	failures uint64
}

func (m *member) enter() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
}

func (m *member) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls--
}

// answered notes the first output of a call.
func (m *member) answered(took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers++
	m.inRow, m.down = 0, false
	m.measure(took)
	m.usual = average(m.usual, took)
}

func (m *member) measure(took time.Duration) {
	m.latency = average(m.latency, took)
	m.measured = time.Now()
}

// average returns a moving average in which the newest value weighs a quarter.
func average(of, newest time.Duration) time.Duration {
	if of == 0 {
		return newest
	}
	return of + (newest-of)/4
}

// failed notes a failure. It reports whether the member has to be checked from now on.
func (m *member) failed(fault *Error, late time.Duration, pacing Pacing) (check bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures++
	m.why = fault
	if fault.Kind == Overloaded {
		alone := pacing.Busy
		if fault.RetryAfter > 0 {
			alone = min(fault.RetryAfter, maxAlone)
		}
		m.until = time.Now().Add(alone)
		return false
	}
	if late > 0 {
		m.measure(late)
	}
	m.until = time.Now().Add(min(pacing.Check<<min(m.inRow, 10), maxAlone))
	m.inRow++
	check = !m.checking
	m.down, m.checking = true, true
	return check
}

// checked notes the outcome of a check. It reports whether the member is up.
func (m *member) checked(err error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil && m.down {
		m.why = err
		return false
	}
	m.down, m.checking = false, false
	return true
}

// alone returns how much longer the member is left alone, apart from checks.
func (m *member) alone() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(0, time.Until(m.until))
}

// downUntilChecked is more than any other time for which a member is left alone.
const downUntilChecked = time.Hour

func (m *member) load(now time.Time) load {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := load{calls: m.calls, away: max(0, m.until.Sub(now))}
	if m.down {
		l.away += downUntilChecked
	}
	l.latency = time.Duration(float64(m.latency) * math.Exp2(-float64(now.Sub(m.measured))/float64(latencyFades)))
	return l
}

func (m *member) usually() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usual
}

func (m *member) whyAway() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down || time.Now().Before(m.until) {
		return m.why
	}
	return nil
}

func (m *member) state() engine.ServerState {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := engine.ServerState{
		Serves:   m.server.what,
		Server:   m.server.name,
		Model:    m.server.model,
		State:    engine.Up,
		Calls:    m.calls,
		Answers:  m.answers,
		Failures: m.failures,
		Latency:  m.usual,
	}
	switch {
	case m.down:
		s.State = engine.Down
	case time.Now().Before(m.until):
		s.State = engine.Busy
	}
	if s.State != engine.Up && m.why != nil {
		s.Why = m.why.Error()
	}
	return s
}

// States returns how the servers of the pool are.
func (p *pool) States() []engine.ServerState {
	var all []engine.ServerState
	for _, m := range p.members {
		all = append(all, m.state())
	}
	return all
}
