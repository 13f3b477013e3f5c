package llama

import (
	"slices"
	"time"

	"parley/appliance/engine"
)

const (
	// longPrompt is from how many tokens on that are still to be read a prompt makes
	// others wait: below it, it takes eight steps at most, as the words of a turn and
	// the tools for them do.
	longPrompt = 8 * stepTokensAlone
	// firstClause is about how long a slow machine takes for the words behind a
	// prompt that can be spoken.
	firstClause = time.Second
)

// due is when a request is due at the gate and beside replies. A long prompt cannot
// be answered before it has been read, however early somebody misses the answer; so
// it is due so much later, and sound of a running answer that would otherwise be late
// is made in between. That takes a fraction of the time that it plays. By the moment
// at which the answer is missed, which lies back further and further, a newcomer
// with a prompt of 1,500 tokens went before all of it.
func (o *owner) due(r *request, now time.Time) engine.Need {
	need := r.urgency.Get()
	need.Due = need.Due.Add(o.toRead(r, now))
	return need
}

// toRead is how long all of a long prompt takes to be read, and to be answered
// with the first words.
func (o *owner) toRead(r *request, now time.Time) time.Duration {
	fresh := len(r.prompt) - r.cached
	if r.replying() || !missed(r) || fresh < longPrompt {
		return 0
	}
	return firstClause + o.steps.expect(stepTokensAlone, now)*time.Duration(fresh/stepTokensAlone)
}

// first is the request under way that is due first.
func (o *owner) first(now time.Time) *request {
	return slices.MinFunc(o.running, func(a, b *request) int { return o.due(a, now).Compare(o.due(b, now)) })
}

// atGate is the urgency with which the owner waits at the gate: that of what is due
// first. It follows changes until stop is called.
func (o *owner) atGate(now time.Time) (u *engine.Urgency, stop func()) {
	first := o.first(now)
	later := o.toRead(first, now)
	if later == 0 {
		return first.urgency, func() {}
	}
	need := o.due(first, now)
	u = engine.NewUrgency(need.Priority, need.Due)
	return u, first.urgency.Watch(func() {
		need := first.urgency.Get()
		u.Set(need.Priority, need.Due.Add(later))
	})
}
