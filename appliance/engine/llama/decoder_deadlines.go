package llama

import (
	"slices"
	"time"

	"parley/appliance/engine"
)

const (
	// longPromptTokens is the number of uncached tokens from which a prompt delays others. A
	// shorter one takes at most eight steps, like the words of a turn with its tools.
	longPromptTokens = 8 * stepTokensInteractive
	// firstClauseTokens is about how many tokens make the first words that can be spoken, and
	// firstWordsTime is how long they take if no step was measured.
	firstClauseTokens = 16
	firstWordsTime    = time.Second
)

// due returns when a request is due, at the gate and relative to other requests. A long prompt
// cannot be answered before its prefill has ended, however early the answer is missed. So it is due
// that much later, and the sound of running answers that would otherwise be late is synthesized in
// between, which takes a fraction of its playback time. With the moment at which its answer is
// missed, which lies further and further back, a newcomer with a prompt of 1,500 tokens would go
// before all of that.
func (d *decoder) due(r *request, now time.Time) engine.Need {
	return r.urgency.Get().NotBefore(d.answerable(r, now))
}

// answerable returns when a long prompt can be answered at the earliest: when its prefill has ended
// and the first words are generated. For other prompts it returns the zero time.
func (d *decoder) answerable(r *request, now time.Time) time.Time {
	fresh := len(r.prompt) - r.cached
	if !interactive(r) || fresh < longPromptTokens {
		return time.Time{}
	}
	prefill := d.steps.expect(stepTokensInteractive, now) * time.Duration(fresh/stepTokensInteractive)
	return r.startedAt.Add(prefill + max(firstWordsTime, firstClauseTokens*d.steps.expect(1, now)))
}

// first returns the running request that is due first.
func (d *decoder) first(now time.Time) *request {
	return slices.MinFunc(d.running, func(a, b *request) int { return d.due(a, now).Compare(d.due(b, now)) })
}

// atGate returns the urgency with which the decoder waits at the gate: that of the request that is
// due first. It follows changes until stop is called.
func (d *decoder) atGate(now time.Time) (u *engine.Urgency, stop func()) {
	first := d.first(now)
	at := d.answerable(first, now)
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
