package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ctrlC is a standard error that interrupts the command when it is first written to.
type ctrlC struct {
	bytes.Buffer
	cancel context.CancelCauseFunc
	at     time.Time
}

func (w *ctrlC) Write(p []byte) (int, error) {
	if w.at.IsZero() {
		w.at = time.Now()
		w.cancel(signalled{syscall.SIGINT})
	}
	return w.Buffer.Write(p)
}

// wantInterrupted runs a command, interrupts it once it works, and expects exit code 130
// at once, and a last line with want.
func wantInterrupted(t *testing.T, want string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	w := &ctrlC{cancel: cancel}
	c := &console{
		in:      strings.NewReader(""),
		out:     &bytes.Buffer{},
		err:     w,
		environ: []string{"HOME=" + t.TempDir()},
	}
	code := run(ctx, args, c)
	took := time.Since(w.at)
	lines := strings.Split(strings.TrimSpace(w.String()), "\n")
	if last := lines[len(lines)-1]; code != 130 || last != "parley: interrupted: "+want {
		t.Errorf("%s: exit code %d, %q; want 130, %q", args[0], code, last, want)
	}
	// At once, and as long as the disk of a busy machine takes for a piece of 8 MiB.
	if w.at.IsZero() || took > atOnce {
		t.Errorf("%s ended %v after Ctrl-C", args[0], took)
	}
}

func wantEntries(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("in %s lies %q, want %q", dir, names, want)
	}
}

func TestCtrlCWhilePacksAreCarriedLeavesNothingHalf(t *testing.T) {
	from, to, out := linkedPacks(t, "voice-joe"), filepath.Join(t.TempDir(), "packs"), t.TempDir()
	file := filepath.Join(out, "f")
	wantInterrupted(t, file+" was not written: run the command again", "packs", "--packs", from, "export", file,
		"voice-joe")
	wantEntries(t, out)
	if code, _, errs := packsAt(t, from, "pull", "--export", file, "voice-joe"); code != exitDone {
		t.Fatal(errs)
	}
	wantInterrupted(t, "the packs are as they were: run the command again", "packs", "--packs", to, "import", file)
	wantEntries(t, to, ".stage")
	wantEntries(t, filepath.Join(to, ".stage"), "lock")
}

func TestCtrlCWhilePacksAreFetchedSaysWhatIsKept(t *testing.T) {
	bin := t.TempDir()
	hangs := "#!/bin/sh\nsleep 600 &\nwait\n"
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(hangs), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	dir := linkedPacks(t, "turn")
	wantInterrupted(t, "1 of 2 packs are ready, and what was fetched of the others stays: parley packs pull turn "+
		"runtime-onnx continues from there",
		"packs", "--packs", dir, "pull", "turn", "runtime-onnx")
}

func TestCtrlCLeavesABoxAndItsBackupsWhole(t *testing.T) {
	dir, _ := aBox(t)
	noise := bytes.Repeat([]byte("sound"), 8<<20)
	if err := os.WriteFile(filepath.Join(dir, "recordings", "long.opus"), noise, 0o600); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	file := filepath.Join(out, "b")
	wantInterrupted(t, file+" was not written: run the command again", "backup", file, "--data", dir)
	wantEntries(t, out)
	if code, _, errs := parley(t, "", "backup", file, "--data", dir); code != exitDone {
		t.Fatal(errs)
	}
	home := t.TempDir()
	to := filepath.Join(home, "new")
	wantInterrupted(t, to+" is as it was: run the command again", "restore", file, "--data", to)
	wantEntries(t, home)
}
