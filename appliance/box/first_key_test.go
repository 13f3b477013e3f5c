package box

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/layout"
	"parley/store"
)

// write writes a file, and creates the folders above it.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func newRecords(t *testing.T) (*store.Store, string) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	records, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = records.Close() })
	return records, data
}

func TestFirstKeyOnATerminalIsNotWritten(t *testing.T) {
	records, data := newRecords(t)
	key, err := MakeFirstKey(t.Context(), data, true, records)
	if err != nil || !key.Made || key.File != "" || len(key.APIKey) < 40 {
		t.Fatalf("%+v, %v", key, err)
	}
	if LeftFirstKey(data) != "" {
		t.Error("it was written all the same")
	}
	if again, err := MakeFirstKey(t.Context(), data, true, records); err != nil || again.Made {
		t.Errorf("a second one: %+v, %v", again, err)
	}
}

// A box that joined before its first start has keys of its hub already, which open nothing of
// the operator's.
func TestFirstKeyIsMadeBesideThoseOfTheHub(t *testing.T) {
	records, data := newRecords(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(records.JoinFleet(t.Context(), store.Fleet{Box: "museum-1", Hub: "hub"}))
	must(records.ApplyWant(t.Context(), store.Want{Revision: 1, Accounts: []store.WantedAccount{{
		Name: DefaultAccount,
		Keys: []store.WantedKey{{ID: "5b0c", Label: "app", APIHash: make([]byte, 32), SecretHash: make([]byte, 32)}},
	}}}))
	if key, err := MakeFirstKey(t.Context(), data, true, records); err != nil || !key.Made {
		t.Errorf("%+v, %v", key, err)
	}
}

func TestFirstKeyWithoutATerminalGoesToAFile(t *testing.T) {
	records, data := newRecords(t)
	key, err := MakeFirstKey(t.Context(), data, false, records)
	if err != nil || key.File != filepath.Join(data, layout.FirstKey) {
		t.Fatalf("%+v, %v", key, err)
	}
	info, err := os.Stat(key.File)
	if err != nil || info.Mode().Perm() != 0o600 || LeftFirstKey(data) != key.File {
		t.Errorf("%v, %v", info, err)
	}
	out, err := exec.Command("sh", "-c", "set -a; . "+key.File+"; printenv PARLEY_API_KEY").Output()
	if err != nil || strings.TrimSpace(string(out)) != key.APIKey {
		t.Errorf("a shell reads %q, %v", out, err)
	}
}

func TestFirstKeyDoesNotOverwriteAFile(t *testing.T) {
	records, data := newRecords(t)
	file := filepath.Join(data, layout.FirstKey)
	write(t, file, "of another box")
	if key, err := MakeFirstKey(t.Context(), data, false, records); err == nil ||
		!strings.Contains(err.Error(), file) || key.Made {
		t.Errorf("%+v, %v", key, err)
	}
	if text, _ := os.ReadFile(file); string(text) != "of another box" {
		t.Errorf("it holds %q", text)
	}
	if keys, err := records.ListKeys(t.Context(), ""); err != nil || len(keys) != 0 {
		t.Errorf("a key without its secrets: %v, %v", keys, err)
	}
	if err := writeFirstKey(file, store.Credentials{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written at the last moment: %v", err)
	}
}
