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
	// DefaultResultTokens is how many tokens of a tool result are prefilled at most: a list of some
	// twenty entries with a few facts each, and two seconds of prefill at 300 tokens a second.
	DefaultResultTokens = 600
	// resultTime is how long the prefill of a tool result may take on this machine, with the
	// resultOverhead tokens or so around it. Users wait three seconds for an answer that needs a
	// lookup, of which the voice and the first words take one.
	resultTime     = 2 * time.Second
	resultOverhead = 32
	// minResultTokens is prefilled even on the slowest machine: the facts of one entry and the
	// names of some others. Two busy cores prefill 50 tokens a second.
	minResultTokens = 100
	// olderResultTokens is the size of tool results of earlier turns when a conversation has become
	// too long for its context.
	olderResultTokens = 48
	// maxResults is how many abridged results are remembered, some 2 KB each: more than the chats
	// of a box have in a few minutes.
	maxResults = 256
	// minMeasured is how many tokens a step needs for its speed to be recorded.
	minMeasured = 8
)

// results remembers how tool results were abridged. A result is always abridged the same way again,
// because the cache of a conversation is only valid while the conversation begins with the same
// tokens. It is safe for concurrent use.
type results struct {
	speed prefillSpeed
	mu    sync.Mutex
	texts map[resultKey]string
	order []resultKey // oldest first
}

type resultKey [sha256.Size]byte

// prefillSpeed is how fast the machine prefills an interactive prompt.
type prefillSpeed struct {
	perToken atomic.Int64 // nanoseconds, moving average; 0: unknown
}

// record takes the duration of a step that prefilled tokens. One goroutine calls it.
func (p *prefillSpeed) record(tokens int, d time.Duration) {
	if tokens < minMeasured {
		return
	}
	perToken, usual := int64(d)/int64(tokens), p.perToken.Load()
	if usual == 0 {
		usual = perToken
	}
	p.perToken.Store(usual + (perToken-usual)/8)
}

// budget returns how many tokens are prefilled in the time that a tool result may take, between
// minResultTokens and most.
func (p *prefillSpeed) budget(most int) int {
	n := most
	if perToken := p.perToken.Load(); perToken > 0 {
		n = int(min(int64(resultTime)/perToken-resultOverhead, int64(most)))
	}
	return max(n, min(minResultTokens, most))
}

// squeeze says how tool results are shortened.
type squeeze struct {
	older  bool // those of earlier turns, to olderResultTokens
	halved int  // how often those of this turn are halved
	drops  bool // older turns may be left out
}

// squeezes are tried in order: first older tool results get shorter, then older turns are left out,
// and the results of this turn are shortened last.
var squeezes = [...]squeeze{
	{}, {older: true}, {older: true, drops: true}, {true, 1, true}, {true, 2, true}, {true, 3, true},
}

// fit tokenizes p into at most limit tokens; see template.fit.
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

// turnOf returns the index at which the newest turn begins: the user's last words.
func turnOf(messages []engine.Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role == engine.User {
			return i
		}
	}
	return 0
}

// abridged returns p with its tool results abridged.
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

// result returns a tool result in at most most tokens; 0 means as many as there is time for, halved
// as often as given.
func (m *Model) result(content string, q abridge.Question, most, halved int) string {
	key := resultKey(sha256.Sum256(fmt.Appendf(nil, "%d %d %q %q %s", most, halved, q.Words, q.Arguments, content)))
	if known, ok := m.results.get(key); ok {
		return known
	}
	most = cmp.Or(most, m.results.speed.budget(m.options.ResultTokens)>>halved)
	text := abridge.Text(content, q, most, m.tokensOf)
	m.results.put(key, text)
	return text
}

// tokensOf returns how many tokens a text has. For a text too long to be worth counting it returns
// a number that is too large. The caller holds m.use.
func (m *Model) tokensOf(text string) int {
	const longest = 16 // bytes per token, nearly always
	if len(text) > longest*m.options.ResultTokens {
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

// put remembers an abridged result and forgets the oldest one if there are too many.
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
