// Package packtest finds what tests need: model packs, and recordings of people.
package packtest

import (
	"os"
	"path/filepath"
	"testing"

	"parley/internal/layout"
)

// File returns the path of a file of a model pack: in PARLEY_PACKS, else in packs of
// PARLEY_CACHE, else in the home folder. It fails the test if there is no such file.
func File(t testing.TB, parts ...string) string {
	t.Helper()
	dir := os.Getenv("PARLEY_PACKS")
	if cache := os.Getenv("PARLEY_CACHE"); dir == "" && cache != "" {
		dir = filepath.Join(cache, "packs")
	}
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = layout.InHome(home, layout.DefaultPacks)
	}
	path := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: fetch the models with `make packs`", err)
	}
	return path
}
