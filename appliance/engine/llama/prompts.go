package llama

const (
	// promptSlots is how many prompts are kept in memory beside those that
	// conversations go on from: more different ones than a box talks with at a
	// time. Those given up come back from the disk. Each costs the library
	// room for a token's logits, 0.6 MB.
	promptSlots = 16
	// promptShare is the part of the cells that prompts may hold for
	// conversations to come: of the default 17,408 cells enough for seven of
	// 600 tokens. What they share with conversations takes no cells.
	promptShare = 4
	// worthFetching is how many more tokens of a prompt the disk must have than memory
	// for them to be brought from there, unless those are all: a second's reading on a
	// slow machine, where the file is there in a tenth of that.
	worthFetching = 48
)

// fetch has what the disk keeps of the beginning of r's prompt brought into memory
// before r starts; false: there is nothing to bring. Of a prompt that the box has never
// seen that is what all of them begin with. It is read beside the owner, who must not
// wait for a disk.
func (o *owner) fetch(r *request) bool {
	if r.fetched || r.head < worthKeeping || !o.cache.divisible {
		return false
	}
	head := r.prompt[:r.head]
	known := o.cache.known(head)
	from, alike := o.shelf.closest(head)
	if alike <= known || alike < len(head) && alike < known+worthFetching {
		return false
	}
	if r.shared && o.shelf.has(head) && o.cache.held()+r.head > o.cells/promptShare {
		return false // nobody waits for it, and another would have to go
	}
	r.fetched, r.from = true, from
	o.reading.Go(func() {
		r.state = o.shelf.get(from)
		o.box.putBack(r)
	})
	return true
}

// take puts into a slot what fetch brought, as far as r begins with it.
func (o *owner) take(r *request) {
	state, from := r.state, r.from
	r.state = nil
	alike := shared(from, r.prompt[:r.head])
	if state == nil || o.cache.known(r.prompt[:alike]) == alike {
		return
	}
	s := o.cache.idle(true)
	if s == nil {
		return
	}
	o.cache.clear(s)
	for !o.cache.restore(s, from, state) {
		if !o.giveUp() {
			o.log.Warn("libllama does not take a prompt that was kept; it is read anew", "tokens", len(from))
			return
		}
	}
	o.cache.cut(s, alike)
	o.clock++
	s.saved, s.used = alike == len(from), o.clock
}

// giveUp gives up a slot for its cells; false: none is left.
func (o *owner) giveUp() bool {
	s := o.cache.spare()
	if s == nil {
		return false
	}
	o.log.Debug("kept cache given up", "tokens", len(s.tokens), "prompt", s.prompt)
	o.cache.clear(s)
	return true
}

// keepPrompt gives the prompt that s begins with, as far as it was read, a slot
// of its own before s is cleared: it outlives its conversation.
func (o *owner) keepPrompt(s *slot) {
	n := min(s.head, len(s.tokens))
	if n < worthKeeping || !o.cache.divisible {
		return
	}
	head := s.tokens[:n]
	for _, other := range o.cache.slots {
		if other != s && shared(other.tokens, head) == n {
			if other.prompt {
				other.used = o.clock
				return
			}
			if other.head >= n { // which keeps it in its turn
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
	to.used = o.clock
	o.limitPrompts(to)
}

// clear forgets the conversation in s, and keeps its prompt.
func (o *owner) clear(s *slot) {
	o.keepPrompt(s)
	o.cache.clear(s)
}

// keep is how much of r's prompt may come out of the cache: the last token is
// decoded again where its logits are wanted.
func (r *request) keep() int {
	if r.prefill {
		return len(r.prompt)
	}
	return len(r.prompt) - 1
}

// catchUp gives r what others have read meanwhile of the prompt that it reads.
func (o *owner) catchUp(r *request) {
	if had := r.fed(); had < r.keep() {
		r.cached += o.cache.begin(r.slot, r.prompt, r.keep(), o.clock) - had
	}
}

// readFor tells whether one of others, which read before r, is about to read
// what r needs next.
func (o *owner) readFor(r *request, others []*request) bool {
	if !o.cache.divisible {
		return false
	}
	for _, other := range others {
		if shared(other.prompt, r.prompt) > r.fed()+worthSharing && other.fed() >= r.fed() {
			return true
		}
	}
	return false
}

// limitPrompts gives up the prompts used longest ago while they hold more than
// their share, but for newest.
func (o *owner) limitPrompts(newest *slot) {
	for o.cache.held() > o.cells/promptShare {
		var oldest *slot
		for _, s := range o.cache.slots {
			if s.prompt && s != newest && s.request == nil && len(s.tokens) > 0 &&
				(oldest == nil || s.used < oldest.used) {
				oldest = s
			}
		}
		if oldest == nil {
			return
		}
		o.cache.clear(oldest)
	}
}

// startShared has r read a prompt for all conversations to come; false: there
// is no slot for it yet.
func (o *owner) startShared(r *request) bool {
	s := o.cache.promptOf(r.prompt)
	switch {
	case len(r.prompt) < worthKeeping || !o.cache.divisible,
		s == nil && o.shelf.has(r.prompt), // it is read from there when it is wanted
		s != nil && s.request != nil:      // somebody reads it
		r.end(nil)
		o.box.done()
		return true
	case len(o.running) > 0 && o.reserved+r.need() > o.cells:
		return false
	case s == nil:
		if s = o.cache.idle(true); s == nil {
			return false
		}
	}
	o.clock++
	r.cached = o.cache.begin(s, r.prompt, len(r.prompt), o.clock)
	o.occupy(s, r)
	return true
}

// readShared is what follows when r, which reads a prompt for all, is over: it
// is put on the disk, and r ends when it is there. False: there is nothing to
// wait for.
func (o *owner) readShared(r *request) bool {
	s := r.slot
	if len(s.tokens) < len(r.prompt) {
		return false
	}
	o.limitPrompts(s)
	if o.shelf == nil || s.saved {
		return false
	}
	s.saved = true // or will be; if the disk fails, it is read anew one day
	if o.shelf.has(r.prompt) {
		return false
	}
	state := o.cache.state(s)
	o.reading.Go(func() {
		o.shelf.put(r.prompt, state)
		r.end(nil)
		o.box.done()
	})
	return true
}
