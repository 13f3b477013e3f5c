package llama

import (
	"context"
	"errors"
	"time"

	"parley/appliance/engine"
)

// What a model computes of a prompt is kept, in memory and on the disk, and
// everything that follows is computed from it. Should something in it be no number,
// nothing that follows is one: whoever goes on from it is answered with an error,
// for as long as it is kept. So what was of no use is forgotten, and read anew.

// reply is generate, once more where what was kept was of no use.
func (m *Model) reply(ctx context.Context, p engine.Prompt, set *toolset, begun time.Time,
	emit func(engine.Part) error) (engine.Usage, error) {
	return m.retryUncached(func() (engine.Usage, error) { return m.generate(ctx, p, set, begun, emit) })
}

// retryUncached has something written, once more where what was kept was of no use.
func (m *Model) retryUncached(write func() (engine.Usage, error)) (engine.Usage, error) {
	u, err := write()
	if !errors.Is(err, errNoLogits) || u.ReplyTokens > 0 {
		return u, err
	}
	m.o.Log.Warn("what was kept of a prompt is of no use; it is read anew", "tokens", u.CachedTokens)
	return write()
}

// discardCached forgets what was computed for r, and whatever may have come from the
// same: of slots that are at work those that have to do with it end in the same
// way, and come here themselves.
func (o *decoder) discardCached(r *request) {
	for _, s := range o.cache.sequences {
		if s.request == nil && (s == r.seq || commonPrefix(s.tokens, r.prompt) > 0) {
			o.cache.clear(s)
		}
	}
	if r.headTokens > 0 {
		o.prompts.drop(r.prompt[:r.headTokens])
	}
	if len(r.fetchedTokens) > 0 { // it began with that
		o.prompts.drop(r.fetchedTokens)
	}
}

// drop removes a prompt from the shelf.
func (s *promptCache) drop(tokens []Token) {
	if s.has(tokens) {
		s.remove(s.key(tokens))
	}
}
