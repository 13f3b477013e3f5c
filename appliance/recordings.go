package appliance

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"parley/appliance/config"
	"parley/appliance/recording"
	"parley/internal/disk"
	"parley/internal/layout"
	"parley/store"
)

// RecordingLimits are what the settings allow recordings, on the disk on which
// they lie.
func RecordingLimits(cfg config.Config) (recording.Limits, error) {
	size, err := disk.Size(disk.Nearest(filepath.Join(cfg.Data, layout.Recordings)))
	return recording.Limits{
		Days: cfg.Limits.RecordingsDays, Bytes: cfg.Limits.Recordings.Of(size),
		AccountBytes: cfg.Limits.DiskPerAccount.Of(size),
	}, err
}

// RecordingNotice is what the box said of when it begins to delete recordings;
// the zero Notice where none with limits has started yet.
func RecordingNotice(cfg config.Config) (recording.Notice, error) {
	n, err := recording.ReadNotice(cfg.Data)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return n, err
}

// makeRoom deletes the recordings that are too old or too much. What it does,
// or will do, it logs: at the first time also when there is nothing to do.
func makeRoom(ctx context.Context, cfg config.Config, records *store.Store, now time.Time, first bool,
	log *slog.Logger) error {
	limits, err := RecordingLimits(cfg)
	if err != nil {
		return err
	}
	kept, err := records.StoredSounds(ctx)
	if err != nil {
		return err
	}
	surplus := limits.Surplus(kept, now)
	notice, err := recording.GiveNotice(cfg.Data, len(surplus), recording.Total(surplus), now)
	if err != nil {
		return err
	}
	if first {
		log.Info("recordings", "count", len(kept), "mb", recording.Total(kept)/1e6, "at_most_mb", limits.Bytes/1e6,
			"days", limits.Days)
	}
	if len(surplus) == 0 {
		return nil
	}
	if now.Before(notice.From) {
		log.Warn("recordings are too old or too much, and will be deleted; to keep them, set limits.recordings "+
			"to 0 for ever",
			"from", notice.From.Format(time.RFC3339), "count", len(surplus), "mb", recording.Total(surplus)/1e6,
			"days", limits.Days, "at_most_mb", limits.Bytes/1e6)
		return nil
	}
	dropped, err := recording.Drop(ctx, records, surplus)
	if dropped > 0 {
		log.Info("deleted recordings that were too old or too much", "count", dropped, "mb",
			recording.Total(surplus[:dropped])/1e6)
	}
	return err
}
