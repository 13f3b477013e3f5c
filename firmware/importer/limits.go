package importer

import (
	"context"
	"fmt"
)

// limits notes what the settings of the box will do to the imported records.
func (w *work) limits(ctx context.Context) error {
	s := w.Settings
	if w.expiring > 0 {
		w.report.notef("%d of the new chats ended more than %d days ago: the box deletes them and their recordings "+
			"within a day, by retention.keep. To keep them, set it to \"all for ever\" before the import.",
			w.expiring, s.KeepDays)
	}
	if w.expiringSounds > 0 {
		w.report.notef("%d of the new recordings are of chats that ended more than %d days ago: the box deletes them "+
			"within a day, by limits.recordings. To keep them, set it to \"25%% for ever\" before the import.",
			w.expiringSounds, s.RecordingDays)
	}
	if !s.KeepHistory {
		w.report.notef("retention.keep is \"nothing\": the imported chats are stored all the same, but none can be " +
			"resumed.")
	}
	use, err := w.Store.Usage(ctx, w.Account.ID)
	if err != nil {
		return err
	}
	for _, limit := range []struct {
		name      string
		most, has int64
	}{
		{"limits.disk_per_account", s.AccountBytes, use.Total()},
		{"limits.recordings", s.RecordingBytes, use.SoundBytes},
	} {
		if limit.most > 0 && limit.has > limit.most {
			w.report.notef("The account has %s, and %s allows %s: raise it, or the box deletes the oldest recordings "+
				"and refuses new chats.", megabytes(limit.has), limit.name, megabytes(limit.most))
		}
	}
	if w.report.Omitted > 0 {
		w.report.notef("%d further lines are not in this report.", w.report.Omitted)
	}
	return nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
