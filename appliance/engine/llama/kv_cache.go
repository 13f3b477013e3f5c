package llama

// sequence is one sequence of the key-value cache: its tokens, and the request that uses it.
type sequence struct {
	id           int32
	tokens       []Token // decoded tokens, in order, from position 0
	conversation string  // empty: none
	request      *request
	lastUsed     uint64 // when its last request ended, on the decoder's logical clock
	headTokens   int    // how many tokens are the prompt that its conversation begins with
	// prompt says that the sequence holds a prompt for all conversations that begin with it, and
	// outlives them.
	prompt bool
	onDisk bool // of a prompt: also stored on disk
	// background says that nobody talks in its conversation: it is evicted before those of chats.
	background bool
}

// evictedBefore reports whether s is evicted before another sequence of its kind.
func (s *sequence) evictedBefore(other *sequence) bool {
	if s.background != other.background {
		return s.background
	}
	return s.lastUsed < other.lastUsed
}

// commonPrefix returns how many tokens a and b have in common at their beginning.
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
	// minCopyTokens is how many more tokens another sequence must share with a prompt to be copied
	// from; a shorter copy saves nothing.
	minCopyTokens = 8
	// minPromptTokens is the length from which a prompt gets a sequence of its own; a shorter one
	// is prefilled in a step or two.
	minPromptTokens = 24
)

// cache is the key-value cache of a context. Sequences that begin with the same tokens share the
// cells of these tokens.
type cache struct {
	lib       *library
	ctx       handle
	mem       handle
	sequences []*sequence // those of conversations, then those of prompts
	// divisible says that a sequence can be truncated and its beginning shared. Recurrent models
	// have a single state instead, which can only be continued or discarded.
	divisible bool
}

func newCache(lib *library, ctx handle, conversations, prompts int, divisible bool) *cache {
	c := &cache{
		lib:       lib,
		ctx:       ctx,
		mem:       lib.getMemory(ctx),
		divisible: divisible,
	}
	for i := range conversations + prompts {
		c.sequences = append(c.sequences, &sequence{id: int32(i), prompt: i >= conversations})
	}
	return c
}

// ofConversation returns the sequence of a conversation, or nil.
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

// idle returns the sequence to reuse next, of conversations or of prompts: an empty one, else one of
// a conversation in which nobody talks, else the one least recently used; nil if all are in use.
func (c *cache) idle(prompt bool) *sequence {
	var best *sequence
	for _, s := range c.sequences {
		if s.request != nil || s.prompt != prompt {
			continue
		}
		if len(s.tokens) == 0 {
			return s
		}
		if best == nil || s.evictedBefore(best) {
			best = s
		}
	}
	return best
}

// evictable returns the sequence to evict for its cells, or nil. It prefers prompts that are on
// disk, which are restored quickly, then conversations in which nobody talks, then the sequence
// least recently used.
func (c *cache) evictable() *sequence {
	var best *sequence
	for _, s := range c.sequences {
		if s.request != nil || len(s.tokens) == 0 {
			continue
		}
		if best == nil || s.onDisk && !best.onDisk || s.onDisk == best.onDisk && s.evictedBefore(best) {
			best = s
		}
	}
	return best
}

// ofPrompt returns the sequence that holds exactly this prompt, or nil.
func (c *cache) ofPrompt(tokens []Token) *sequence {
	for _, s := range c.sequences {
		if s.prompt && len(s.tokens) == len(tokens) && commonPrefix(s.tokens, tokens) == len(tokens) {
			return s
		}
	}
	return nil
}

// cachedPrefix returns how many tokens of the beginning of tokens any sequence holds.
func (c *cache) cachedPrefix(tokens []Token) (most int) {
	for _, s := range c.sequences {
		most = max(most, commonPrefix(s.tokens, tokens))
	}
	return most
}

// promptTokens returns how many tokens the sequences of prompts hold.
func (c *cache) promptTokens() (n int) {
	for _, s := range c.sequences {
		if s.prompt {
			n += len(s.tokens)
		}
	}
	return n
}

// fillPrefix makes s hold as much of the beginning of prompt as any sequence holds, and at most
// keep tokens. It returns how many.
func (c *cache) fillPrefix(s *sequence, prompt []Token, keep int, now uint64) int {
	prefix := commonPrefix(s.tokens, prompt)
	from := s
	if c.divisible {
		best := prefix + minCopyTokens
		for _, other := range c.sequences {
			if n := commonPrefix(other.tokens, prompt); n > best {
				from, best = other, n
			}
		}
	}
	if from == s {
		c.truncate(s, min(prefix, keep))
		return len(s.tokens)
	}
	n := min(commonPrefix(from.tokens, prompt), keep)
	c.copy(from, s, n)
	from.lastUsed = now
	return n
}

// copy makes s hold the first n tokens of from. That takes no cells.
func (c *cache) copy(from, s *sequence, n int) {
	c.truncate(s, 0)
	c.lib.memorySeqCp(c.mem, from.id, s.id, 0, int32(n))
	s.tokens = append(s.tokens, from.tokens[:n]...)
}

// truncate keeps the first n tokens of s, or none if the model cannot go back.
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

// clear empties s.
func (c *cache) clear(s *sequence) {
	c.truncate(s, 0)
	s.tokens, s.conversation, s.onDisk, s.headTokens, s.background = nil, "", false, 0, false
}

// rollBack removes from the library what a failed decode may have left in s.
func (c *cache) rollBack(s *sequence) {
	if !c.divisible || !c.lib.memorySeqRm(c.mem, s.id, int32(len(s.tokens)), -1) {
		c.lib.memorySeqRm(c.mem, s.id, -1, -1)
		s.tokens = s.tokens[:0]
	}
}

// assign gives s to a conversation. A sequence that still works for the conversation loses it; the
// newest request is the one that is continued.
func (c *cache) assign(s *sequence, conversation string) {
	if other := c.ofConversation(conversation); other != nil {
		other.conversation = ""
	}
	s.conversation = conversation
}

// saveState returns a copy of the state computed for s, or nil if the library has none.
func (c *cache) saveState(s *sequence) []byte {
	state := make([]byte, c.lib.stateSeqGetSize(c.ctx, s.id))
	if len(state) == 0 {
		return nil
	}
	return state[:c.lib.stateSeqGetData(c.ctx, &state[0], uint64(len(state)), s.id)]
}

// restoreState loads the state of tokens into s, which is empty. It returns false if the library
// rejects the state or has no free cells.
func (c *cache) restoreState(s *sequence, tokens []Token, state []byte) bool {
	if len(state) == 0 || c.lib.stateSeqSetData(c.ctx, &state[0], uint64(len(state)), s.id) == 0 ||
		int(c.lib.memorySeqPosMax(c.mem, s.id)) != len(tokens)-1 {
		c.lib.memorySeqRm(c.mem, s.id, -1, -1)
		return false
	}
	s.tokens = append(s.tokens[:0], tokens...)
	return true
}
