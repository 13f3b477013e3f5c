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

// decoder is the one goroutine that uses the llama.cpp context. It decodes for all requests at
// once: each step takes the next token of every running reply and part of the waiting prompts.
type decoder struct {
	lib         *library
	ctx         handle
	vocab       vocabulary
	gate        *engine.Gate
	threadTuner *threadTuner
	// prefillSpeed records how fast prompts are computed.
	prefillSpeed *prefillSpeed
	steps        stepTimes
	// guessing says that replies may be guessed from their conversations.
	guessing   bool
	guessStats *guessStats
	abort      *abort
	askAbort   func(bool) // turns libllama's abort callback on or off
	cells      int
	mailbox    *mailbox
	prompts    *promptCache // nil: prompts are cached in memory only
	cache      *cache
	batch      *batch
	log        *slog.Logger

	waiting    []*request     // most urgent first, then in order of arrival
	running    []*request     // each has a sequence
	reserved   int            // cells that the running requests may need
	clock      uint64         // logical clock for the use of sequences
	diskWork   sync.WaitGroup // goroutines that use the prompt cache
	starved    int            // steps of replies since a prompt was prefilled alone
	shortSteps int            // how many of the next steps must be short
	stepCount  int            // steps so far
}

// run serves requests until the mailbox is closed, then ends the remaining ones.
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

// stepOnce decodes one step, unless its requests were abandoned meanwhile, and releases the cores.
func (o *decoder) stepOnce(cores int, leave func()) {
	defer leave()
	if o.takeIn() && len(o.running) > 0 {
		o.step(cores)
	}
}

// enterGate waits for cores on behalf of the most urgent request; one free core is better than
// none. leave is nil if something arrived and the decoder has to look again.
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

// takeIn empties the mailbox, ends abandoned requests, and starts waiting ones as far as there are
// sequences. It returns false once the mailbox is closed.
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

// dropGone ends the requests that were abandoned.
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
		s.conversation = "" // it is cleared when its request ends
	default:
		o.clear(s)
	}
}

// start gives r a sequence. It returns false if there is none or too few cells are free.
func (o *decoder) start(r *request) bool {
	if o.fetchPrompt(r) {
		return true // it is put back into the mailbox
	}
	o.restorePrompt(r)
	if r.shared {
		return o.startSharedPrefill(r)
	}
	s := o.cache.ofConversation(r.conversation)
	if s != nil && s.request != nil {
		switch {
		case s.request.prefill: // r continues from there
			o.finish(s.request, nil)
		case r.prefill: // the reply in progress covers everything that r could prefill
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

// occupy gives the sequence s to r.
func (o *decoder) occupy(s *sequence, r *request) {
	s.request, r.seq, r.startStep, r.startedAt = r, s, o.stepCount, time.Now()
	o.running = append(o.running, r)
	o.reserved += r.cells()
	if r.prefill && len(r.remaining()) == 0 {
		o.finish(r, nil)
	}
}

// finish ends r and releases its sequence, which keeps the decoded tokens.
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
		return // it ends when the prompt is on disk
	}
	r.end(err)
	o.mailbox.done()
}

// releaseHeld releases the replies that were held back until r finished.
func (o *decoder) releaseHeld(r *request) {
	r.decided = true
	for _, other := range o.running {
		if other.router == r && other.replying() {
			other.stepsToFirst = o.stepCount - other.startStep
		}
	}
}

// step decodes one batch and advances every reply by a token.
func (o *decoder) step(cores int) {
	shares := o.plan(cores)
	if len(shares) == 0 {
		return
	}
	begun := time.Now()
	given, err := o.decode(shares, cores)
	if given {
		if !shares[0].r.replying() { // the step only computed prompts
			o.shortSteps = shortStepsAfterAbort
		}
		// The requests of the step continue after the more urgent one.
		for _, s := range shares {
			o.cache.rollBack(s.r.seq)
		}
		o.log.Debug("a step was aborted for more urgent work", "tokens", o.batch.c.count, "after_ms",
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

// recordStep records the duration of a step. A step with fewer cores than requested says nothing
// about others.
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

// decode runs the batch; given says that it was aborted for more urgent work. If the cells run out,
// decode evicts prompts that are on disk and the caches of idle conversations.
func (o *decoder) decode(shares []portion, cores int) (given bool, err error) {
	o.lib.setNThreads(o.ctx, int32(cores), int32(cores))
	now := time.Now()
	took := o.steps.expect(int(o.batch.c.count), now)
	if cores < o.threadTuner.threads() || took == 0 {
		took = time.Second // unknown: assume that aborting is worthwhile
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
		case 1: // no free cells
			if !o.evict() {
				return false, fmt.Errorf("llama: no free cells for %d tokens", o.batch.c.count)
			}
		case 2: // libllama has removed the step's tokens from the cache
			return true, nil
		default:
			return false, fmt.Errorf("llama: libllama failed to decode: result %d%s", result, o.lib.takeError())
		}
	}
}

// prefillConversation returns the conversation for which a step prefills, if it does nothing else.
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

// advance samples the request's next token from the logits of the step, and further tokens as long
// as the guesses are right. It removes wrong guesses from the cache.
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
				err = errors.Join(err, errors.New("llama: libllama cannot remove guessed tokens"))
			}
		}
		if ended || err != nil {
			o.finish(r, err)
		}
		return
	}
}

// sampleNext samples r's next token and delivers its text; ended says that the reply is complete. A
// panic in it becomes an error of this request alone, since it touches nothing of the others.
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
