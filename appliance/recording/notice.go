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

// noticePeriod is how long the first start with limits spares the recordings beyond them: a
// week in which the operator may read the log or run the doctor.
const noticePeriod = 7 * 24 * time.Hour

// Notice says from when on a box deletes recordings that are too old or take too much
// space. It lies in the data folder from the first start with limits on.
type Notice struct {
	From       time.Time `json:"from"`       // nothing is deleted before
	Recordings int       `json:"recordings"` // number beyond the limits at that start
	Bytes      int64     `json:"bytes"`      // their size
}

// ReadNotice returns the notice in the data folder. The error is fs.ErrNotExist if no box
// with limits has started there yet.
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

// GiveNotice returns the notice in the data folder, and writes one if there is none. A box
// without surplus deletes from now on; a box with surplus leaves its operator a week to
// change the limits.
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
