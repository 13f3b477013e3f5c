package llama

const (
	// promptSequences is how many prompts are cached in memory, besides those of running
	// conversations: more different prompts than a box talks with at a time. Evicted prompts are
	// restored from disk. Each sequence costs the library the logits of a token, 0.6 MB.
	promptSequences = 16
	// promptCellsDivisor is the divisor for the cells that cached prompts may hold: of the default
	// 17,408 cells enough for seven prompts of 600 tokens. Cells shared with conversations are not
	// counted twice.
	promptCellsDivisor = 4
	// minFetchTokens is how many more tokens of a prompt the disk must hold than memory to be worth
	// loading, unless it holds all of them: a second of prefill on a slow machine, for which the
	// file is loaded in a tenth of that.
	minFetchTokens = 48
)

// fetchPrompt loads the stored beginning of r's prompt from disk before r starts. It returns false
// if there is nothing to load. For a prompt that the box has never seen, that is the part common to
// all prompts. The file is read on another goroutine, because the decoder must not wait for the
// disk.
func (d *decoder) fetchPrompt(r *request) bool {
	if r.fetched || r.headTokens < minPromptTokens || !d.cache.divisible {
		return false
	}
	head := r.prompt[:r.headTokens]
	known := d.cache.cachedPrefix(head)
	from, alike := d.prompts.closest(head)
	if alike <= known || alike < len(head) && alike < known+minFetchTokens {
		return false
	}
	if r.shared && d.prompts.has(head) && d.cache.promptTokens()+r.headTokens > d.cells/promptCellsDivisor {
		return false // nobody waits for it, and another prompt would be evicted
	}
	r.fetched, r.fetchedTokens = true, from
	d.diskWork.Go(func() {
		r.fetchedState = d.prompts.get(from)
		d.mailbox.putBack(r)
	})
	return true
}

// restorePrompt loads what fetchPrompt read into a sequence, as far as r begins with it.
func (d *decoder) restorePrompt(r *request) {
	state, from := r.fetchedState, r.fetchedTokens
	r.fetchedState = nil
	alike := commonPrefix(from, r.prompt[:r.headTokens])
	if state == nil || d.cache.cachedPrefix(r.prompt[:alike]) == alike {
		return
	}
	s := d.cache.idle(true)
	if s == nil {
		return
	}
	d.cache.clear(s)
	for !d.cache.restoreState(s, from, state) {
		if !d.evict() {
			d.log.Warn("libllama rejects a stored prompt; it is computed again", "tokens", len(from))
			return
		}
	}
	d.cache.truncate(s, alike)
	d.clock++
	s.onDisk, s.lastUsed = alike == len(from), d.clock
}

// evict clears a sequence for its cells. It returns false if none is left.
func (d *decoder) evict() bool {
	s := d.cache.evictable()
	if s == nil {
		return false
	}
	d.log.Debug("cached sequence evicted", "tokens", len(s.tokens), "prompt", s.prompt)
	d.cache.clear(s)
	return true
}

// retainPrompt copies the computed part of the prompt of s to a sequence of its own, before s is
// cleared, so that the prompt outlives its conversation.
func (d *decoder) retainPrompt(s *sequence) {
	n := min(s.headTokens, len(s.tokens))
	if n < minPromptTokens || !d.cache.divisible {
		return
	}
	head := s.tokens[:n]
	for _, other := range d.cache.sequences {
		if other != s && commonPrefix(other.tokens, head) == n {
			if other.prompt {
				other.lastUsed = d.clock
				return
			}
			if other.headTokens >= n { // which will retain it later
				return
			}
		}
	}
	to := d.cache.idle(true)
	if to == nil {
		return
	}
	d.cache.clear(to)
	d.cache.copy(s, to, n)
	to.lastUsed = d.clock
	d.limitPrompts(to)
}

// clear clears the conversation in s and retains its prompt.
func (d *decoder) clear(s *sequence) {
	d.retainPrompt(s)
	d.cache.clear(s)
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
func (d *decoder) catchUp(r *request) {
	if had := r.decoded(); had < r.maxCached() {
		r.cached += d.cache.fillPrefix(r.seq, r.prompt, r.maxCached(), d.clock) - had
	}
}

// prefilledByOther reports whether one of others, which are prefilled before r, is about to compute
// what r needs next.
func (d *decoder) prefilledByOther(r *request, others []*request) bool {
	if !d.cache.divisible {
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
func (d *decoder) limitPrompts(newest *sequence) {
	for d.cache.promptTokens() > d.cells/promptCellsDivisor {
		var oldest *sequence
		for _, s := range d.cache.sequences {
			if s.prompt && s != newest && s.request == nil && len(s.tokens) > 0 &&
				(oldest == nil || s.lastUsed < oldest.lastUsed) {
				oldest = s
			}
		}
		if oldest == nil {
			return
		}
		d.cache.clear(oldest)
	}
}

// startSharedPrefill starts r, a prefill for all future conversations. It returns false if no
// sequence is free yet.
func (d *decoder) startSharedPrefill(r *request) bool {
	s := d.cache.ofPrompt(r.prompt)
	switch {
	case len(r.prompt) < minPromptTokens || !d.cache.divisible,
		s == nil && d.prompts.has(r.prompt), // it is loaded when it is needed
		s != nil && s.request != nil:        // another request computes it
		r.end(nil)
		d.mailbox.done()
		return true
	case len(d.running) > 0 && d.reserved+r.cells() > d.cells:
		return false
	case s == nil:
		if s = d.cache.idle(true); s == nil {
			return false
		}
	}
	d.clock++
	r.cached = d.cache.fillPrefix(s, r.prompt, len(r.prompt), d.clock)
	d.occupy(s, r)
	return true
}

// storeSharedPrompt stores the prompt of r, a finished prefill for all conversations, on disk and
// ends r afterwards. It returns false if there is nothing to wait for.
func (d *decoder) storeSharedPrompt(r *request) bool {
	s := r.seq
	if len(s.tokens) < len(r.prompt) {
		return false
	}
	d.limitPrompts(s)
	if d.prompts == nil || s.onDisk {
		return false
	}
	s.onDisk = true // or will be; if the disk fails, it is computed again one day
	if d.prompts.has(r.prompt) {
		return false
	}
	state := d.cache.saveState(s)
	d.diskWork.Go(func() {
		d.prompts.put(r.prompt, state)
		r.end(nil)
		d.mailbox.done()
	})
	return true
}
