package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Whoever builds a commit gets the same program: neither the folder nor the time, the time zone or the umask is in it.
// tools/reproducible also compiles everything anew, and compares whole packages.
func TestTwoBuildsOfACommitAreTheSame(t *testing.T) {
	t.Parallel()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "git", "-C", top, "rev-parse", "HEAD").CombinedOutput()
	if err != nil {
		t.Skipf("git does not read this repository: %s", out)
	}
	var first []byte
	for _, b := range []struct{ folder, umask, zone string }{
		{"a", "022", "Asia/Tokyo"}, {"some/other/folder", "077", "America/Lima"},
	} {
		text := built(t, top, filepath.Join(t.TempDir(), b.folder), b.umask, b.zone)
		if first == nil {
			first = text
		} else if !bytes.Equal(first, text) {
			t.Error("two builds of the last commit differ: see what tools/reproducible says")
		}
	}
}

// built returns the program that is built in a clone of the last commit. Compiled packages come from the cache of this
// user, which the flags of make share.
func built(t *testing.T, top, clone, umask, zone string) []byte {
	t.Helper()
	script := `umask "$1" && git clone --quiet "$2" "$3" && cd "$3" && go build -o built ./cmd/parley`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", umask, top, clone)
	cmd.Env = append(os.Environ(), "TZ="+zone, "GOFLAGS=-trimpath", "CGO_CFLAGS=-O2")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(clone, "built"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
