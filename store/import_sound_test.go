package store

import (
	"os"
	"path/filepath"
	"testing"

	"parley/internal/layout"
)

// Root may import: whoever can change the data folder must not send its files elsewhere.
func TestImportedSoundDoesNotFollowALinkOutOfTheDataFolder(t *testing.T) {
	s := openStore(t, t.TempDir())
	n := NewChat{ID: "0193c0de-0000-4000-8000-000000000001", AccountID: newAccount(t, s, "home"), RequestID: "r"}
	n.GroupID, n.StartedMS = "0193c0de-0000-4000-8000-000000000002", 4000
	must(t, s.StartChat(t.Context(), n))
	must(t, s.EndChat(t.Context(), n.ID, UserEnded, 5000))
	elsewhere := t.TempDir()
	folder := filepath.Join(s.dir, layout.Recordings)
	must(t, os.RemoveAll(folder))
	must(t, os.Symlink(elsewhere, folder))
	sides := map[Side][]byte{UserSide: []byte("sound"), AssistantSide: []byte("silence")}
	if err := s.ImportSound(t.Context(), n.ID, sides); err == nil {
		t.Error("it followed the link")
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	must(t, os.Remove(folder))
	must(t, s.ImportSound(t.Context(), n.ID, sides))
	if names := recordingsIn(t, s); len(names) != 2 {
		t.Errorf("%v", names)
	}
}
