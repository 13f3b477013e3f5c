package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"parley/internal/durable"
	"parley/internal/layout"
)

// noticePeriod is how long recordings that lie in a data folder when a box first looks
// are spared: a week in which somebody reads the log, or asks the doctor.
const noticePeriod = 7 * 24 * time.Hour

// A Notice says from when on a box deletes recordings that are too old or too
// much. It lies in the data folder, from the first start that had limits.
type Notice struct {
	From       time.Time `json:"from"`       // before this nothing is deleted
	Recordings int       `json:"recordings"` // that had to go by the limits of that start
	Bytes      int64     `json:"bytes"`      // of these
}

// ReadNotice returns the notice in the data folder. fs.ErrNotExist: no box with
// limits has started there yet.
func ReadNotice(data string) (n Notice, err error) {
	text, err := os.ReadFile(filepath.Join(data, layout.RecordingsNotice))
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(text, &n); err != nil {
		return n, fmt.Errorf("%s: %w: delete it, and the box writes a new one",
			filepath.Join(data, layout.RecordingsNotice),
			err)
	}
	return n, nil
}

// GiveNotice returns the notice in the data folder, and writes one where there
// is none: a box that has nothing to delete begins at once, and one that has
// leaves a week to change its limits.
func GiveNotice(data string, surplus int, bytes int64, now time.Time) (Notice, error) {
	n, err := ReadNotice(data)
	if !errors.Is(err, fs.ErrNotExist) {
		return n, err
	}
	n = Notice{From: now.UTC().Truncate(time.Second), Recordings: surplus, Bytes: bytes}
	if surplus > 0 {
		n.From = n.From.Add(noticePeriod)
	}
	text, err := json.Marshal(n)
	if err != nil {
		return n, err
	}
	return n, durable.WriteFile(filepath.Join(data, layout.RecordingsNotice), append(text, '\n'), 0o600)
}
