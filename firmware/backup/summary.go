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

// Summary is what a box knows of its newest backup.
type Summary struct {
	MadeMS int64 `json:"made_ms"` // Unix milliseconds
	Bytes  int64 `json:"bytes"`   // before compression
}

// Latest returns what the box whose data lies in a folder knows of its newest
// backup; false where none was made of it since it lies there.
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
		return m, false, fmt.Errorf("%s: %w: delete it, and the next backup writes a new one", file, err)
	}
	return m, true, nil
}

func writeSummary(data string, m Summary) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(data, layout.LastBackup), append(text, '\n'), 0o600)
}
