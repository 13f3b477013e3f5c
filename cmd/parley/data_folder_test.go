package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/store"
)

func TestACommandForAnotherFolderNamesTheOneThatWasMeant(t *testing.T) {
	parent := t.TempDir()
	meant, typo := filepath.Join(parent, "parley"), filepath.Join(parent, "parlay")
	s, err := store.Open(t.Context(), meant, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"keys", "create"}, {"keys", "list"},
		{"backup", filepath.Join(t.TempDir(), "b.tar.zst")},
		{"talk", "--text", "--url", "ws://127.0.0.1:1"},
	} {
		code, _, errs := parley(t, "", append(args, "--data", typo)...)
		if code != exitMisuse || !strings.Contains(errs, "--data "+meant) || !strings.Contains(errs, typo) {
			t.Errorf("%v: code %d, %s", args, code, errs)
		}
	}
	if _, err := os.Stat(typo); err == nil {
		t.Error("one of them began a data folder")
	}
	if f := examined(t, exitDone, "--data", typo, "--listen", freeAddress(t))["database"]; !strings.Contains(f.Mend,
		"--data "+meant) {
		t.Errorf("doctor: %+v", f)
	}
}
