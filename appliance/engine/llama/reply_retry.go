package llama

import (
	"context"
	"errors"
	"time"

	"parley/appliance/engine"
)

// A computed prompt is cached in memory and on disk, and everything that follows is computed from
// it. If the cached state contains NaN, everything that follows is NaN too, and every request that
// uses the state fails for as long as it is cached. So an unusable state is discarded and computed
// again.

// reply is like generate, with a second attempt if the cached state was unusable.
func (m *Model) reply(ctx context.Context, p engine.Prompt, set *toolset, begun time.Time,
	emit func(engine.Part) error) (engine.Usage, error) {
	return m.retryUncached(func() (engine.Usage, error) { return m.generate(ctx, p, set, begun, emit) })
}

// retryUncached calls write, and calls it again if the cached state was unusable.
func (m *Model) retryUncached(write func() (engine.Usage, error)) (engine.Usage, error) {
	u, err := write()
	if !errors.Is(err, errNoLogits) || u.ReplyTokens > 0 {
		return u, err
	}
	m.options.Log.Warn("cached prompt state is unusable; it is computed again", "tokens", u.CachedTokens)
	return write()
}

// discardCached discards the state computed for r and all state that may come from the same origin.
// Running sequences that share it fail the same way and end up here themselves.
func (d *decoder) discardCached(r *request) {
	for _, s := range d.cache.sequences {
		if s.request == nil && (s == r.seq || commonPrefix(s.tokens, r.prompt) > 0) {
			d.cache.clear(s)
		}
	}
	if r.headTokens > 0 {
		d.prompts.drop(r.prompt[:r.headTokens])
	}
	if len(r.fetchedTokens) > 0 { // r began with that state
		d.prompts.drop(r.fetchedTokens)
	}
}

// drop removes a prompt.
func (c *promptCache) drop(tokens []Token) {
	if c.has(tokens) {
		c.remove(c.key(tokens))
	}
}
