package durable

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// writeEnv names the file that this program, as a child process, writes over and over
// until it is killed.
const writeEnv = "PARLEY_DURABLE_TEST_WRITE"

func TestMain(m *testing.M) {
	if path := os.Getenv(writeEnv); path != "" {
		writeUntilKilled(path)
	}
	os.Exit(m.Run())
}

// text returns the content of the nth write: 1 MiB of one letter.
func text(n int) []byte { return bytes.Repeat([]byte{'a' + byte(n%26)}, 1<<20) }

func writeUntilKilled(path string) {
	for n := 0; ; n++ {
		if err := WriteFile(path, text(n), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(n)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// names returns the names of the files in a folder.
func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func wantFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	must(t, err)
	info, err := os.Stat(path)
	must(t, err)
	if string(got) != text || info.Mode().Perm() != mode {
		t.Errorf("%s holds %.40q with mode %o, want %.40q with %o", path, got, info.Mode().Perm(), text, mode)
	}
	if left := names(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("next to it is %v", left)
	}
}

func TestFileIsReplacedAtomically(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must(t, WriteFile(path, []byte("one"), 0o644))
	wantFile(t, path, "one", 0o644)
	open, err := os.Open(path)
	must(t, err)
	defer open.Close()
	must(t, WriteFile(path, []byte("another"), 0o600))
	wantFile(t, path, "another", 0o600)
	old := make([]byte, 10)
	if n, _ := open.Read(old); string(old[:n]) != "one" {
		t.Errorf("whoever had it open reads %q now", old[:n])
	}
}

func TestUnfinishedFileIsNotVisible(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := Create(path, 0o600)
	must(t, err)
	_, err = f.Write([]byte("half"))
	must(t, err)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
	f.Discard()
	if left := names(t, filepath.Dir(path)); len(left) != 0 {
		t.Errorf("left is %v", left)
	}
}

// A full disk leaves the file as it was.
func TestFailedWriteLeavesOnlyTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must(t, WriteFile(path, []byte("old"), 0o640))
	signal.Ignore(unix.SIGXFSZ)
	defer signal.Reset(unix.SIGXFSZ)
	var before unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &before))
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1000, Max: before.Max}))
	err := WriteFile(path, make([]byte, 5000), 0o600)
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &before))
	if !errors.Is(err, unix.EFBIG) {
		t.Errorf("got %v", err)
	}
	wantFile(t, path, "old", 0o640)

	// Its place is taken by a folder that holds something: it cannot be renamed.
	must(t, os.Remove(path))
	must(t, os.MkdirAll(filepath.Join(path, "more"), 0o700))
	if err := WriteFile(path, []byte("new"), 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if left := names(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left is %v", left)
	}
}

func TestKilledWriterLeavesAWholeFileAndTheNextOneTidies(t *testing.T) {
	littered := false
	// How long it takes to write depends on the machine and on what else it does.
	for try, begun := 0, time.Now(); try < 3 || !littered && time.Since(begun) < time.Minute; try++ {
		path := filepath.Join(t.TempDir(), "f")
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writeEnv+"="+path)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range 2 {
			if !lines.Scan() {
				t.Fatal("it wrote nothing")
			}
		}
		<-time.After(time.Duration(try%10) * 300 * time.Microsecond) // anywhere in the next write
		must(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		got, err := os.ReadFile(path)
		must(t, err)
		if len(got) != 1<<20 || !bytes.Equal(got, bytes.Repeat(got[:1], len(got))) {
			t.Fatalf("the file has %d bytes, from %q to %q", len(got), got[0], got[len(got)-1])
		}
		littered = littered || len(names(t, filepath.Dir(path))) > 1
		must(t, WriteFile(path, []byte("next"), 0o600))
		wantFile(t, path, "next", 0o600)
	}
	if !littered {
		t.Error("in no try was it killed while it wrote")
	}
}

// Files of another living process are not removed, nor files that only look similar.
func TestOnlyAbandonedFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	other, err := Create(path, 0o600)
	must(t, err)
	for _, name := range []string{".f-", ".f-mine", ".f-1x", "f-12", ".g-12"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	must(t, os.WriteFile(filepath.Join(dir, ".f-123"), nil, 0o600))
	must(t, WriteFile(path, []byte("one"), 0o600))
	if left := names(t, dir); len(left) != 7 {
		t.Errorf("left is %v", left)
	}
	_, err = other.Write([]byte("two"))
	must(t, err)
	must(t, other.Commit())
	if got, _ := os.ReadFile(path); string(got) != "two" {
		t.Errorf("the other's file is %q", got)
	}
}

// Parallel writers of one file each have a temporary file; the last one stays, and
// nothing else.
func TestWritersOfOneFileDoNotDisturbEachOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	failed := make(chan error)
	for n := range 8 {
		go func() {
			var err error
			for range 20 {
				err = errors.Join(err, WriteFile(path, []byte{'a' + byte(n)}, 0o600))
			}
			failed <- err
		}()
	}
	for range 8 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
	if left := names(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left is %v", left)
	}
}

func TestReplaceExchangesFolders(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	for _, c := range []string{"one", "two"} {
		s, err := NewStage(dir, "stage-")
		must(t, err)
		must(t, os.WriteFile(filepath.Join(s.Path, "f"), []byte(c), 0o600))
		must(t, Replace(s.Path, target))
		wantFile(t, filepath.Join(target, "f"), c, 0o600)
		if c == "two" {
			wantFile(t, filepath.Join(s.Path, "f"), "one", 0o600)
		}
		must(t, s.Remove())
	}
	if left := names(t, dir); len(left) != 1 {
		t.Errorf("left is %v", left)
	}
	if err := Replace(filepath.Join(dir, "none"), target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("replaced by what is not there: %v", err)
	}
	wantFile(t, filepath.Join(target, "f"), "two", 0o600)
}

func TestStagesOfDeadProcessesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "stage-17", "deep"), 0o700))
	must(t, os.Symlink(t.TempDir(), filepath.Join(dir, "stage-18")))
	living, err := NewStage(dir, "stage-")
	must(t, err)
	another, err := NewStage(dir, "stage-")
	must(t, err)
	if left := names(t, dir); len(left) != 3 {
		t.Errorf("left is %v", left)
	}
	must(t, errors.Join(living.Release(), another.Remove()))
	if _, err := os.Stat(living.Path); err != nil {
		t.Errorf("what was released is gone: %v", err)
	}
}

// A stage that is not locked yet looks like that of a dead process.
func TestStagesAreMadeAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for range 30 {
				s, err := NewStage(dir, "stage-")
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(os.WriteFile(filepath.Join(s.Path, "f"), nil, 0o600), s.Remove()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestNewFileReplacesNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	for i, want := range []error{nil, fs.ErrExist} {
		f, err := Create(path, 0o600)
		must(t, err)
		_, err = f.Write([]byte{'0' + byte(i)})
		must(t, err)
		if err := f.CommitNew(); !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", i, err, want)
		}
		f.Discard()
	}
	text, err := os.ReadFile(path)
	must(t, err)
	left, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	if string(text) != "0" || len(left) != 1 {
		t.Errorf("the file holds %q, and next to it is %v", text, left)
	}
}
