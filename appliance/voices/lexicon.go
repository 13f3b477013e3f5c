package voices

import (
	"context"
	"log/slog"
	"sync"

	"parley/appliance/text"
	"parley/store"
)

// Lexicons decides how each account's texts are pronounced: by the locale and the
// lexicon of the box, and before these by the account's own lexicon.
type Lexicons struct {
	records *store.Store
	locale  string
	box     text.Lexicon
	log     *slog.Logger

	mu      sync.Mutex
	cached  map[string]text.Lexicon // by account, until it changes
	changes int
}

// NewLexicons returns the lexicons of the accounts in records.
func NewLexicons(records *store.Store, locale string, box text.Lexicon, log *slog.Logger) *Lexicons {
	return &Lexicons{
		records: records,
		locale:  locale,
		box:     box,
		log:     log,
		cached:  map[string]text.Lexicon{},
	}
}

// Options returns how an account's texts are pronounced. If the account's lexicon
// cannot be loaded, Options logs that and returns the lexicon of the box.
func (r *Lexicons) Options(ctx context.Context, account string) text.Options {
	r.mu.Lock()
	l, cached := r.cached[account]
	changes := r.changes
	r.mu.Unlock()
	if !cached {
		var err error
		if l, err = r.load(ctx, account); err != nil {
			r.log.Warn("cannot load an account's lexicon; using the box's lexicon", "account", account, "err", err)
			return text.Options{Locale: r.locale, Lexicon: r.box}
		}
		r.mu.Lock()
		if r.changes == changes {
			r.cached[account] = l
		}
		r.mu.Unlock()
	}
	return text.Options{Locale: r.locale, Lexicon: l}
}

// Changed has an account's lexicon loaded again.
func (r *Lexicons) Changed(account string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.cached, account)
	r.changes++
}

func (r *Lexicons) load(ctx context.Context, account string) (text.Lexicon, error) {
	all, err := r.records.Lexicon(ctx, account)
	if err != nil || len(all) == 0 {
		return r.box, err
	}
	entries := make(map[string]string, len(all))
	for _, p := range all {
		entries[p.Word] = p.Spoken
	}
	l, err := text.NewLexicon(entries)
	if err != nil {
		return nil, err
	}
	return l.Over(r.box), nil
}
