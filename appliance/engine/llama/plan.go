package llama

import (
	"cmp"
	"slices"
	"time"

	"parley/appliance/engine"
)

const (
	// replySlack is how far off the moment must be at which a reply's next words are
	// missed for a prompt to be read beside it: a clause of a dozen tokens takes
	// a second on a slow machine, and a step that reads half of one.
	replySlack = 1500 * time.Millisecond
	// starvingSteps is after how many steps of replies a prompt that somebody waits
	// for is read beside them all the same.
	starvingSteps = 4
	// shortStepsAfterAbort is how many steps are short after one that was given up: whoever
	// came then comes again soon, and what is given up is lost.
	shortStepsAfterAbort = 8
	// minBatchGain is how much quicker replies have to be written together than
	// one after the other: then the last of them is not later than it would have
	// been, and the first not much. On two slow cores two tokens take 220 ms, one
	// 110; where memory is what is waited for, four take little more than one.
	minBatchGain = 1.25
)

// share is one request's part of a step.
type portion struct {
	r       *request
	tokens  []Token
	logits  int32 // where in the batch its logits are; -1: none
	guess   guess // what may follow in a reply
	guessed int   // so many of tokens, the last ones, are of it, each with its logits
}

// plan fills the batch: first the next token of the replies, the one due first
// before the others, then prompts, likewise and the shortest first, as far as
// the step has room.
func (o *decoder) plan(cores int) []portion {
	o.batch.empty()
	now := time.Now()
	replies, prompts := o.ordered(now)
	if len(prompts) > 0 && dueBefore(o.due(prompts[0], now), replies) {
		replies = nil
	}
	shares := o.planReplies(replies, now)
	room := o.promptBudget(cores, shares, prompts, now)
	for i, r := range prompts {
		if o.catchUp(r); r.prefill && len(r.remaining()) == 0 {
			o.finish(r, nil)
			continue
		}
		if o.prefilledByOther(r, prompts[:i]) {
			continue
		}
		n := min(room, len(r.remaining()), o.batch.left())
		if n == 0 || i > 0 && interactive(prompts[0]) && !interactive(r) {
			break
		}
		room -= n
		tokens := r.remaining()[:n]
		s := portion{r: r, tokens: tokens, logits: -1}
		wanted := !r.prefill && n == len(r.remaining())
		if at := o.batch.add(r.seq.id, r.decoded(), tokens, wanted); wanted {
			s.logits = at
		}
		shares = append(shares, s)
	}
	shares = o.addHeldReplies(shares)
	if len(prompts) == 0 || !interactive(prompts[0]) {
		o.guess(shares, cores, now)
	}
	return shares
}

// promptStepTokens is how many tokens a step takes of prompts that somebody waits for.
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

// addHeldReplies takes those replies along that are held until one of the prompts of the
// step is read: a token more in such a step costs next to nothing. On their own
// account they would keep the cores from what they wait for; of a chat's first turn,
// whose choice of tools has to be read, the answer came half a minute late.
func (o *decoder) addHeldReplies(shares []portion) []portion {
	for _, r := range o.running {
		if r.replying() && r.held() && o.batch.left() > 0 && slices.ContainsFunc(shares, func(s portion) bool {
			return s.r == r.router
		}) {
			shares = append(shares, o.planReply(r))
		}
	}
	return shares
}

// ordered are the requests under way, the most urgent first, without the replies
// that are held.
func (o *decoder) ordered(now time.Time) (replies, prompts []*request) {
	for _, r := range o.running {
		switch {
		case !r.replying():
			prompts = append(prompts, r)
		case !r.held():
			replies = append(replies, r)
		}
	}
	byNeed := func(a, b *request) int { return o.due(a, now).Compare(o.due(b, now)) }
	slices.SortStableFunc(replies, byNeed)
	slices.SortStableFunc(prompts, func(a, b *request) int {
		return cmp.Or(byNeed(a, b), cmp.Compare(len(a.remaining()), len(b.remaining())))
	})
	return replies, prompts
}

// dueBefore tells whether a prompt of that need has an answer that is due before what any of
// the replies comes to next: then they can wait until it is read. One that was
// read beside them, a few tokens a step, came a second late with four callers.
func dueBefore(need engine.Need, replies []*request) bool {
	before := func(r *request) bool { return need.Compare(r.urgency.Get()) >= 0 }
	return need.Priority >= engine.Speculative && !slices.ContainsFunc(replies, before)
}

// interactive tells whether somebody talks with the assistant and misses r.
func interactive(r *request) bool { return r.urgency.Get().Priority >= engine.Speculative }

// planReplies puts the next token of replies into the batch, of the most urgent
// first. Those that nobody misses stand back for those that somebody does, and
// those that are due later where a step for all is not worth it.
func (o *decoder) planReplies(replies []*request, now time.Time) (shares []portion) {
	if someone := slices.ContainsFunc(o.running, interactive); someone {
		replies = slices.DeleteFunc(replies, func(r *request) bool { return !interactive(r) })
	}
	for _, r := range replies[:o.batchedReplies(len(replies), now)] {
		shares = append(shares, o.planReply(r))
	}
	return shares
}

// planReply puts the next token of a reply into the batch.
func (o *decoder) planReply(r *request) portion {
	one := []Token{r.next}
	return portion{r: r, tokens: one, logits: o.batch.add(r.seq.id, r.decoded(), one, true)}
}

// batchedReplies is how many of so many replies are taken on by one step: as many as
// make each token worth its while.
func (o *decoder) batchedReplies(replies int, now time.Time) int {
	alone := o.steps.expect(1, now)
	for n := replies; n > 1; n-- {
		took := o.steps.expect(n, now)
		if alone == 0 || took == 0 || float64(n)*alone.Seconds() >= minBatchGain*took.Seconds() {
			return n
		}
	}
	return min(replies, 1)
}

// room is how many tokens of prompts the step takes beside replies. Of reading
// ahead with one core, beside who has the other, it is as many as ever: a step of
// two tokens takes half as long as one of sixteen.
func (o *decoder) promptBudget(cores int, replies []portion, prompts []*request, now time.Time) int {
	if len(prompts) == 0 {
		return 0
	}
	if len(replies) == 0 {
		o.starved = 0
		switch {
		case interactive(prompts[0]):
			return promptStepTokens(prompts)
		case o.shortSteps > 0 && cores >= o.threadTuner.threads():
			o.shortSteps--
			return stepTokensWithReplies
		}
		return stepTokensPrefetch
	}
	o.starved++
	eased := !slices.ContainsFunc(replies, func(s portion) bool {
		return s.r.urgency.Get().Due.Before(now.Add(replySlack))
	})
	fits := o.steps.fits(stepBudget, now) - len(replies)
	switch {
	case eased, interactive(prompts[0]) && o.starved%starvingSteps == 0:
		return stepTokensWithReplies
	case fits > 0:
		return min(fits, stepTokensWithReplies)
	}
	return 0
}
