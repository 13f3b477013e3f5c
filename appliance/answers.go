package appliance

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/answers"
	"parley/appliance/api"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/store"
)

const (
	// answerVectors is the most vectors of ways of asking that are stored: eight of the largest configs, 80 MB.
	answerVectors = 200_000
	// answerVectorDays is how many days a vector is stored that no config has used.
	answerVectorDays = 30
	// preparedConfigs is the number of configs whose answers, and their sound, are prepared: those that were used last,
	// as many as have their prompts prefilled.
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
		Embedder:   f.embedder,
		Vectors:    a.records,
		Background: answers.Background(),
		Log:        a.log,
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

// startAnswers prepares answers and their judge in the background.
func (a *appliance) startAnswers(ctx context.Context) {
	a.answers.sentences.Store(a.engines.Sentences)
	a.onClose(a.answers.Close)
	a.onClose(inBackground(ctx, a.prepareAnswers))
	a.onClose(inBackground(ctx, a.warmJudge)) // by itself: the model's work must not delay the embedding
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

// warmJudge has the model that judges compute what all its judgements begin with.
func (a *appliance) warmJudge(ctx context.Context) {
	if answers.JudgeOf(a.engines.Model) == nil {
		return
	}
	if err := answers.WarmJudge(ctx, a.engines.Model); err != nil && ctx.Err() == nil {
		a.log.Warn("cannot prepare the judge of approved answers; the first judgement will be late", "err", err)
	}
}

// prepareAnswersOf prepares the answers of the recent configs of an account, or of all.
func (a *appliance) prepareAnswersOf(ctx context.Context, account string) {
	err := a.eachAnswers(ctx, account, func(_ string, c contract.ReturnConfig) error {
		err := a.answers.Prepare(ctx, *c.Answers)
		if err != nil && !errors.Is(err, answers.ErrNoPack) && ctx.Err() == nil {
			a.log.Warn("cannot prepare the answers of a config", "config", c.ID, "err", err)
			return nil
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		a.log.Warn("cannot prepare approved answers", "err", err)
	}
}

// eachAnswers calls do with the newest version of each config of an account, or of all, that has approved answers, the
// configs used last first, until do returns an error.
func (a *appliance) eachAnswers(ctx context.Context, account string,
	do func(account string, c contract.ReturnConfig) error) error {
	recent, err := a.records.RecentConfigs(ctx, account, preparedConfigs)
	if err != nil {
		return err
	}
	configs := api.NewConfigs(a.records, a.plugins)
	for _, r := range recent {
		c, err := configs.Config(ctx, r.Account, r.ID, nil)
		if errors.Is(err, store.ErrNotFound) {
			continue // it was deleted at this moment
		}
		if err == nil && c.Answers != nil {
			err = do(r.Account, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweepAnswers deletes stored vectors that no config uses.
func sweepAnswers(ctx context.Context, records *store.Store, now time.Time) error {
	return records.ExpireAnswerVectors(ctx, now.AddDate(0, 0, -answerVectorDays).UnixMilli(), answerVectors)
}
