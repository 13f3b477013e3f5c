package llama

const (
	// promptSequences is how many prompts are cached in memory, besides those of running
	// conversations: more different prompts than a box talks with at a time. Evicted prompts are
	// restored from disk. Each sequence costs the library the logits of a token, 0.6 MB.
	promptSequences = 16
	// promptFraction is the divisor for the cells that cached prompts may hold: of the default
	// 17,408 cells enough for seven prompts of 600 tokens. Cells shared with conversations are not
	// counted twice.
	promptFraction = 4
	// minFetchTokens is how many more tokens of a prompt the disk must hold than memory to be worth
	// loading, unless it holds all of them: a second of prefill on a slow machine, for which the
	// file is loaded in a tenth of that.
	minFetchTokens = 48
)

// fetchPrompt loads the stored beginning of r's prompt from disk before r starts. It returns false
// if there is nothing to load. For a prompt that the box has never seen, that is the part common to
// all prompts. The file is read on another goroutine, because the decoder must not wait for the
// disk.
func (o *decoder) fetchPrompt(r *request) bool {
	if r.fetched || r.headTokens < minPromptTokens || !o.cache.divisible {
		return false
	}
	head := r.prompt[:r.headTokens]
	known := o.cache.cachedPrefix(head)
	from, alike := o.prompts.closest(head)
	if alike <= known || alike < len(head) && alike < known+minFetchTokens {
		return false
	}
	if r.shared && o.prompts.has(head) && o.cache.promptTokens()+r.headTokens > o.cells/promptFraction {
		return false // nobody waits for it, and another prompt would be evicted
	}
	r.fetched, r.fetchedTokens = true, from
	o.diskWork.Go(func() {
		r.fetchedState = o.prompts.get(from)
		o.mailbox.putBack(r)
	})
	return true
}

// restorePrompt loads what fetchPrompt read into a sequence, as far as r begins with it.
func (o *decoder) restorePrompt(r *request) {
	state, from := r.fetchedState, r.fetchedTokens
	r.fetchedState = nil
	alike := commonPrefix(from, r.prompt[:r.headTokens])
	if state == nil || o.cache.cachedPrefix(r.prompt[:alike]) == alike {
		return
	}
	s := o.cache.idle(true)
	if s == nil {
		return
	}
	o.cache.clear(s)
	for !o.cache.restoreState(s, from, state) {
		if !o.evict() {
			o.log.Warn("libllama rejects a stored prompt; it is computed again", "tokens", len(from))
			return
		}
	}
	o.cache.truncate(s, alike)
	o.clock++
	s.onDisk, s.lastUsed = alike == len(from), o.clock
}

// evict clears a sequence for its cells. It returns false if none is left.
func (o *decoder) evict() bool {
	s := o.cache.evictable()
	if s == nil {
		return false
	}
	o.log.Debug("cached sequence evicted", "tokens", len(s.tokens), "prompt", s.prompt)
	o.cache.clear(s)
	return true
}

// retainPrompt copies the computed part of the prompt of s to a sequence of its own, before s is
// cleared, so that the prompt outlives its conversation.
func (o *decoder) retainPrompt(s *sequence) {
	n := min(s.headTokens, len(s.tokens))
	if n < minPromptTokens || !o.cache.divisible {
		return
	}
	head := s.tokens[:n]
	for _, other := range o.cache.sequences {
		if other != s && commonPrefix(other.tokens, head) == n {
			if other.prompt {
				other.lastUsed = o.clock
				return
			}
			if other.headTokens >= n { // which will retain it later
				return
			}
		}
	}
	to := o.cache.idle(true)
	if to == nil {
		return
	}
	o.cache.clear(to)
	o.cache.copy(s, to, n)
	to.lastUsed = o.clock
	o.limitPrompts(to)
}

// clear clears the conversation in s and retains its prompt.
func (o *decoder) clear(s *sequence) {
	o.retainPrompt(s)
	o.cache.clear(s)
}

// maxCached returns how many tokens of r's prompt may come from the cache. The last token is
// decoded again if its logits are needed.
func (r *request) maxCached() int {
	if r.prefill {
		return len(r.prompt)
	}
	return len(r.prompt) - 1
}

// catchUp gives r what other requests have meanwhile computed of its prompt.
func (o *decoder) catchUp(r *request) {
	if had := r.decoded(); had < r.maxCached() {
		r.cached += o.cache.fillPrefix(r.seq, r.prompt, r.maxCached(), o.clock) - had
	}
}

// prefilledByOther reports whether one of others, which are prefilled before r, is about to compute
// what r needs next.
func (o *decoder) prefilledByOther(r *request, others []*request) bool {
	if !o.cache.divisible {
		return false
	}
	for _, other := range others {
		if commonPrefix(other.prompt, r.prompt) > r.decoded()+minCopyTokens && other.decoded() >= r.decoded() {
			return true
		}
	}
	return false
}

// limitPrompts evicts the prompts least recently used, except newest, while prompts hold more than
// their fraction of the cells.
func (o *decoder) limitPrompts(newest *sequence) {
	for o.cache.promptTokens() > o.cells/promptFraction {
		var oldest *sequence
		for _, s := range o.cache.sequences {
			if s.prompt && s != newest && s.request == nil && len(s.tokens) > 0 &&
				(oldest == nil || s.lastUsed < oldest.lastUsed) {
				oldest = s
			}
		}
		if oldest == nil {
			return
		}
		o.cache.clear(oldest)
	}
}

// startSharedPrefill starts r, a prefill for all future conversations. It returns false if no
// sequence is free yet.
func (o *decoder) startSharedPrefill(r *request) bool {
	s := o.cache.ofPrompt(r.prompt)
	switch {
	case len(r.prompt) < minPromptTokens || !o.cache.divisible,
		s == nil && o.prompts.has(r.prompt), // it is loaded when it is needed
		s != nil && s.request != nil:        // another request computes it
		r.end(nil)
		o.mailbox.done()
		return true
	case len(o.running) > 0 && o.reserved+r.cells() > o.cells:
		return false
	case s == nil:
		if s = o.cache.idle(true); s == nil {
			return false
		}
	}
	o.clock++
	r.cached = o.cache.fillPrefix(s, r.prompt, len(r.prompt), o.clock)
	o.occupy(s, r)
	return true
}

// storeSharedPrompt stores the prompt of r, a finished prefill for all conversations, on disk and
// ends r afterwards. It returns false if there is nothing to wait for.
func (o *decoder) storeSharedPrompt(r *request) bool {
	s := r.seq
	if len(s.tokens) < len(r.prompt) {
		return false
	}
	o.limitPrompts(s)
	if o.prompts == nil || s.onDisk {
		return false
	}
	s.onDisk = true // or will be; if the disk fails, it is computed again one day
	if o.prompts.has(r.prompt) {
		return false
	}
	state := o.cache.saveState(s)
	o.diskWork.Go(func() {
		o.prompts.put(r.prompt, state)
		r.end(nil)
		o.mailbox.done()
	})
	return true
}
