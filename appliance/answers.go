package appliance

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/answers"
	"parley/appliance/api"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/store"
)

const (
	// answerVectors is the most vectors of ways of asking that are stored: eight of the largest configs, 80 MB.
	answerVectors = 200_000
	// answerVectorDays is how many days a vector is stored that no config has used.
	answerVectorDays = 30
	// preparedConfigs is the number of configs whose answers are prepared, those that were used last.
	preparedConfigs = prefetchConfigs
)

// approved finds the approved answers of configs. It prepares those of recent configs before a chat needs them, when
// the box starts and when they change.
type approved struct {
	*answers.Finder
	sentences atomic.Pointer[engines.Sentences] // nil before the engines are open

	mu      sync.Mutex
	changed map[string]bool // accounts
	wake    chan struct{}   // holds one signal while changed is not empty
}

// openAnswers opens the finder of approved answers. Until startAnswers it finds nothing.
func (a *appliance) openAnswers() {
	f := &approved{changed: map[string]bool{}, wake: make(chan struct{}, 1)}
	f.Finder = answers.New(answers.Parts{
		Embedder: f.embedder,
		Vectors:  a.records,
		Log:      a.log,
	})
	a.answers = f
}

func (f *approved) embedder() (engine.SentenceEmbedder, error) {
	s := f.sentences.Load()
	switch {
	case s == nil:
		return nil, answers.ErrLoading
	case !s.Installed():
		return nil, answers.ErrNoPack
	}
	return s, nil
}

// startAnswers prepares answers in the background.
func (a *appliance) startAnswers(ctx context.Context) {
	a.answers.sentences.Store(a.engines.Sentences)
	a.onClose(a.answers.Close)
	a.onClose(inBackground(ctx, a.prepareAnswers))
}

// configsChanged notes that an account has made or changed a config or a prompt.
func (f *approved) configsChanged(account string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed[account] = true
	select {
	case f.wake <- struct{}{}:
	default: // is awake
	}
}

// prepareAnswers prepares the answers of recent configs, and of those that change, until ctx ends. All are prepared
// again every day, so that what is stored of them is known to be in use.
func (a *appliance) prepareAnswers(ctx context.Context) {
	daily := time.NewTicker(24 * time.Hour)
	defer daily.Stop()
	accounts := map[string]bool{"": true} // all
	for {
		for account := range accounts {
			a.prepareAnswersOf(ctx, account)
		}
		select {
		case <-a.answers.wake:
			a.answers.mu.Lock()
			accounts, a.answers.changed = a.answers.changed, map[string]bool{}
			a.answers.mu.Unlock()
		case <-daily.C:
			accounts = map[string]bool{"": true}
		case <-ctx.Done():
			return
		}
	}
}

// prepareAnswersOf prepares the answers of the recent configs of an account, or of all.
func (a *appliance) prepareAnswersOf(ctx context.Context, account string) {
	recent, err := a.records.RecentConfigs(ctx, account, preparedConfigs)
	if err != nil && ctx.Err() == nil {
		a.log.Warn("cannot list the configs whose answers to prepare", "err", err)
	}
	configs := api.NewConfigs(a.records, a.plugins)
	for _, r := range recent {
		c, err := configs.Config(ctx, r.Account, r.ID, nil)
		if err == nil && c.Answers != nil {
			err = a.answers.Prepare(ctx, *c.Answers)
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, answers.ErrNoPack):
			a.log.Warn("no approved answer is found", "config", r.ID, "err", err)
			return
		case err != nil && !errors.Is(err, store.ErrNotFound): // deleted at this moment
			a.log.Warn("cannot prepare the answers of a config", "config", r.ID, "err", err)
		}
	}
}

// sweepAnswers deletes stored vectors that no config uses.
func sweepAnswers(ctx context.Context, records *store.Store, now time.Time) error {
	return records.ExpireAnswerVectors(ctx, now.AddDate(0, 0, -answerVectorDays).UnixMilli(), answerVectors)
}
