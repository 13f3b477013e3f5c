package packs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDamageIsReportedWithTheCommandThatRepairsIt(t *testing.T) {
	r := newRegistry(t)
	p := r.model("m", 2)
	for name, hurt := range map[string]func(t *testing.T, file string) error{
		"model.gguf has sha256 ":       func(t *testing.T, f string) error { flip(t, f, 9); return nil },
		"model.gguf has 7 bytes, not ": func(_ *testing.T, f string) error { return os.Truncate(f, 7) },
		"model.gguf is not there":      func(_ *testing.T, f string) error { return os.Remove(f) },
		"model.gguf is not a file": func(_ *testing.T, f string) error {
			return errors.Join(os.Remove(f), os.Mkdir(f, 0o755))
		},
		"model.gguf is not there (dangling)": func(_ *testing.T, f string) error {
			return errors.Join(os.Remove(f), os.Symlink("/nowhere", f))
		},
		"model.gguf cannot be read: too many l": func(_ *testing.T, f string) error {
			return errors.Join(os.Remove(f), os.Symlink(f, f))
		},
	} {
		dir := t.TempDir()
		pull(t, dir, p)
		if err := hurt(t, filepath.Join(dir, "m", "model.gguf")); err != nil {
			t.Fatal(err)
		}
		err := Require(t.Context(), dir, []Pack{p})
		var e *ErrNotReady
		why, _, _ := strings.Cut(name, " (")
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "pack m is damaged ("+why) ||
			!strings.Contains(err.Error(), "run: parley packs pull m") {
			t.Errorf("%s: got %v", name, err)
		}
		pull(t, dir, p)
		wantStatus(t, dir, p, true, Ready)
	}
}

func TestOnlyAChangedFileIsHashedAgain(t *testing.T) {
	r := newRegistry(t)
	dir := t.TempDir()
	p := r.model("m", 1)
	pull(t, dir, p)
	file := filepath.Join(dir, "m", "model.gguf")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, file, 0)
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, dir, p, false, Ready) // same size, same time: not looked into
	wantStatus(t, dir, p, true, Damaged)

	flip(t, file, 0) // right again, at another time: looked into, then known
	later := info.ModTime().Add(time.Second)
	if err := os.Chtimes(file, later, later); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, dir, p, false, Ready)
	if r := readRecord(filepath.Join(dir, "m")); !r.verified(p.Builds["any"].Files[0], mustStat(t, file)) {
		t.Error("the record does not know the file's new time")
	}
}

func mustStat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestExistingFilesAreAdopted(t *testing.T) {
	r := newRegistry(t)
	dir := t.TempDir()
	p := r.model("m", 1)
	pull(t, dir, p)
	for _, f := range []string{recordName, "LICENSE", "CARD.md"} {
		if err := os.Remove(filepath.Join(dir, "m", f)); err != nil {
			t.Fatal(err)
		}
	}
	r.calls()
	pull(t, dir, p)
	if calls := r.calls(); len(calls) > 0 {
		t.Errorf("it fetched %v", calls)
	}
	if got := readRecord(filepath.Join(dir, "m")); got.Name != "m" || len(got.Files) != 2 {
		t.Errorf("record: %+v", got)
	}
}

func TestSystemPackIsFoundByItsLibraryAndData(t *testing.T) {
	p, _ := builtIn("espeak-ng")
	root := t.TempDir()
	s := inspectSystem(p, root)
	if s.Status != Absent || s.Mend != "apt-get install libespeak-ng1 espeak-ng-data" {
		t.Fatalf("got %+v", s)
	}
	lib := filepath.Join(root, "usr/lib/x86_64-linux-gnu")
	if err := errors.Join(os.MkdirAll(filepath.Join(lib, "espeak-ng-data"), 0o755),
		os.WriteFile(filepath.Join(lib, "libespeak-ng.so.1"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if s := inspectSystem(p, root); s.Status != Absent || !strings.Contains(s.Why, "espeak-ng-data/phontab") {
		t.Fatalf("without data: %+v", s)
	}
	if err := os.WriteFile(filepath.Join(lib, "espeak-ng-data", "phontab"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if s := inspectSystem(p, root); s.Status != Ready {
		t.Fatalf("got %+v", s)
	}
}

func TestErrorNamesOneCommandForAllMissingPacks(t *testing.T) {
	dir := t.TempDir()
	all, err := Profile("default")
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(p Pack) bool { return p.System != nil })
	err = Require(t.Context(), dir, all)
	if err == nil || strings.Count(err.Error(), "run: ") != 1 || !strings.Contains(err.Error(), "--packs "+dir) {
		t.Fatalf("got %v, want one command", err)
	}
	for _, p := range all {
		if !strings.Contains(err.Error(), p.Name) {
			t.Errorf("%v does not fetch %s", err, p.Name)
		}
	}
}
