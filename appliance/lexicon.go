package appliance

import (
	"context"
	"log/slog"
	"sync"

	"parley/appliance/text"
	"parley/store"
)

// readings say how what accounts have spoken is read aloud: the box's locale,
// and each account's lexicon over the box's own.
type readings struct {
	records *store.Store
	locale  string
	box     text.Lexicon
	log     *slog.Logger

	mu      sync.Mutex
	known   map[string]text.Lexicon // by account, as long as it is not changed
	changes int
}

func newReadings(records *store.Store, locale string, box text.Lexicon, log *slog.Logger) *readings {
	return &readings{
		records: records,
		locale:  locale,
		box:     box,
		log:     log,
		known:   map[string]text.Lexicon{},
	}
}

// of is how an account's text is read. Where its lexicon cannot be read, the
// box's alone counts.
func (r *readings) of(ctx context.Context, account string) text.Options {
	r.mu.Lock()
	l, known := r.known[account]
	changes := r.changes
	r.mu.Unlock()
	if !known {
		var err error
		if l, err = r.read(ctx, account); err != nil {
			r.log.Warn("an account's lexicon cannot be read; the box's own counts", "account", account, "err", err)
			return text.Options{Locale: r.locale, Lexicon: r.box}
		}
		r.mu.Lock()
		if r.changes == changes {
			r.known[account] = l
		}
		r.mu.Unlock()
	}
	return text.Options{Locale: r.locale, Lexicon: l}
}

// changed has an account's lexicon read again.
func (r *readings) changed(account string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, account)
	r.changes++
}

func (r *readings) read(ctx context.Context, account string) (text.Lexicon, error) {
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
