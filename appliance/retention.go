package appliance

import (
	"context"
	"log/slog"
	"time"

	"parley/appliance/chat"
	"parley/appliance/chat/record"
	"parley/appliance/config"
	"parley/appliance/recording"
	"parley/store"
)

// sweepEvery is how often old chats are looked for. Retention is counted in
// days, so an hour more is as good as none.
const sweepEvery = time.Hour

// kept is where conversations are written and recorded, as far as the operator
// wants it.
func kept(r config.Retention, records *store.Store) (chat.Records, chat.Recordings) {
	switch {
	case !r.History:
		return record.Unkept{Outbox: records}, nil
	case !r.Audio:
		return records, nil
	}
	return records, soundOf{records, recording.NewSyncer()}
}

// soundOf begins the recorders of chats, which write into the store's files.
type soundOf struct {
	*store.Store
	syncer *recording.Syncer
}

// Recorder returns the recorder of a chat, whose clock counts from its
// beginning.
func (s soundOf) Recorder(chatID string, clock func() time.Duration, log *slog.Logger) chat.Recorder {
	return recording.New(chatID, s.Store, s.syncer, clock, log)
}

// keepSweeping deletes what is older than it may be, and recordings that are too
// much, now and every hour. The
// function returned stops it and waits until it has.
func keepSweeping(ctx context.Context, cfg config.Config, records *store.Store, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(sweepEvery)
		defer tick.Stop()
		for first := true; ; first = false {
			now := time.Now()
			if err := sweep(ctx, cfg.Retention, records, now, log); err != nil && ctx.Err() == nil {
				log.Error("cannot delete old chats; trying again in an hour", "err", err)
			}
			if err := forgetSpeech(ctx, cfg.Speech, records, now); err != nil && ctx.Err() == nil {
				log.Error("cannot forget what was spoken; trying again in an hour", "err", err)
			}
			if err := makeRoom(ctx, cfg, records, now, first, log); err != nil && ctx.Err() == nil {
				log.Error("cannot make room for recordings; trying again in an hour", "err", err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-stopped }
}

// forgetSpeech forgets the generations of text-to-speech that are too old.
func forgetSpeech(ctx context.Context, s config.Speech, records *store.Store, now time.Time) error {
	if s.KeepDays == 0 {
		return nil
	}
	return records.ExpireGenerations(ctx, now.AddDate(0, 0, -s.KeepDays).UnixMilli())
}

// sweep deletes the chats that ended so many days before now, and what a crash
// has left of deleted ones.
func sweep(ctx context.Context, r config.Retention, records *store.Store, now time.Time, log *slog.Logger) error {
	if r.Days == 0 {
		return records.Tidy(ctx, 0)
	}
	oldest := now.AddDate(0, 0, -r.Days).UnixMilli()
	deleted, err := records.Expire(ctx, oldest)
	if deleted > 0 {
		log.Info("deleted old chats", "chats", deleted, "days", r.Days)
	}
	if err != nil {
		return err
	}
	return records.Tidy(ctx, oldest)
}
