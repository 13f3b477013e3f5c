package store

import (
	"os"
	"path/filepath"
	"testing"
)

// If the data folder is deleted or moved while a box runs, writes fail, and new
// conversations are refused.
func TestWriteIntoADeletedFolderFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := openStore(t, dir)
	chat := startChat(t, s, newAccount(t, s, "home"))
	must(t, s.AppendEvents(t.Context(), chat.ID, []Event{said("one")}))

	away := dir + ".away"
	must(t, os.Rename(dir, away))
	wantError(t, s.AppendEvents(t.Context(), chat.ID, []Event{said("two")}), ErrMoved, "put it back")
	must(t, os.Mkdir(dir, 0o700)) // as who writes recordings does
	must(t, os.WriteFile(filepath.Join(dir, databaseName), nil, 0o600))
	wantError(t, s.AppendEvents(t.Context(), chat.ID, []Event{said("three")}), ErrReadOnly)
	wantError(t, s.Writable(t.Context()), ErrMoved)

	must(t, os.RemoveAll(dir))
	must(t, os.Rename(away, dir))
	must(t, s.Writable(t.Context()))
	must(t, s.AppendEvents(t.Context(), chat.ID, []Event{said("four")}))
}

func TestMovedFolderIsReportedBeforeAWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := openStore(t, dir)
	must(t, os.Rename(dir, dir+".away"))
	must(t, os.Mkdir(dir, 0o700))
	wantError(t, s.Writable(t.Context()), ErrMoved)
	must(t, os.Remove(dir))
	must(t, os.Rename(dir+".away", dir))
}
