package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"parley/internal/durable"
	"parley/internal/layout"
)

// Summary describes the newest backup of a box.
type Summary struct {
	MadeMS int64 `json:"made_ms"` // Unix milliseconds
	Bytes  int64 `json:"bytes"`   // before compression
}

// Latest returns the summary of the newest backup of the box with that data folder; ok is
// false if none was made since the folder exists.
func Latest(data string) (m Summary, ok bool, err error) {
	file := filepath.Join(data, layout.LastBackup)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, false, fmt.Errorf("%s: %w: delete it; the next backup writes a new one", file, err)
	}
	return m, true, nil
}

func writeSummary(data string, m Summary) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	file := filepath.Join(data, layout.LastBackup)
	if err := durable.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return durable.Inherit(file)
}
