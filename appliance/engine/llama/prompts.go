package llama

const (
	// promptSequences is how many prompts are kept in memory beside those that
	// conversations go on from: more different ones than a box talks with at a
	// time. Those given up come back from the disk. Each costs the library
	// room for a token's logits, 0.6 MB.
	promptSequences = 16
	// promptFraction is the part of the cells that prompts may hold for
	// conversations to come: of the default 17,408 cells enough for seven of
	// 600 tokens. What they share with conversations takes no cells.
	promptFraction = 4
	// minFetchTokens is how many more tokens of a prompt the disk must have than memory
	// for them to be brought from there, unless those are all: a second's reading on a
	// slow machine, where the file is there in a tenth of that.
	minFetchTokens = 48
)

// fetchPrompt has what the disk keeps of the beginning of r's prompt brought into memory
// before r starts; false: there is nothing to bring. Of a prompt that the box has never
// seen that is what all of them begin with. It is read beside the owner, who must not
// wait for a disk.
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
		return false // nobody waits for it, and another would have to go
	}
	r.fetched, r.fetchedTokens = true, from
	o.diskWork.Go(func() {
		r.fetchedState = o.prompts.get(from)
		o.mailbox.putBack(r)
	})
	return true
}

// restorePrompt puts into a slot what fetch brought, as far as r begins with it.
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
			o.log.Warn("libllama does not take a prompt that was kept; it is read anew", "tokens", len(from))
			return
		}
	}
	o.cache.truncate(s, alike)
	o.clock++
	s.onDisk, s.lastUsed = alike == len(from), o.clock
}

// evict gives up a slot for its cells; false: none is left.
func (o *decoder) evict() bool {
	s := o.cache.evictable()
	if s == nil {
		return false
	}
	o.log.Debug("kept cache given up", "tokens", len(s.tokens), "prompt", s.prompt)
	o.cache.clear(s)
	return true
}

// retainPrompt gives the prompt that s begins with, as far as it was read, a slot
// of its own before s is cleared: it outlives its conversation.
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
			if other.headTokens >= n { // which keeps it in its turn
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

// clear forgets the conversation in s, and keeps its prompt.
func (o *decoder) clear(s *sequence) {
	o.retainPrompt(s)
	o.cache.clear(s)
}

// maxCached is how much of r's prompt may come out of the cache: the last token is
// decoded again where its logits are wanted.
func (r *request) maxCached() int {
	if r.prefill {
		return len(r.prompt)
	}
	return len(r.prompt) - 1
}

// catchUp gives r what others have read meanwhile of the prompt that it reads.
func (o *decoder) catchUp(r *request) {
	if had := r.decoded(); had < r.maxCached() {
		r.cached += o.cache.fillPrefix(r.seq, r.prompt, r.maxCached(), o.clock) - had
	}
}

// prefilledByOther tells whether one of others, which read before r, is about to read
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

// limitPrompts gives up the prompts used longest ago while they hold more than
// their share, but for newest.
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

// startSharedPrefill has r read a prompt for all conversations to come; false: there
// is no slot for it yet.
func (o *decoder) startSharedPrefill(r *request) bool {
	s := o.cache.ofPrompt(r.prompt)
	switch {
	case len(r.prompt) < minPromptTokens || !o.cache.divisible,
		s == nil && o.prompts.has(r.prompt), // it is read from there when it is wanted
		s != nil && s.request != nil:        // somebody reads it
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

// storeSharedPrompt is what follows when r, which reads a prompt for all, is over: it
// is put on the disk, and r ends when it is there. False: there is nothing to
// wait for.
func (o *decoder) storeSharedPrompt(r *request) bool {
	s := r.seq
	if len(s.tokens) < len(r.prompt) {
		return false
	}
	o.limitPrompts(s)
	if o.prompts == nil || s.onDisk {
		return false
	}
	s.onDisk = true // or will be; if the disk fails, it is read anew one day
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
