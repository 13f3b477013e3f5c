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
func (d *decoder) run() {
	for d.iterate() {
	}
	d.diskWork.Wait()
	back, _, _ := d.mailbox.takeAll()
	for _, r := range slices.Concat(d.running, d.waiting, back) {
		r.end(ErrClosed)
		d.mailbox.done()
	}
}

// stepOnce decodes one step, unless its requests were abandoned meanwhile, and releases the cores.
func (d *decoder) stepOnce(cores int, leave func()) {
	defer leave()
	if d.takeIn() && len(d.running) > 0 {
		d.step(cores)
	}
}

// enterGate waits for cores on behalf of the most urgent request; one free core is better than
// none. leave is nil if something arrived and the decoder has to look again.
func (d *decoder) enterGate() (cores int, leave func()) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	u, stop := d.atGate(time.Now())
	defer stop()
	if !d.mailbox.atGate(u.Get(), cancel) {
		return 0, nil
	}
	defer d.mailbox.leftGate()
	cores, leave, err := d.gate.EnterSome(ctx, u, 1, d.threadTuner.threads())
	if err != nil {
		return 0, nil
	}
	return cores, leave
}

// takeIn empties the mailbox, ends abandoned requests, and starts waiting ones as far as there are
// sequences. It returns false once the mailbox is closed.
func (d *decoder) takeIn() bool {
	arriving, forgets, ok := d.mailbox.takeAll()
	d.waiting = append(d.waiting, arriving...)
	if !ok {
		return false
	}
	slices.SortStableFunc(d.waiting, func(a, b *request) int { return a.urgency.Get().Compare(b.urgency.Get()) })
	d.dropGone()
	for _, conversation := range forgets {
		d.forget(conversation)
	}
	for len(d.waiting) > 0 && d.start(d.waiting[0]) {
		d.waiting = slices.Delete(d.waiting, 0, 1)
	}
	return true
}

// dropGone ends the requests that were abandoned.
func (d *decoder) dropGone() {
	d.waiting = slices.DeleteFunc(d.waiting, func(r *request) bool {
		if r.abandoned.Load() {
			d.mailbox.done()
			return true
		}
		return false
	})
	for _, r := range slices.Clone(d.running) {
		if r.abandoned.Load() {
			d.finish(r, nil)
		}
	}
}

func (d *decoder) forget(conversation string) {
	s := d.cache.ofConversation(conversation)
	switch {
	case s == nil:
	case s.request != nil:
		s.conversation = "" // it is cleared when its request ends
	default:
		d.clear(s)
	}
}

// start gives r a sequence. It returns false if there is none or too few cells are free.
func (d *decoder) start(r *request) bool {
	if d.fetchPrompt(r) {
		return true // it is put back into the mailbox
	}
	d.restorePrompt(r)
	if r.shared {
		return d.startSharedPrefill(r)
	}
	s := d.cache.ofConversation(r.conversation)
	if s != nil && s.request != nil {
		switch {
		case s.request.prefill: // r continues from there
			d.finish(s.request, nil)
		case r.prefill: // the reply in progress covers everything that r could prefill
			r.end(nil)
			d.mailbox.done()
			return true
		default:
			s = nil
		}
	}
	if len(d.running) > 0 && d.reserved+r.cells() > d.cells || d.crowds(r) {
		return false
	}
	if s == nil {
		if s = d.cache.idle(false); s == nil {
			return false
		}
		if s.conversation != "" {
			d.clear(s)
		}
	}
	d.clock++
	r.cached = d.cache.fillPrefix(s, r.prompt, r.maxCached(), d.clock)
	d.cache.assign(s, r.conversation)
	s.headTokens = 0
	if r.conversation != "" || r.retainHead {
		s.headTokens = r.headTokens
	}
	d.occupy(s, r)
	return true
}

// crowds reports whether replies that nobody waits for in a conversation would hold more than half
// of the cells with r. A reply that somebody waits for then always finds cells at once, since one
// conversation has fewer than half (conversationTokens).
func (d *decoder) crowds(r *request) bool {
	if r.prefill || interactive(r) {
		return false
	}
	held := 0
	for _, other := range d.running {
		if !other.prefill && !interactive(other) {
			held += other.cells()
		}
	}
	return held > 0 && held+r.cells() > d.cells/2
}

// occupy gives the sequence s to r.
func (d *decoder) occupy(s *sequence, r *request) {
	if !r.prefill {
		s.background = !interactive(r)
	}
	s.request, r.seq, r.startStep, r.startedAt = r, s, d.stepCount, time.Now()
	d.running = append(d.running, r)
	d.reserved += r.cells()
	if r.prefill && len(r.remaining()) == 0 {
		d.finish(r, nil)
	}
}

// finish ends r and releases its sequence, which keeps the decoded tokens.
func (d *decoder) finish(r *request, err error) {
	d.clock++
	s := r.seq
	s.request, s.lastUsed = nil, d.clock
	d.releaseHeld(r)
	if errors.Is(err, errNoLogits) {
		d.discardCached(r)
	}
	if s.conversation == "" && !s.prompt {
		d.clear(s)
	}
	stored := r.shared && d.storeSharedPrompt(r)
	d.running = slices.DeleteFunc(d.running, func(other *request) bool { return other == r })
	d.reserved -= r.cells()
	if stored {
		return // it ends when the prompt is on disk
	}
	r.end(err)
	d.mailbox.done()
}

// releaseHeld releases the replies that were held back until r finished.
func (d *decoder) releaseHeld(r *request) {
	r.decided = true
	for _, other := range d.running {
		if other.router == r && other.replying() {
			other.stepsToFirst = d.stepCount - other.startStep
		}
	}
}

// step decodes one batch and advances every reply by a token.
func (d *decoder) step(cores int) {
	portions := d.plan(cores)
	if len(portions) == 0 {
		return
	}
	begun := time.Now()
	given, err := d.decode(portions, cores)
	if given {
		if !portions[0].r.replying() { // the step only computed prompts
			d.shortSteps = shortStepsAfterAbort
		}
		// The requests of the step continue after the more urgent one.
		for _, s := range portions {
			d.cache.rollBack(s.r.seq)
		}
		d.log.Debug("a step was aborted for more urgent work", "tokens", d.batch.c.count, "after_ms",
			time.Since(begun).Milliseconds())
		return
	}
	if err != nil {
		for _, s := range portions {
			d.cache.rollBack(s.r.seq)
			d.finish(s.r, err)
		}
		return
	}
	d.stepCount++
	d.recordStep(portions, cores, time.Since(begun))
	for _, s := range portions {
		s.r.seq.tokens = append(s.r.seq.tokens, s.tokens...)
	}
	for _, s := range portions {
		switch {
		case s.logits >= 0:
			d.advance(s)
		case s.r.prefill && len(s.r.remaining()) == 0:
			d.finish(s.r, nil)
		}
	}
}

// recordStep records the duration of a step. A step with fewer cores than requested says nothing
// about others.
func (d *decoder) recordStep(portions []portion, cores int, took time.Duration) {
	if cores != d.threadTuner.threads() {
		return
	}
	n, now := int(d.batch.c.count), time.Now()
	d.steps.record(n, took, now)
	d.guessStats.recordCost(n, took, d.steps.expect(1, now), now)
	if !slices.ContainsFunc(portions, func(s portion) bool { return s.r.replying() }) {
		d.prefillSpeed.record(n, took)
	}
	if !slices.ContainsFunc(portions, func(s portion) bool { return !s.r.replying() || s.guessed > 0 }) {
		d.threadTuner.record(len(portions), took)
	}
}

// decode runs the batch; given says that it was aborted for more urgent work. If the cells run out,
// decode evicts prompts that are on disk and the caches of idle conversations.
func (d *decoder) decode(portions []portion, cores int) (given bool, err error) {
	d.lib.setNThreads(d.ctx, int32(cores), int32(cores))
	now := time.Now()
	took := d.steps.expect(int(d.batch.c.count), now)
	if cores < d.threadTuner.threads() || took == 0 {
		took = time.Second // unknown: assume that aborting is worthwhile
	}
	if took > minAbortGain && d.cache.divisible {
		need := func() engine.Need { return d.due(d.first(now), now) }
		d.abort.arm(need, took, prefillConversation(portions), d.steps.marginal(int(d.batch.c.count), now))
		d.askAbort(true)
		defer func() {
			d.askAbort(false)
			d.abort.disarm()
		}()
	}
	for {
		switch result := d.lib.decode(d.ctx, d.batch.c); result {
		case 0:
			return false, nil
		case 1: // no free cells
			if !d.evict() {
				return false, fmt.Errorf("llama: no free cells for %d tokens", d.batch.c.count)
			}
		case 2: // libllama has removed the step's tokens from the cache
			return true, nil
		default:
			return false, fmt.Errorf("llama: libllama failed to decode: result %d%s", result, d.lib.takeError())
		}
	}
}

// prefillConversation returns the conversation for which a step prefills, if it does nothing else.
func prefillConversation(portions []portion) string {
	conversation := ""
	for _, s := range portions {
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
func (d *decoder) advance(s portion) {
	r := s.r
	for i := 0; ; i++ {
		said := len(r.generated)
		ended, err := d.sampleNext(r, s.logits+int32(i))
		right := d.guessedRight(s, i, len(r.generated) > said)
		if right && i < s.guessed && !ended && err == nil {
			continue
		}
		if keep := r.decoded() - s.guessed + i; keep < r.decoded() {
			if d.cache.truncate(r.seq, keep); r.decoded() != keep {
				err = errors.Join(err, errors.New("llama: libllama cannot remove guessed tokens"))
			}
		}
		if ended || err != nil {
			d.finish(r, err)
		}
		return
	}
}

// sampleNext samples r's next token and delivers its text; ended says that the reply is complete. A
// panic in it becomes an error of this request alone, since it touches nothing of the others.
func (d *decoder) sampleNext(r *request, at int32) (ended bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("llama: choosing a token: panic: %v", p)
			d.log.Error("panic in a reply", "err", err, "stack", string(debug.Stack()))
		}
	}()
	logits := d.lib.getLogitsIth(d.ctx, at)
	if logits == nil {
		return false, fmt.Errorf("llama: no logits for a decoded token%s", d.lib.takeError())
	}
	weights := unsafe.Slice(logits, d.vocab.size)
	if r.onLogits != nil {
		r.onLogits(weights)
		return true, nil
	}
	t, err := r.sample(weights)
	for err == nil && d.vocab.ends(t) && !r.mayEnd() {
		weights = excluding(weights, t)
		t, err = r.sample(weights)
	}
	if err != nil || d.vocab.ends(t) {
		return true, err
	}
	if r.next = t; len(r.generated) == 0 {
		r.stepsToFirst = d.stepCount - r.startStep
	}
	r.generated = append(r.generated, t)
	r.deliver(r.runes.add(d.vocab.piece(t, false)))
	return len(r.generated) >= r.maxTokens || r.grammar == nil && loops(r.generated), nil
}
