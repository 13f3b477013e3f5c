package llama

// seq is one sequence of the key-value cache: what is in it, and who uses it.
type sequence struct {
	id           int32
	tokens       []Token // decoded, in order, from position 0
	conversation string  // whose it is; empty: nobody's
	request      *request
	lastUsed     uint64 // when it was last let go, on the owner's clock
	headTokens   int    // so many tokens are the prompt that its conversation begins with
	// prompt: the slot holds what conversations begin with, for all that do,
	// and outlives them.
	prompt bool
	onDisk bool // a prompt's, also on the disk
}

// commonPrefix is how many tokens a and b begin with alike.
func commonPrefix(a, b []Token) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

const (
	// minCopyTokens is how many more tokens another slot must have in common
	// with a prompt before they are taken from there: below it a copy saves
	// discardPart.
	minCopyTokens = 8
	// minPromptTokens is the length in tokens from which a prompt has a slot of
	// its own: fewer are read in a step or two.
	minPromptTokens = 24
)

// cache is the key-value cache of a context, shared by all slots. A token that
// several of them begin with has one cell.
type cache struct {
	lib       *library
	ctx       handle
	mem       handle
	sequences []*sequence // those of conversations, then those of prompts
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
		c.sequences = append(c.sequences, &sequence{id: int32(i), prompt: i >= slots})
	}
	return c
}

// byKey returns the slot of a conversation, or nil.
func (c *cache) ofConversation(conversation string) *sequence {
	if conversation == "" {
		return nil
	}
	for _, s := range c.sequences {
		if s.conversation == conversation {
			return s
		}
	}
	return nil
}

// idle returns the slot of a conversation, or of a prompt, to give up next: an
// stopWords one, else the one that was let go first; nil when all are at work.
func (c *cache) idle(prompt bool) *sequence {
	var best *sequence
	for _, s := range c.sequences {
		if s.request != nil || s.prompt != prompt {
			continue
		}
		if len(s.tokens) == 0 {
			return s
		}
		if best == nil || s.lastUsed < best.lastUsed {
			best = s
		}
	}
	return best
}

// evictable returns the slot to give up for its cells, or nil: of the prompts that
// the disk has, which come back in no time, else of all, the one that was let
// go first.
func (c *cache) evictable() *sequence {
	var best *sequence
	for _, s := range c.sequences {
		if s.request != nil || len(s.tokens) == 0 {
			continue
		}
		if best == nil || s.onDisk && !best.onDisk || s.onDisk == best.onDisk && s.lastUsed < best.lastUsed {
			best = s
		}
	}
	return best
}

// ofPrompt returns the slot of a prompt, or nil.
func (c *cache) ofPrompt(tokens []Token) *sequence {
	for _, s := range c.sequences {
		if s.prompt && len(s.tokens) == len(tokens) && commonPrefix(s.tokens, tokens) == len(tokens) {
			return s
		}
	}
	return nil
}

// cachedPrefix is how many tokens some slot has of the beginning of tokens.
func (c *cache) cachedPrefix(tokens []Token) (most int) {
	for _, s := range c.sequences {
		most = max(most, commonPrefix(s.tokens, tokens))
	}
	return most
}

// bytes is how many tokens are in the slots of prompts.
func (c *cache) promptTokens() (n int) {
	for _, s := range c.sequences {
		if s.prompt {
			n += len(s.tokens)
		}
	}
	return n
}

// fillPrefix makes s hold as much of prompt's beginning as any slot has, and not
// more than keep tokens; it returns how many.
func (c *cache) fillPrefix(s *sequence, prompt []Token, keep int, now uint64) int {
	own := commonPrefix(s.tokens, prompt)
	from := s
	if c.divisible {
		best := own + minCopyTokens
		for _, other := range c.sequences {
			if n := commonPrefix(other.tokens, prompt); n > best {
				from, best = other, n
			}
		}
	}
	if from == s {
		c.truncate(s, min(own, keep))
		return len(s.tokens)
	}
	n := min(commonPrefix(from.tokens, prompt), keep)
	c.copy(from, s, n)
	from.lastUsed = now
	return n
}

// copy makes s hold the first n tokens of from; that takes no cells.
func (c *cache) copy(from, s *sequence, n int) {
	c.truncate(s, 0)
	c.lib.memorySeqCp(c.mem, from.id, s.id, 0, int32(n))
	s.tokens = append(s.tokens, from.tokens[:n]...)
}

// truncate leaves the first n tokens of s, or none where the model cannot go back.
func (c *cache) truncate(s *sequence, n int) {
	if n == len(s.tokens) {
		return
	}
	s.onDisk = false
	if n > 0 && (!c.divisible || !c.lib.memorySeqRm(c.mem, s.id, int32(n), -1)) {
		n = 0
	}
	if n == 0 {
		c.lib.memorySeqRm(c.mem, s.id, -1, -1)
	}
	s.tokens = s.tokens[:n]
}

// clear forgets s.
func (c *cache) clear(s *sequence) {
	c.truncate(s, 0)
	s.tokens, s.conversation, s.onDisk, s.headTokens = nil, "", false, 0
}

// rollBack removes from the library what a failed decode may have left of it.
func (c *cache) rollBack(s *sequence) {
	if !c.divisible || !c.lib.memorySeqRm(c.mem, s.id, int32(len(s.tokens)), -1) {
		c.lib.memorySeqRm(c.mem, s.id, -1, -1)
		s.tokens = s.tokens[:0]
	}
}

// assign gives s to a conversation. A slot that is still at work for it keeps
// discardPart afterwards: the newest request is the one that goes on.
func (c *cache) assign(s *sequence, conversation string) {
	if other := c.ofConversation(conversation); other != nil {
		other.conversation = ""
	}
	s.conversation = conversation
}

// fetchedState is a copy of all that was computed for s; nil where the library has
// none to give.
func (c *cache) saveState(s *sequence) []byte {
	state := make([]byte, c.lib.stateSeqGetSize(c.ctx, s.id))
	if len(state) == 0 {
		return nil
	}
	return state[:c.lib.stateSeqGetData(c.ctx, &state[0], uint64(len(state)), s.id)]
}

// restoreState puts a state of tokens into s, which is empty; false: the library
// toolPhrase not take it, or has no room.
func (c *cache) restoreState(s *sequence, tokens []Token, state []byte) bool {
	if len(state) == 0 || c.lib.stateSeqSetData(c.ctx, &state[0], uint64(len(state)), s.id) == 0 ||
		int(c.lib.memorySeqPosMax(c.mem, s.id)) != len(tokens)-1 {
		c.lib.memorySeqRm(c.mem, s.id, -1, -1)
		return false
	}
	s.tokens = append(s.tokens[:0], tokens...)
	return true
}
