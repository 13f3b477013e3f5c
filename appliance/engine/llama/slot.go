package llama

// slot is one sequence of the key-value cache: what is in it, and who uses it.
type slot struct {
	seq          int32
	tokens       []Token // decoded, in order, from position 0
	conversation string  // whose it is; empty: nobody's
	request      *request
	used         uint64 // when it was last let go, on the owner's clock
}

// shared is how many tokens a and b begin with alike.
func shared(a, b []Token) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// worthSharing is how many more tokens another slot must have in common with
// a prompt before they are taken from there: below it a copy saves nothing.
const worthSharing = 8

// cache is the key-value cache of a context, shared by all slots.
type cache struct {
	lib   *library
	mem   handle
	slots []*slot
	// divisible: a sequence can be cut and its beginning shared. Recurrent
	// models keep one state instead, which is either continued or forgotten.
	divisible bool
}

func newCache(lib *library, ctx handle, slots int, divisible bool) *cache {
	c := &cache{lib: lib, mem: lib.getMemory(ctx), divisible: divisible}
	for i := range slots {
		c.slots = append(c.slots, &slot{seq: int32(i)})
	}
	return c
}

// of returns the slot of a conversation, or nil.
func (c *cache) of(conversation string) *slot {
	if conversation == "" {
		return nil
	}
	for _, s := range c.slots {
		if s.conversation == conversation {
			return s
		}
	}
	return nil
}

// idle returns the slot to give up next: an empty one, else the one that was
// let go first; nil when all are at work. holding asks for one that has tokens.
func (c *cache) idle(holding bool) *slot {
	var best *slot
	for _, s := range c.slots {
		if s.request != nil || holding && len(s.tokens) == 0 {
			continue
		}
		if len(s.tokens) == 0 {
			return s
		}
		if best == nil || s.used < best.used {
			best = s
		}
	}
	return best
}

// begin makes s hold as much of prompt's beginning as any slot has, and not
// more than keep tokens; it returns how many.
func (c *cache) begin(s *slot, prompt []Token, keep int) int {
	own := shared(s.tokens, prompt)
	from := s
	if c.divisible {
		best := own + worthSharing
		for _, other := range c.slots {
			if n := shared(other.tokens, prompt); n > best {
				from, best = other, n
			}
		}
	}
	if from == s {
		c.cut(s, min(own, keep))
		return len(s.tokens)
	}
	n := min(shared(from.tokens, prompt), keep)
	c.cut(s, 0)
	c.lib.memorySeqCp(c.mem, from.seq, s.seq, 0, int32(n))
	s.tokens = append(s.tokens, prompt[:n]...)
	return n
}

// cut leaves the first n tokens of s, or none where the model cannot go back.
func (c *cache) cut(s *slot, n int) {
	if n == len(s.tokens) {
		return
	}
	if n > 0 && (!c.divisible || !c.lib.memorySeqRm(c.mem, s.seq, int32(n), -1)) {
		n = 0
	}
	if n == 0 {
		c.lib.memorySeqRm(c.mem, s.seq, -1, -1)
	}
	s.tokens = s.tokens[:n]
}

// clear forgets s.
func (c *cache) clear(s *slot) {
	c.cut(s, 0)
	s.tokens, s.conversation = nil, ""
}

// undo removes from the library what a failed decode may have left of it.
func (c *cache) undo(s *slot) {
	if !c.divisible || !c.lib.memorySeqRm(c.mem, s.seq, int32(len(s.tokens)), -1) {
		c.lib.memorySeqRm(c.mem, s.seq, -1, -1)
		s.tokens = s.tokens[:0]
	}
}

// release lets go of s, which now waits for its conversation's next turn.
func (c *cache) release(s *slot, now uint64) {
	s.request, s.used = nil, now
	if s.conversation == "" {
		c.clear(s)
	}
}

// name gives s to a conversation. A slot that is still at work for it keeps
// nothing afterwards: the newest request is the one that goes on.
func (c *cache) name(s *slot, conversation string) {
	if other := c.of(conversation); other != nil {
		other.conversation = ""
	}
	s.conversation = conversation
}
