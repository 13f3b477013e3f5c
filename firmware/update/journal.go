package update

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"parley/internal/durable"
)

// journalFormat is the only format so far.
const journalFormat = 1

// journal is what must be known to end an update after a power cut. It is in the file
// journalName of the folder of updates while the box is being changed.
type journal struct {
	Format  int      `json:"format"`
	Step    Step     `json:"step"`
	From    string   `json:"from"` // versions
	To      string   `json:"to"`
	Data    string   `json:"data"`              // the data folder of the box
	Packs   string   `json:"packs"`             // its packs folder
	Replace []string `json:"replace,omitempty"` // packs that the new version brings in place of old ones
	Add     []string `json:"add,omitempty"`     // packs that it brings without an old one
	Schema  bool     `json:"schema"`            // the schema of the database changes, or it is new
	None    bool     `json:"none,omitempty"`    // there was no database when the old version had stopped
	Stopped bool     `json:"stopped"`           // the old version has been told to stop
	Started bool     `json:"started"`           // the new version has begun to run
	Program string   `json:"service,omitempty"` // the service command of a machine without systemd
	Runs    bool     `json:"runs"`              // the box ran before
	Ready   bool     `json:"ready"`             // a conversation could start before
	Answers bool     `json:"answers"`           // it answered a spoken question before
	Key     string   `json:"key,omitempty"`     // the API key of the check, which ends by itself
	Why     string   `json:"why,omitempty"`     // why the way is back
	User    string   `json:"user,omitempty"`    // who began the update; empty after a power cut
	BegunMS int64    `json:"begun_ms"`          // Unix milliseconds
}

func (u *Updater) journalFile() string { return filepath.Join(u.Folder, journalName) }

// readJournal returns the journal, with step Over if there is none.
func (u *Updater) readJournal() (j journal, err error) {
	text, err := os.ReadFile(u.journalFile())
	if errors.Is(err, fs.ErrNotExist) {
		return journal{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	if err == nil && j.Format != journalFormat {
		err = fmt.Errorf("it has format %d, and this Parley reads format %d", j.Format, journalFormat)
	}
	if err != nil {
		return j, fmt.Errorf("reading %s: %w", u.journalFile(), err)
	}
	return j, nil
}

// enter stores that a step begins. Only then may the step change anything.
func (u *Updater) enter(j *journal, s Step) error {
	j.Step = s
	if s == Over {
		if err := os.Remove(u.journalFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return durable.SyncFolder(u.Folder)
	}
	text, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	if err := durable.WriteFile(u.journalFile(), text, 0o600); err != nil {
		return fmt.Errorf("writing the journal of the update: %w", err)
	}
	return nil
}
