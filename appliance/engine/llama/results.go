package llama

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/engine"
	"parley/appliance/engine/abridge"
)

const (
	// DefaultResultTokens is how much of a tool's answer is read at most: a list of
	// some twenty entries with a few facts each, and what a machine that reads 300 tokens
	// a second has read in two.
	DefaultResultTokens = 600
	// resultTime is how long the reading of a tool's answer may take on this machine, with
	// the resultOverhead tokens or so that stand around it: people wait three seconds for an
	// answer that was looked up, of which the voice and the first words want one.
	resultTime     = 2 * time.Second
	resultOverhead = 32
	// minResultTokens is what is read on the slowest machine: the facts of one entry, and the
	// names of some others. Two busy cores read 50 tokens a second.
	minResultTokens = 100
	// olderResultTokens is what is read of the tools' answers of earlier turns where a
	// conversation has become too long for its context.
	olderResultTokens = 48
	// maxResults is how many answers are remembered as they were read, each some 2 KB:
	// more than the chats of a box have in a few minutes.
	maxResults = 256
	// minMeasured is how many tokens a step has, at least, from which it is learnt how
	// fast the machine reads.
	minMeasured = 8
)

// results are what the model reads of tools' answers. An answer that was read once is
// read so again: what was computed for a conversation is of use as long as it begins
// with the same tokens. It may be used from many goroutines.
type results struct {
	speed prefillSpeed
	mu    sync.Mutex
	texts map[resultKey]string
	order []resultKey // the oldest first
}

type resultKey [sha256.Size]byte

// reading is how fast the machine reads a prompt that somebody waits for.
type prefillSpeed struct{ perToken atomic.Int64 } // nanoseconds, recent steps weighing more; 0: not known

// record learns from a step that read so many tokens. One goroutine calls it.
func (r *prefillSpeed) record(tokens int, d time.Duration) {
	if tokens < minMeasured {
		return
	}
	one, usual := int64(d)/int64(tokens), r.perToken.Load()
	if usual == 0 {
		usual = one
	}
	r.perToken.Store(usual + (one-usual)/8)
}

// budget is how many tokens are read in the time that a tool's answer may take, between
// leastResult and most.
func (r *prefillSpeed) budget(most int) int {
	n := most
	if one := r.perToken.Load(); one > 0 {
		n = int(min(int64(resultTime)/one-resultOverhead, int64(most)))
	}
	return max(n, min(minResultTokens, most))
}

// squeeze is how short tools' answers are made.
type squeeze struct {
	older  bool // those of earlier turns, to olderResultTokens
	halved int  // so often those of this turn
	drops  bool // older turns may be left out
}

// squeezes are tried one after the other: first tools' answers get shorter, then older
// turns go, and the answer that is spoken of last.
var squeezes = [...]squeeze{
	{}, {older: true}, {older: true, drops: true}, {true, 1, true}, {true, 2, true}, {true, 3, true},
}

// fit writes p as tokens, at most limit of them; see template.fit.
func (m *Model) fit(ctx context.Context, p engine.Prompt, set *toolset, limit int, reply bool) (
	out []Token, shared int, err error,
) {
	if !slices.ContainsFunc(p.Messages, func(m engine.Message) bool { return m.Role == engine.ToolRole }) {
		return m.template.fit(ctx, withTools(p, set), limit, reply)
	}
	memo, newest := map[string][]Token{}, turnOf(p.Messages)
	for _, s := range squeezes {
		messages := withTools(m.abridged(p, s), set)
		turn := len(messages)
		if s.drops {
			turn = min(len(p.Messages)-newest, turn)
		}
		out, shared, err = m.template.fitTurn(ctx, messages, turn, limit, reply, memo)
		if _, long := errors.AsType[engine.ErrTooLong](err); !long {
			return out, shared, err
		}
	}
	return m.template.fit(ctx, withTools(m.abridged(p, squeezes[len(squeezes)-1]), set), limit, reply)
}

// turnOf is where the newest turn begins: with what the user said last.
func turnOf(messages []engine.Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role == engine.User {
			return i
		}
	}
	return 0
}

// abridged is p with tools' answers as short as they are read.
func (m *Model) abridged(p engine.Prompt, s squeeze) engine.Prompt {
	messages, newest := slices.Clone(p.Messages), turnOf(p.Messages)
	var q abridge.Question
	for i := range messages {
		each := &messages[i]
		switch each.Role {
		case engine.User:
			q = abridge.Question{Words: each.Content[:len(each.Content)-min(each.NoteBytes, len(each.Content))]}
		case engine.Assistant:
			if n := len(each.Calls); n > 0 {
				q.Arguments = each.Calls[n-1].Arguments
			}
		case engine.ToolRole:
			at := len(each.Content) - min(each.NoteBytes, len(each.Content))
			most, note := 0, each.Content[at:]
			if s.older && i < newest {
				most = olderResultTokens
			}
			each.Content = m.result(each.Content[:at], q, most, s.halved) + note
		}
	}
	p.Messages = messages
	return p
}

// result is a tool's answer in so many tokens; 0: as many as there is time for, halved
// so often.
func (m *Model) result(content string, q abridge.Question, most, halved int) string {
	key := resultKey(sha256.Sum256(fmt.Appendf(nil, "%d %d %q %q %s", most, halved, q.Words, q.Arguments, content)))
	if known, ok := m.results.get(key); ok {
		return known
	}
	most = cmp.Or(most, m.results.speed.budget(m.o.ResultTokens)>>halved)
	text := abridge.Text(content, q, most, m.tokensOf)
	m.results.put(key, text)
	return text
}

// tokensOf is how many tokens a text has; of one that is too long to be worth counting
// it is a number that is too large. The model is not closed meanwhile.
func (m *Model) tokensOf(text string) int {
	const longest = 16 // bytes of a token, nearly always
	if len(text) > longest*m.o.ResultTokens {
		return len(text)
	}
	tokens, err := m.template.vocab.plain(escapeMarkup(text))
	if err != nil {
		return len(text)
	}
	return len(tokens)
}

func (r *results) get(key resultKey) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, ok := r.texts[key]
	return text, ok
}

// put remembers how an answer is read; the one that was read first is forgotten for it.
func (r *results) put(key resultKey, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.texts == nil {
		r.texts = map[resultKey]string{}
	}
	if _, known := r.texts[key]; known {
		return
	}
	if len(r.order) >= maxResults {
		delete(r.texts, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
	r.texts[key], r.order = text, append(r.order, key)
}
