package llama

// slot is one sequence of the key-value cache: what is in it, and who uses it.
type slot struct {
	seq          int32
	tokens       []Token // decoded, in order, from position 0
	conversation string  // whose it is; empty: nobody's
	request      *request
	used         uint64 // when it was last let go, on the owner's clock
	head         int    // so many tokens are the prompt that its conversation begins with
	// prompt: the slot holds what conversations begin with, for all that do,
	// and outlives them.
	prompt bool
	saved  bool // a prompt's, also on the disk
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

const (
	// worthSharing is how many more tokens another slot must have in common
	// with a prompt before they are taken from there: below it a copy saves
	// nothing.
	worthSharing = 8
	// worthKeeping is the length in tokens from which a prompt has a slot of
	// its own: fewer are read in a step or two.
	worthKeeping = 24
)

// cache is the key-value cache of a context, shared by all slots. A token that
// several of them begin with has one cell.
type cache struct {
	lib   *library
	ctx   handle
	mem   handle
	slots []*slot // those of conversations, then those of prompts
	// divisible: a sequence can be cut and its beginning shared. Recurrent
	// models keep one state instead, which is either continued or forgotten.
	divisible bool
}

func newCache(lib *library, ctx handle, slots, prompts int, divisible bool) *cache {
	c := &cache{
		lib:       lib,
		ctx:       ctx,
		mem:       lib.getMemory(ctx),
		divisible: divisible,
	}
	for i := range slots + prompts {
		c.slots = append(c.slots, &slot{seq: int32(i), prompt: i >= slots})
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

// idle returns the slot of a conversation, or of a prompt, to give up next: an
// empty one, else the one that was let go first; nil when all are at work.
func (c *cache) idle(prompt bool) *slot {
	var best *slot
	for _, s := range c.slots {
		if s.request != nil || s.prompt != prompt {
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

// spare returns the slot to give up for its cells, or nil: of the prompts that
// the disk has, which come back in no time, else of all, the one that was let
// go first.
func (c *cache) spare() *slot {
	var best *slot
	for _, s := range c.slots {
		if s.request != nil || len(s.tokens) == 0 {
			continue
		}
		if best == nil || s.saved && !best.saved || s.saved == best.saved && s.used < best.used {
			best = s
		}
	}
	return best
}

// promptOf returns the slot of a prompt, or nil.
func (c *cache) promptOf(tokens []Token) *slot {
	for _, s := range c.slots {
		if s.prompt && len(s.tokens) == len(tokens) && shared(s.tokens, tokens) == len(tokens) {
			return s
		}
	}
	return nil
}

// known is how many tokens some slot has of the beginning of tokens.
func (c *cache) known(tokens []Token) (most int) {
	for _, s := range c.slots {
		most = max(most, shared(s.tokens, tokens))
	}
	return most
}

// held is how many tokens are in the slots of prompts.
func (c *cache) held() (n int) {
	for _, s := range c.slots {
		if s.prompt {
			n += len(s.tokens)
		}
	}
	return n
}

// begin makes s hold as much of prompt's beginning as any slot has, and not
// more than keep tokens; it returns how many.
func (c *cache) begin(s *slot, prompt []Token, keep int, now uint64) int {
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
	c.copy(from, s, n)
	from.used = now
	return n
}

// copy makes s hold the first n tokens of from; that takes no cells.
func (c *cache) copy(from, s *slot, n int) {
	c.cut(s, 0)
	c.lib.memorySeqCp(c.mem, from.seq, s.seq, 0, int32(n))
	s.tokens = append(s.tokens, from.tokens[:n]...)
}

// cut leaves the first n tokens of s, or none where the model cannot go back.
func (c *cache) cut(s *slot, n int) {
	if n == len(s.tokens) {
		return
	}
	s.saved = false
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
	s.tokens, s.conversation, s.saved, s.head = nil, "", false, 0
}

// undo removes from the library what a failed decode may have left of it.
func (c *cache) undo(s *slot) {
	if !c.divisible || !c.lib.memorySeqRm(c.mem, s.seq, int32(len(s.tokens)), -1) {
		c.lib.memorySeqRm(c.mem, s.seq, -1, -1)
		s.tokens = s.tokens[:0]
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

// state is a copy of all that was computed for s; nil where the library has
// none to give.
func (c *cache) state(s *slot) []byte {
	state := make([]byte, c.lib.stateSeqGetSize(c.ctx, s.seq))
	if len(state) == 0 {
		return nil
	}
	return state[:c.lib.stateSeqGetData(c.ctx, &state[0], uint64(len(state)), s.seq)]
}

// restore puts a state of tokens into s, which is empty; false: the library
// does not take it, or has no room.
func (c *cache) restore(s *slot, tokens []Token, state []byte) bool {
	if len(state) == 0 || c.lib.stateSeqSetData(c.ctx, &state[0], uint64(len(state)), s.seq) == 0 ||
		int(c.lib.memorySeqPosMax(c.mem, s.seq)) != len(tokens)-1 {
		c.lib.memorySeqRm(c.mem, s.seq, -1, -1)
		return false
	}
	s.tokens = append(s.tokens[:0], tokens...)
	return true
}
