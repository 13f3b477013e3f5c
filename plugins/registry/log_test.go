package registry

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/store"
)

// Another process can follow a log to its end, even if more is logged than is stored.
func TestALogIsFollowed(t *testing.T) {
	data := t.TempDir()
	s := box(t, data)
	other := beside(t, data)
	install(t, s, fileOf(t, described("1.0.0"), empty))
	s.logs.add("tool", Line{Text: "before"})
	s.logs.write()
	told, done := make(chan string, 100), make(chan error, 1)
	go func() {
		done <- other.Follow(t.Context(), "tool", 10, func(l Line) error { told <- l.Text; return nil })
	}()
	want := func(text string) {
		t.Helper()
		select {
		case got := <-told:
			if got != text {
				t.Fatalf("the follower got %.40q, want %.40q", got, text)
			}
		case <-time.After(time.Minute):
			t.Fatalf("the follower did not get %.40q", text)
		}
	}
	want("before")
	for _, text := range []string{"one", strings.Repeat("x", maxQueuedBytes-1000), "two"} {
		s.logs.add("tool", Line{Text: text})
		want(text)
	}
	if lines, err := s.Lines(t.Context(), "tool", 2); err != nil || len(lines) != 2 || lines[1].Text != "two" {
		t.Errorf("the log ends with %d lines, %v", len(lines), err)
	}
	must(t, s.Remove(t.Context(), "tool"))
	if err := <-done; err != (ErrNotInstalled{"tool"}) {
		t.Errorf("the plugin is gone, and following it ended with %v", err)
	}
}

// A plugin that logs faster than the disk can write does not wait: lines are dropped and
// counted.
func TestLinesThatCannotBeWrittenAreCounted(t *testing.T) {
	s := box(t, t.TempDir())
	install(t, s, fileOf(t, described("1.0.0"), empty))
	s.logs.writing.Lock() // the disk hangs
	const lines, each = 2000, 1000
	for n := range lines {
		s.logs.add("tool", Line{Text: fmt.Sprintf("%d%*s", n, each, "")})
	}
	s.logs.writing.Unlock()
	all, err := s.Lines(t.Context(), "tool", 2*lines)
	must(t, err)
	var missing int
	if _, err := fmt.Sscanf(all[len(all)-1].Text, "%d lines are missing here", &missing); err != nil ||
		len(all)-1+missing != lines || missing < lines/3 {
		t.Errorf("%d lines were logged, %d are stored; the last is %q", lines, len(all)-1, all[len(all)-1].Text)
	}
}

// logEnv names the data folder in which this program, started again by a test, logs
// until it is killed.
const logEnv = "PARLEY_SHELF_TEST_LOG"

func logUntilKilled(data string) error {
	records, err := store.Join(context.Background(), data)
	if err != nil {
		return err
	}
	s := Open(Parts{Records: records, Data: data, Log: slog.New(slog.DiscardHandler)})
	for n := 0; ; n++ {
		s.logs.add("tool", Line{Time: time.Now(), Level: "info", Text: fmt.Sprint(n)})
		fmt.Println(time.Now().UnixMilli())
		<-time.After(time.Millisecond)
	}
}

// A kill loses only the lines of the last moment.
func TestAKilledBoxLosesOnlyTheLastLines(t *testing.T) {
	data := t.TempDir()
	s := box(t, data)
	install(t, s, fileOf(t, described("1.0.0"), empty))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), logEnv+"="+data)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	said := bufio.NewScanner(out)
	for range 1000 {
		if !said.Scan() {
			t.Fatal("the process logged nothing")
		}
	}
	must(t, cmd.Process.Kill())
	logged := 1000
	for said.Scan() {
		logged++
	}
	_ = cmd.Wait() // killed
	all, err := s.Lines(t.Context(), "tool", 1_000_000)
	must(t, err)
	for n, l := range all {
		if l.Text != fmt.Sprint(n) {
			t.Fatalf("line %d is %q", n, l.Text)
		}
	}
	t.Logf("%d lines were logged, %d are stored", logged, len(all))
	if len(all) < logged/4 {
		t.Errorf("%d lines were logged, %d are stored", logged, len(all))
	}
}

// Log files of former versions are deleted at the first start.
func TestOldLogFilesAreDeleted(t *testing.T) {
	data := t.TempDir()
	old := filepath.Join(data, "plugins", "log")
	must(t, errors.Join(os.MkdirAll(old, 0o700), os.WriteFile(filepath.Join(old, "tool.log"), []byte("{}\n"), 0o600)))
	must(t, box(t, data).Tidy(t.Context()))
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("they are there: %v", err)
	}
}
