package update

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"parley/internal/durable"
)

// Result is how the last update of a machine ended.
type Result struct {
	From string `json:"from"` // versions
	To   string `json:"to"`
	Done bool   `json:"done"`           // false: the box is back at From
	Why  string `json:"why,omitempty"`  // why it is back
	User string `json:"user,omitempty"` // who began the update; empty if the box ended it by itself
	AtMS int64  `json:"at_ms"`          // Unix milliseconds
	// Recorded is true if the result is in the list of administrative acts.
	Recorded bool `json:"recorded"`
}

// writeResult stores how the update ends.
func (u *Updater) writeResult(j *journal, done bool) error {
	return storeResult(u.Folder, Result{
		From: j.From,
		To:   j.To,
		Done: done,
		Why:  j.Why,
		User: j.User,
		AtMS: time.Now().UnixMilli(),
	})
}

func storeResult(folder string, r Result) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(folder, resultName), text, 0o600)
}

// Record calls record with the result of the last update, once for each update.
func Record(folder string, record func(Result) error) error {
	r, ok, err := LastResult(folder)
	if err != nil || !ok || r.Recorded {
		return err
	}
	if err := record(r); err != nil {
		return err
	}
	r.Recorded = true
	return storeResult(folder, r)
}

// LastResult returns how the last update in a folder of updates ended; false if there was
// none.
func LastResult(folder string) (r Result, ok bool, err error) {
	text, err := os.ReadFile(filepath.Join(folder, resultName))
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err == nil, err
}
