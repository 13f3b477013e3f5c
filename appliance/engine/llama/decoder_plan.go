package llama

import (
	"cmp"
	"slices"
	"time"

	"parley/appliance/engine"
)

const (
	// replySlack is how far away the due moment of a reply's next words must be for a prompt to be
	// prefilled in the same step. A clause of a dozen tokens takes a second on a slow machine, and
	// a step with prefill takes half a second.
	replySlack = 1500 * time.Millisecond
	// starvingSteps is after how many steps of replies an interactive prompt is prefilled in the
	// same step in any case.
	starvingSteps = 4
	// shortStepsAfterAbort is how many steps stay short after an aborted one: the more urgent
	// caller soon returns, and an aborted step is lost.
	shortStepsAfterAbort = 8
	// minBatchGain is how much faster replies must be together than one after the other: then the
	// last of them is not later than alone, and the first not much. On two slow cores two tokens
	// take 220 ms and one takes 110; where memory bandwidth is the limit, four take little more
	// than one.
	minBatchGain = 1.25
)

// portion is the part of one request in a step.
type portion struct {
	r       *request
	tokens  []Token
	logits  int32 // index of its logits in the batch; -1: none
	guess   guess // what may follow in a reply
	guessed int   // how many of tokens, at their end, are guesses, each with logits
}

// plan fills the batch: first the next tokens of the replies, by due moment, then prompts, likewise
// and the shortest first, within the token budget of the step.
func (d *decoder) plan(cores int) []portion {
	d.batch.empty()
	now := time.Now()
	replies, prompts := d.ordered(now)
	if len(prompts) > 0 && dueBefore(d.due(prompts[0], now), replies) {
		replies = nil
	}
	portions := d.planReplies(replies, now)
	budget := d.promptBudget(cores, portions, prompts, now)
	for i, r := range prompts {
		if d.catchUp(r); r.prefill && len(r.remaining()) == 0 {
			d.finish(r, nil)
			continue
		}
		if d.prefilledByOther(r, prompts[:i]) {
			continue
		}
		n := min(budget, len(r.remaining()), d.batch.left())
		if n == 0 || i > 0 && interactive(prompts[0]) && !interactive(r) {
			break
		}
		budget -= n
		tokens := r.remaining()[:n]
		s := portion{r: r, tokens: tokens, logits: -1}
		wanted := !r.prefill && n == len(r.remaining())
		if at := d.batch.add(r.seq.id, r.decoded(), tokens, wanted); wanted {
			s.logits = at
		}
		portions = append(portions, s)
	}
	portions = d.addHeldReplies(portions)
	if len(prompts) == 0 || !interactive(prompts[0]) {
		d.guess(portions, cores, now)
	}
	return portions
}

// promptStepTokens returns how many prompt tokens a step takes for interactive prompts.
func promptStepTokens(prompts []*request) int {
	all := 0
	for _, r := range prompts {
		if interactive(r) {
			all += len(r.remaining())
		}
	}
	if all <= stepTokensWhole {
		return all
	}
	return stepTokensInteractive
}

// addHeldReplies adds replies that are held back until one of the prompts of the step is computed;
// one more token in such a step costs next to nothing. In steps of their own they would take the
// cores from the prompt that they wait for: the answer of a chat's first turn, whose tool choice
// has to be prefilled, came half a minute late that way.
func (d *decoder) addHeldReplies(portions []portion) []portion {
	for _, r := range d.running {
		if r.replying() && r.held() && d.batch.left() > 0 && slices.ContainsFunc(portions, func(s portion) bool {
			return s.r == r.router
		}) {
			portions = append(portions, d.planReply(r))
		}
	}
	return portions
}

// ordered returns the running requests, the most urgent first, without the replies that are held
// back.
func (d *decoder) ordered(now time.Time) (replies, prompts []*request) {
	for _, r := range d.running {
		switch {
		case !r.replying():
			prompts = append(prompts, r)
		case !r.held():
			replies = append(replies, r)
		}
	}
	byNeed := func(a, b *request) int { return d.due(a, now).Compare(d.due(b, now)) }
	slices.SortStableFunc(replies, byNeed)
	slices.SortStableFunc(prompts, func(a, b *request) int {
		return cmp.Or(byNeed(a, b), cmp.Compare(len(a.remaining()), len(b.remaining())))
	})
	return replies, prompts
}

// dueBefore reports whether a prompt with this need has an answer that is due before the next words
// of all replies, so that they can wait until its prefill ends. A prompt that was prefilled in the
// steps of the replies, a few tokens each, was a second late with four callers.
func dueBefore(need engine.Need, replies []*request) bool {
	before := func(r *request) bool { return need.Compare(r.urgency.Get()) >= 0 }
	return need.Priority >= engine.Speculative && !slices.ContainsFunc(replies, before)
}

// interactive reports whether a user talks with the assistant and waits for r.
func interactive(r *request) bool { return r.urgency.Get().Priority >= engine.Speculative }

// planReplies adds the next token of replies to the batch, the most urgent first. Replies that
// nobody waits for yield to interactive ones, and so do replies that are due later if a step for
// all is not worth it.
func (d *decoder) planReplies(replies []*request, now time.Time) (portions []portion) {
	if someone := slices.ContainsFunc(d.running, interactive); someone {
		replies = slices.DeleteFunc(replies, func(r *request) bool { return !interactive(r) })
	}
	for _, r := range replies[:d.batchedReplies(len(replies), now)] {
		portions = append(portions, d.planReply(r))
	}
	return portions
}

// planReply adds the next token of a reply to the batch.
func (d *decoder) planReply(r *request) portion {
	one := []Token{r.next}
	return portion{r: r, tokens: one, logits: d.batch.add(r.seq.id, r.decoded(), one, true)}
}

// batchedReplies returns how many of the given number of replies one step continues: as many as
// make each token worth its cost.
func (d *decoder) batchedReplies(replies int, now time.Time) int {
	alone := d.steps.expect(1, now)
	for n := replies; n > 1; n-- {
		took := d.steps.expect(n, now)
		if alone == 0 || took == 0 || float64(n)*alone.Seconds() >= minBatchGain*took.Seconds() {
			return n
		}
	}
	return min(replies, 1)
}

// promptBudget returns how many prompt tokens the step takes. For prefetching on one core, while
// the other is in use, it stays the same: a step of two tokens takes half as long as one of
// sixteen.
func (d *decoder) promptBudget(cores int, replies []portion, prompts []*request, now time.Time) int {
	if len(prompts) == 0 {
		return 0
	}
	if len(replies) == 0 {
		d.starved = 0
		switch {
		case interactive(prompts[0]):
			return promptStepTokens(prompts)
		case d.shortSteps > 0 && cores >= d.threadTuner.threads():
			d.shortSteps--
			return stepTokensWithReplies
		}
		return stepTokensPrefetch
	}
	d.starved++
	eased := !slices.ContainsFunc(replies, func(s portion) bool {
		return s.r.urgency.Get().Due.Before(now.Add(replySlack))
	})
	fits := d.steps.fits(stepBudget, now) - len(replies)
	switch {
	case eased, interactive(prompts[0]) && d.starved%starvingSteps == 0:
		return stepTokensWithReplies
	case fits > 0:
		return min(fits, stepTokensWithReplies)
	}
	return 0
}
