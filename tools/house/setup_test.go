package house

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// setUp runs tools/setup as on a new machine whose disks have freeMB megabytes free.
func setUp(t *testing.T, freeMB int, purpose string, env ...string) (said string, err error) {
	t.Helper()
	dir := t.TempDir()
	df := fmt.Sprintf(
		"#!/bin/sh\necho Filesystem 1024-blocks Used Available Capacity Mounted\necho disk 99999999 0 %d 1%% /\n",
		freeMB*1000)
	if err := os.WriteFile(filepath.Join(dir, "df"), []byte(df), 0o755); err != nil {
		t.Fatal(err)
	}
	setup, err := filepath.Abs(filepath.Join(root, "tools", "setup"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), setup, purpose)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "PARLEY_CACHE="+filepath.Join(dir, "cache"),
		"PARLEY_PACKS=", "PARLEY_PROFILE=", "PARLEY_ROOM=")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A full disk is reported before anything is fetched.
func TestSetUpStopsWhereTheDiskIsTooSmall(t *testing.T) {
	if said, err := setUp(t, 100_000, "run"); err != nil ||
		!strings.Contains(said, "1.3 GB of the 100.0 GB free on / (the models)") {
		t.Errorf("with enough space: %v\n%s", err, said)
	}
	said, err := setUp(t, 900, "run")
	if err == nil ||
		!strings.Contains(said, "too little space on /: free some, choose smaller models (PROFILE=small)") {
		t.Errorf("with 900 MB for the models: %v\n%s", err, said)
	}
	if said, err := setUp(t, 900, "run", "PARLEY_PROFILE=small"); err != nil {
		t.Errorf("with 900 MB for the small models: %v\n%s", err, said)
	}
	if said, err := setUp(t, 900, "run", "PARLEY_ROOM=any"); err != nil {
		t.Errorf("with the check skipped: %v\n%s", err, said)
	}
}

func TestProgressTellsHowFarItIs(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "bash", "-c", `
		every=1 . ../progress compiling < <(echo "3 7 net/http"; sleep 1.5)
		every=1 . ../progress installing < <(echo "40 100 Unpacking npm"; sleep 1.5)`)
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"compiling: 3 of 7, 0:0", ", net/http\n", "installing: 40 %, 0:0",
		", Unpacking npm\n"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, %q has no %q", err, out, want)
		}
	}
}

// make fresh refuses an unknown suite before it creates anything.
func TestFreshRefusesAnotherSuite(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "tools", "fresh", "fresh"))
	dir := filepath.Join(t.TempDir(), "fresh")
	cmd.Env = append(os.Environ(), "FRESH_SUITE=buster", "FRESH_DIR="+dir)
	out, err := cmd.CombinedOutput()
	if err == nil || string(out) != "fresh: FRESH_SUITE: \"buster\" is not allowed: use bookworm or trixie\n" {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it made its folder")
	}
}
