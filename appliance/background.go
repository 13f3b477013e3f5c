package appliance

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"parley/appliance/api"
	"parley/appliance/box"
	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/recording"
	"parley/appliance/webhook"
	"parley/internal/version"
	"parley/store"
)

// inBackground runs do on a goroutine. stop ends its context and waits for it.
func inBackground(ctx context.Context, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		do(ctx)
	}()
	return func() {
		cancel()
		<-over
	}
}

// sweepEvery is how often old chats are looked for. Retention is counted in days,
// so an hour more does not matter.
const sweepEvery = time.Hour

// sweeping deletes what has passed its retention, and recordings beyond their
// limits: now, and every hour until ctx ends.
func sweeping(ctx context.Context, cfg config.Config, records *store.Store, log *slog.Logger) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	swept := newSweptRecord(time.Now())
	for first := true; ; first = false {
		now := time.Now()
		chats, err := sweepChats(ctx, cfg.Retention, records, now, log)
		if swept.add("chats", chats); err != nil && ctx.Err() == nil {
			log.Error("cannot delete old chats; trying again in an hour", "err", err)
		}
		if err := sweepSpeech(ctx, cfg.Speech, records, now); err != nil && ctx.Err() == nil {
			log.Error("cannot delete old generations of speech; trying again in an hour", "err", err)
		}
		jobs, err := sweepBatch(ctx, cfg.Batch, records, now)
		if swept.add("jobs", jobs); err != nil && ctx.Err() == nil {
			log.Error("cannot delete old analysis jobs; trying again in an hour", "err", err)
		} else if jobs > 0 {
			log.Info("deleted old analysis jobs", "jobs", jobs, "days", cfg.Batch.ResultsDays)
		}
		dropped, err := sweepRecordings(ctx, cfg, records, now, first, log)
		if swept.add("recordings", dropped); err != nil && ctx.Err() == nil {
			log.Error("cannot delete recordings; trying again in an hour", "err", err)
		}
		if _, err := records.ExpireActs(ctx, now); err != nil && ctx.Err() == nil {
			log.Error("cannot delete old administrative acts; trying again in an hour", "err", err)
		}
		if err := sweepAnswers(ctx, records, now); err != nil && ctx.Err() == nil {
			log.Error("cannot delete old vectors of approved answers; trying again in an hour", "err", err)
		}
		swept.record(records, log, now, first)
		select {
		case <-tick.C:
		case <-ctx.Done():
			swept.record(records, log, now, true)
			return
		}
	}
}

// sweepChats deletes the chats that ended too many days before now, and what a crash
// left of deleted chats. It returns the number of chats.
func sweepChats(ctx context.Context, r config.Retention, records *store.Store, now time.Time, log *slog.Logger) (
	deleted int, err error) {
	if r.Days == 0 {
		return 0, records.Tidy(ctx, 0)
	}
	oldest := now.AddDate(0, 0, -r.Days).UnixMilli()
	deleted, err = records.Expire(ctx, oldest)
	if deleted > 0 {
		log.Info("deleted old chats", "chats", deleted, "days", r.Days)
	}
	if err != nil {
		return deleted, err
	}
	return deleted, records.Tidy(ctx, oldest)
}

// sweepSpeech deletes the generations of text-to-speech that are too old.
func sweepSpeech(ctx context.Context, s config.Speech, records *store.Store, now time.Time) error {
	if s.GenerationDays == 0 {
		return nil
	}
	return records.ExpireGenerations(ctx, now.AddDate(0, 0, -s.GenerationDays).UnixMilli())
}

// sweepRecordings deletes the recordings that are too old or take too much space. It
// logs what it deletes or will delete, and at the first time also if that is nothing. It
// returns the number of deleted recordings.
func sweepRecordings(ctx context.Context, cfg config.Config, records *store.Store, now time.Time, first bool,
	log *slog.Logger) (dropped int, err error) {
	limits, err := box.RecordingLimits(cfg)
	if err != nil {
		return 0, err
	}
	all, err := records.StoredSounds(ctx)
	if err != nil {
		return 0, err
	}
	surplus := limits.Surplus(all, now)
	notice, err := recording.GiveNotice(cfg.Data, len(surplus), recording.Total(surplus), now)
	if err != nil {
		return 0, err
	}
	if first {
		log.Info("recordings", "count", len(all), "mb", recording.Total(all)/1e6, "at_most_mb", limits.Bytes/1e6,
			"days", limits.Days)
	}
	if len(surplus) == 0 {
		return 0, nil
	}
	if now.Before(notice.From) {
		log.Warn("recordings are too old or too large, and will be deleted; to keep them, set limits.recordings "+
			"to 0 for ever",
			"from", notice.From.Format(time.RFC3339), "count", len(surplus), "mb", recording.Total(surplus)/1e6,
			"days", limits.Days, "at_most_mb", limits.Bytes/1e6)
		return 0, nil
	}
	dropped, err = recording.Drop(ctx, records, surplus)
	if dropped > 0 {
		log.Info("deleted recordings that were too old or too large", "count", dropped, "mb",
			recording.Total(surplus[:dropped])/1e6)
	}
	return dropped, err
}

// startWebhooks sends the webhooks in the outbox from now on; those that wait from
// before need no model.
func (a *appliance) startWebhooks() {
	var results []string
	for _, r := range webhook.Results() {
		results = append(results, string(r))
	}
	a.figures.WatchWebhooks(results, func() (waiting, dead int) {
		waiting, dead, err := a.records.WebhookCounts(context.Background())
		if err != nil {
			a.log.Warn("cannot count the webhooks", "err", err)
		}
		return waiting, dead
	})
	sender := webhook.Start(webhook.Parts{
		Outbox:       a.records,
		AllowPrivate: a.cfg.Webhooks.AllowPrivate,
		Agent:        "Parley/" + version.String(),
		Log:          a.log,
		Observe: func(r webhook.Result, first bool, after time.Duration) {
			a.figures.Webhook(string(r), first, after)
		},
		Shed: a.figures.WebhooksShed,
	})
	a.onClose(sender.Close)
}

// prefetchConfigs is the number of configs whose prompts are prefilled: about as
// many as the language model stores on the disk. The prompts of configs that were
// used longer ago are prefilled when a chat starts with them.
const prefetchConfigs = 100

// prefetchPatience is how long a prompt waits until no chat is live. Then it is
// prefilled in parallel to the chats, with the lowest urgency: a kiosk may have its
// chat open all day.
const prefetchPatience = 10 * time.Minute

// prefetch prefills the prompts of configs before a chat needs them: of the recent
// configs when the box starts, and of an account's when the account changed them.
type prefetch struct {
	records *store.Store
	plugins api.Plugins
	log     *slog.Logger

	mu      sync.Mutex
	changed map[string]bool // accounts
	wake    chan struct{}   // holds one signal while changed is not empty
}

func newPrefetch(records *store.Store, plugins api.Plugins, log *slog.Logger) *prefetch {
	return &prefetch{
		records: records,
		plugins: plugins,
		log:     log,
		changed: map[string]bool{},
		wake:    make(chan struct{}, 1),
	}
}

// configsChanged notes that an account has made or changed a config or a prompt.
func (p *prefetch) configsChanged(account string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed[account] = true
	select {
	case p.wake <- struct{}{}:
	default: // is awake
	}
}

// run prefills until ctx ends. Changed configs come first: an account that has just
// made a config will try it.
func (p *prefetch) run(ctx context.Context, host *chat.Host) {
	if err := whileQuiet(ctx, host.Occupied, host.PrefillRules); err != nil && ctx.Err() == nil {
		p.log.Warn("cannot prefill the box's rules", "err", err)
	}
	configs := api.NewConfigs(p.records, p.plugins)
	list := p.recent(ctx, "")
	for ctx.Err() == nil {
		list = append(p.news(ctx), list...)
		if len(list) == 0 {
			select {
			case <-p.wake:
			case <-ctx.Done():
			}
			continue
		}
		next := list[0]
		list = list[1:]
		config, err := configs.Config(ctx, next.Account, next.ID, nil)
		if err == nil {
			err = whileQuiet(ctx, host.Occupied, func(ctx context.Context) error { return host.Prefill(ctx, config) })
		}
		if err != nil && ctx.Err() == nil {
			p.log.Warn("cannot prefill the prompt of a config", "config", next.ID, "err", err)
		}
	}
}

// news returns the configs of the accounts that changed some since the last call.
func (p *prefetch) news(ctx context.Context) (list []store.ConfigOf) {
	p.mu.Lock()
	accounts := p.changed
	p.changed = map[string]bool{}
	p.mu.Unlock()
	for account := range accounts {
		list = append(list, p.recent(ctx, account)...)
	}
	return list
}

func (p *prefetch) recent(ctx context.Context, account string) []store.ConfigOf {
	list, err := p.records.RecentConfigs(ctx, account, prefetchConfigs)
	if err != nil && ctx.Err() == nil {
		p.log.Warn("cannot list the configs whose prompts to prefill", "err", err)
	}
	return list
}

// errChatStarted stops a prefill, which a later call resumes.
var errChatStarted = errors.New("a chat has started")

// whileQuiet calls prefill while no chat is live. When a chat starts, prefill is
// stopped, and resumed when all chats have ended; after prefetchPatience it runs in
// parallel to chats. occupied returns whether a chat is live, and a channel that is
// closed when that changes.
func whileQuiet(ctx context.Context, occupied func() (bool, <-chan struct{}),
	prefill func(context.Context) error) error {
	patience := time.NewTimer(prefetchPatience)
	defer patience.Stop()
	late := false
	for {
		busy, changes := occupied()
		for busy && !late {
			select {
			case <-changes:
				busy, changes = occupied()
			case <-patience.C:
				late = true
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if late {
			return prefill(ctx)
		}
		if err := until(ctx, changes, prefill); !errors.Is(err, errChatStarted) {
			return err
		}
	}
}

// until calls prefill, and stops it with errChatStarted when started is closed.
func until(ctx context.Context, started <-chan struct{}, prefill func(context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	over := make(chan error, 1)
	go func() { over <- prefill(ctx) }()
	select {
	case err := <-over:
		return err
	case <-started:
	}
	stop(errChatStarted)
	if err := <-over; err == nil {
		return nil // was at its end
	}
	return errChatStarted
}
