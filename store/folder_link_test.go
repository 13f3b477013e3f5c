package store

import (
	"os"
	"path/filepath"
	"testing"
)

// Root may open the data folder of the service, which must not have root write elsewhere.
func TestLockDoesNotFollowALink(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	for _, err := range []error{
		os.WriteFile(outside, []byte("secret"), 0o600),
		os.Symlink(outside, filepath.Join(dir, lockName)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Lock(dir); err == nil {
		t.Error("the folder is locked")
	}
	if text, err := os.ReadFile(outside); string(text) != "secret" {
		t.Errorf("the other file is now %q, %v", text, err)
	}
}
