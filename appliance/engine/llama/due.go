package llama

import (
	"slices"
	"time"

	"parley/appliance/engine"
)

const (
	// longPromptTokens is from how many tokens on that are still to be read a prompt makes
	// others wait: below it, it takes eight steps at most, as the words of a turn and
	// the tools for them do.
	longPromptTokens = 8 * stepTokensInteractive
	// firstClauseTokens is about how many tokens behind a prompt make words that can be
	// spoken, and firstWordsTime how long they take where nobody knows.
	firstClauseTokens = 16
	firstWordsTime    = time.Second
)

// due is when a request is due at the gate and beside replies. A long prompt cannot
// be answered before it has been read, however early somebody misses the answer; so
// it is due so much later, and sound of a running answer that would otherwise be late
// is made in between. That takes a fraction of the time that it plays. By the moment
// at which the answer is missed, which lies back further and further, a newcomer
// with a prompt of 1,500 tokens went before all of it.
func (o *decoder) due(r *request, now time.Time) engine.Need {
	return r.urgency.Get().NotBefore(o.answerable(r, now))
}

// answerable is when a long prompt can be answered at the earliest: when it has been
// read, and the first words have been written. It is the zero time of other prompts.
func (o *decoder) answerable(r *request, now time.Time) time.Time {
	fresh := len(r.prompt) - r.cached
	if !interactive(r) || fresh < longPromptTokens {
		return time.Time{}
	}
	reading := o.steps.expect(stepTokensInteractive, now) * time.Duration(fresh/stepTokensInteractive)
	return r.startedAt.Add(reading + max(firstWordsTime, firstClauseTokens*o.steps.expect(1, now)))
}

// first is the request under way that is due first.
func (o *decoder) first(now time.Time) *request {
	return slices.MinFunc(o.running, func(a, b *request) int { return o.due(a, now).Compare(o.due(b, now)) })
}

// atGate is the urgency with which the owner waits at the gate: that of what is due
// first. It follows changes until stop is called.
func (o *decoder) atGate(now time.Time) (u *engine.Urgency, stop func()) {
	first := o.first(now)
	at := o.answerable(first, now)
	if at.IsZero() {
		return first.urgency, func() {}
	}
	need := first.urgency.Get().NotBefore(at)
	u = engine.NewUrgency(need.Priority, need.Due)
	return u, first.urgency.Watch(func() {
		need := first.urgency.Get().NotBefore(at)
		u.Set(need.Priority, need.Due)
	})
}
