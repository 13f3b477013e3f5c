package llama

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"parley/appliance/engine"
)

// decoder is the one goroutine that uses the context. It decodes for all
// requests at once: each step takes the next token of every reply in progress
// and a piece of the prompts that wait.
type decoder struct {
	lib         *library
	ctx         handle
	vocab       vocabulary
	gate        *engine.Gate
	threadTuner *threadTuner
	// prefillSpeed is told how fast prompts are read.
	prefillSpeed *prefillSpeed
	steps        stepTimes
	// guessing: replies may be looked up in their conversations.
	guessing   bool
	guessStats *guessStats
	abort      *abort
	askAbort   func(bool) // whether libllama asks abort
	cells      int
	mailbox    *mailbox
	prompts    *promptCache // nil: prompts are kept in memory alone
	cache      *cache
	batch      *batch
	log        *slog.Logger

	waiting    []*request // most urgent first, then in order of arrival
	running    []*request // each has a slot
	reserved   int        // cells that running can come to need
	clock      uint64
	diskWork   sync.WaitGroup // of goroutines at the shelf
	starved    int            // steps of replies since a prompt had a step to itself
	shortSteps int            // so many steps are to be short ones
	stepCount  int            // steps
}

// run serves until the mailbox is closed, then ends what is left.
func (o *decoder) run() {
	for o.iterate() {
	}
	o.diskWork.Wait()
	back, _, _ := o.mailbox.takeAll()
	for _, r := range slices.Concat(o.running, o.waiting, back) {
		r.end(ErrClosed)
		o.mailbox.done()
	}
}

// stepOnce decodes once, unless those who wanted it have gone meanwhile, and
// gives the cores back.
func (o *decoder) stepOnce(cores int, leave func()) {
	defer leave()
	if o.takeIn() && len(o.running) > 0 {
		o.step(cores)
	}
}

// enterGate waits for the cores in the name of the most urgent request, of which
// one free is better than none; leave is nil: there was news and it is worth
// asking again.
func (o *decoder) enterGate() (cores int, leave func()) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	u, stop := o.atGate(time.Now())
	defer stop()
	if !o.mailbox.atGate(u.Get(), cancel) {
		return 0, nil
	}
	defer o.mailbox.throughGate()
	cores, leave, err := o.gate.EnterSome(ctx, u, 1, o.threadTuner.threads())
	if err != nil {
		return 0, nil
	}
	return cores, leave
}

// takeIn reads the mailbox, lets those go who left, and gives free slots to
// those who wait. It is false once the mailbox is closed.
func (o *decoder) takeIn() bool {
	arriving, forgets, ok := o.mailbox.takeAll()
	o.waiting = append(o.waiting, arriving...)
	if !ok {
		return false
	}
	slices.SortStableFunc(o.waiting, func(a, b *request) int { return a.urgency.Get().Compare(b.urgency.Get()) })
	o.dropGone()
	for _, conversation := range forgets {
		o.forget(conversation)
	}
	for len(o.waiting) > 0 && o.start(o.waiting[0]) {
		o.waiting = slices.Delete(o.waiting, 0, 1)
	}
	return true
}

func (o *decoder) dropGone() {
	o.waiting = slices.DeleteFunc(o.waiting, func(r *request) bool {
		if r.abandoned.Load() {
			o.mailbox.done()
			return true
		}
		return false
	})
	for _, r := range slices.Clone(o.running) {
		if r.abandoned.Load() {
			o.finish(r, nil)
		}
	}
}

func (o *decoder) forget(conversation string) {
	s := o.cache.ofConversation(conversation)
	switch {
	case s == nil:
	case s.request != nil:
		s.conversation = "" // cleared when its request ends
	default:
		o.clear(s)
	}
}

// start gives r a slot; false: there is none, or too few cells are left.
func (o *decoder) start(r *request) bool {
	if o.fetchPrompt(r) {
		return true // it comes back
	}
	o.restorePrompt(r)
	if r.shared {
		return o.startSharedPrefill(r)
	}
	s := o.cache.ofConversation(r.conversation)
	if s != nil && s.request != nil {
		switch {
		case s.request.prefill: // r goes on from where it is
			o.finish(s.request, nil)
		case r.prefill: // the reply that is being written has all there is
			r.end(nil)
			o.mailbox.done()
			return true
		default:
			s = nil
		}
	}
	if len(o.running) > 0 && o.reserved+r.cells() > o.cells {
		return false
	}
	if s == nil {
		if s = o.cache.idle(false); s == nil {
			return false
		}
		if s.conversation != "" {
			o.clear(s)
		}
	}
	o.clock++
	r.cached = o.cache.fillPrefix(s, r.prompt, r.maxCached(), o.clock)
	o.cache.assign(s, r.conversation)
	s.headTokens = 0
	if r.conversation != "" || r.retainHead {
		s.headTokens = r.headTokens
	}
	o.occupy(s, r)
	return true
}

// occupy has r go on in s.
func (o *decoder) occupy(s *sequence, r *request) {
	s.request, r.seq, r.startStep, r.startedAt = r, s, o.stepCount, time.Now()
	o.running = append(o.running, r)
	o.reserved += r.cells()
	if r.prefill && len(r.remaining()) == 0 {
		o.finish(r, nil)
	}
}

// finish ends r and frees its slot; what was decoded stays in it.
func (o *decoder) finish(r *request, err error) {
	o.clock++
	s := r.seq
	s.request, s.lastUsed = nil, o.clock
	o.releaseHeld(r)
	if errors.Is(err, errNoLogits) {
		o.discardCached(r)
	}
	if s.conversation == "" && !s.prompt {
		o.clear(s)
	}
	kept := r.shared && o.storeSharedPrompt(r)
	o.running = slices.DeleteFunc(o.running, func(other *request) bool { return other == r })
	o.reserved -= r.cells()
	if kept {
		return // it ends when it is on the disk
	}
	r.end(err)
	o.mailbox.done()
}

// releaseHeld lets the replies go that were held until r is over.
func (o *decoder) releaseHeld(r *request) {
	r.decided = true
	for _, other := range o.running {
		if other.router == r && other.replying() {
			other.stepsToFirst = o.stepCount - other.startStep
		}
	}
}

// step decodes once for all who take part, and takes every reply one token on.
func (o *decoder) step(cores int) {
	shares := o.plan(cores)
	if len(shares) == 0 {
		return
	}
	begun := time.Now()
	given, err := o.decode(shares, cores)
	if given {
		if !shares[0].r.replying() { // it was for a prompt alone
			o.shortSteps = shortStepsAfterAbort
		}
		// Who takes part goes on from where it was, after the more urgent.
		for _, s := range shares {
			o.cache.rollBack(s.r.seq)
		}
		o.log.Debug("a step was given up for somebody more urgent", "tokens", o.batch.c.count, "after_ms",
			time.Since(begun).Milliseconds())
		return
	}
	if err != nil {
		for _, s := range shares {
			o.cache.rollBack(s.r.seq)
			o.finish(s.r, err)
		}
		return
	}
	o.stepCount++
	o.recordStep(shares, cores, time.Since(begun))
	for _, s := range shares {
		s.r.seq.tokens = append(s.r.seq.tokens, s.tokens...)
	}
	for _, s := range shares {
		switch {
		case s.logits >= 0:
			o.advance(s)
		case s.r.prefill && len(s.r.remaining()) == 0:
			o.finish(s.r, nil)
		}
	}
}

// recordStep notes how long a step took. With fewer cores than were asked for it
// says nothing about another one.
func (o *decoder) recordStep(shares []portion, cores int, took time.Duration) {
	if cores != o.threadTuner.threads() {
		return
	}
	n, now := int(o.batch.c.count), time.Now()
	o.steps.record(n, took, now)
	o.guessStats.recordCost(n, took, o.steps.expect(1, now), now)
	if !slices.ContainsFunc(shares, func(s portion) bool { return s.r.replying() }) {
		o.prefillSpeed.record(n, took)
	}
	if !slices.ContainsFunc(shares, func(s portion) bool { return !s.r.replying() || s.guessed > 0 }) {
		o.threadTuner.record(len(shares), took)
	}
}

// decode runs the batch; given says that it was given up for somebody more
// urgent. When the cells run out, prompts that the disk has and the caches of
// conversations that wait for their next turn are given up.
func (o *decoder) decode(shares []portion, cores int) (given bool, err error) {
	o.lib.setNThreads(o.ctx, int32(cores), int32(cores))
	now := time.Now()
	took := o.steps.expect(int(o.batch.c.count), now)
	if cores < o.threadTuner.threads() || took == 0 {
		took = time.Second // as good as any guess: it is worth giving up
	}
	if took > minAbortGain && o.cache.divisible {
		need := func() engine.Need { return o.due(o.first(now), now) }
		o.abort.arm(need, took, prefillConversation(shares), o.steps.marginal(int(o.batch.c.count), now))
		o.askAbort(true)
		defer func() {
			o.askAbort(false)
			o.abort.disarm()
		}()
	}
	for {
		switch result := o.lib.decode(o.ctx, o.batch.c); result {
		case 0:
			return false, nil
		case 1: // no room in the cache
			if !o.evict() {
				return false, fmt.Errorf("llama: no cells are left for %d tokens", o.batch.c.count)
			}
		case 2: // libllama removed again what the step had put into the cache
			return true, nil
		default:
			return false, fmt.Errorf("llama: libllama cannot decode: result %d%s", result, o.lib.takeError())
		}
	}
}

// prefillConversation is the conversation that a step reads ahead for, if it does nothing
// else.
func prefillConversation(shares []portion) string {
	conversation := ""
	for _, s := range shares {
		of := strings.TrimSuffix(s.r.conversation, routerSuffix)
		if !s.r.prefill || conversation != "" && of != conversation {
			return ""
		}
		conversation = of
	}
	return conversation
}

// advance takes a request's next token from the logits of this step, and those
// after it as long as what was guessed comes true. What is wrong of it is
// removed.
func (o *decoder) advance(s portion) {
	r := s.r
	for i := 0; ; i++ {
		said := len(r.generated)
		ended, err := o.sampleNext(r, s.logits+int32(i))
		right := o.guessedRight(s, i, len(r.generated) > said)
		if right && i < s.guessed && !ended && err == nil {
			continue
		}
		if keep := r.decoded() - s.guessed + i; keep < r.decoded() {
			if o.cache.truncate(r.seq, keep); r.decoded() != keep {
				err = errors.Join(err, errors.New("llama: libllama does not take back what was guessed"))
			}
		}
		if ended || err != nil {
			o.finish(r, err)
		}
		return
	}
}

// sampleNext picks r's next token and hands its text on; ended says that the reply
// is over. A panic in it is that request's error alone: it touches nothing of
// the others, who share this goroutine.
func (o *decoder) sampleNext(r *request, at int32) (ended bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("llama: choosing a token: panic: %v", p)
			o.log.Error("panic in a reply", "err", err, "stack", string(debug.Stack()))
		}
	}()
	logits := o.lib.getLogitsIth(o.ctx, at)
	if logits == nil {
		return false, fmt.Errorf("llama: no logits for a decoded token%s", o.lib.takeError())
	}
	weights := unsafe.Slice(logits, o.vocab.size)
	if r.onLogits != nil {
		r.onLogits(weights)
		return true, nil
	}
	t, err := r.sample(weights)
	for err == nil && o.vocab.ends(t) && !r.mayEnd() {
		weights = excluding(weights, t)
		t, err = r.sample(weights)
	}
	if err != nil || o.vocab.ends(t) {
		return true, err
	}
	if r.next = t; len(r.generated) == 0 {
		r.stepsToFirst = o.stepCount - r.startStep
	}
	r.generated = append(r.generated, t)
	r.deliver(r.runes.add(o.vocab.piece(t, false)))
	return len(r.generated) >= r.maxTokens || r.grammar == nil && loops(r.generated), nil
}
