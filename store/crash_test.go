package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// child runs a piece of work in this program as a child process.
func child(t *testing.T, work string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childEnv+"="+work)
	return cmd
}

// writeUntilKilled writes events to 8 chats in parallel and prints the id of each
// acknowledged event.
func writeUntilKilled(args []string) error {
	ctx := context.Background()
	s, err := Join(ctx, args[0])
	if err != nil {
		return err
	}
	account, err := s.Account(ctx, "home")
	if err != nil {
		return err
	}
	var out sync.Mutex
	failed := make(chan error)
	for range 8 {
		go func() {
			n := NewChat{
				ID:        uuid.NewString(),
				GroupID:   uuid.NewString(),
				AccountID: account.ID,
				StartedMS: 1,
				RequestID: "r",
			}
			if err := s.StartChat(ctx, n); err != nil {
				failed <- err
			}
			for {
				e := said(strings.Repeat("word ", 40))
				if err := s.AppendEvents(ctx, n.ID, []Event{e}); err != nil {
					failed <- err
				}
				out.Lock()
				fmt.Println(n.ID, e.ID)
				out.Unlock()
			}
		}()
	}
	return <-failed
}

// A writing process is killed twenty times, every other time without another process, so
// that the next one must recover the log. All acknowledged events are stored, and the
// database is sound.
func TestKilledProcessLosesNothingAcknowledged(t *testing.T) {
	dir := t.TempDir()
	joined := openStore(t, dir)
	newAccount(t, joined, "home")
	must(t, joined.Close())
	acknowledged := map[string]string{} // event to chat
	for round := range 20 {
		if round%2 == 1 {
			joined = openStore(t, dir)
		}
		killWriting(t, dir, time.Duration(5+7*round)*time.Millisecond, acknowledged)
		must(t, joined.Close()) // again, where it was not opened: that does nothing
	}
	s := openStore(t, dir)
	t.Logf("%d writes were acknowledged", len(acknowledged))
	must(t, s.Check(t.Context()))
	open := wantAll(t, s, acknowledged)
	ended, err := s.EndOpenChats(t.Context(), time.Now().UnixMilli(), func(string) time.Duration { return 0 })
	must(t, err)
	if len(ended) != len(open) {
		t.Errorf("%d chats ended of %d open", len(ended), len(open))
	}
}

// killWriting starts a writing process, kills it so long after its first acknowledgement,
// and adds what it acknowledged.
func killWriting(t *testing.T, dir string, after time.Duration, acknowledged map[string]string) {
	t.Helper()
	cmd := child(t, "write", dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	lines := make(chan string, 1<<16)
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			lines <- scan.Text()
		}
	}()
	first, ok := <-lines
	if !ok {
		t.Fatal("the child wrote nothing")
	}
	time.Sleep(after)
	must(t, cmd.Process.Kill())
	note(acknowledged, first)
	for line := range lines {
		note(acknowledged, line)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
}

// wantAll checks that every acknowledged event is in its chat and that the events of each
// chat are complete, and returns the chats, which are all open.
func wantAll(t *testing.T, s *Store, acknowledged map[string]string) []Chat {
	t.Helper()
	stored := map[string]string{}
	open, err := s.OpenChats(t.Context())
	must(t, err)
	for _, chat := range open {
		events, total, err := s.Events(t.Context(), chat.ID, Page{Size: 1 << 20})
		must(t, err)
		if total != len(events) {
			t.Errorf("chat %s counts %d events and has %d", chat.ID, total, len(events))
		}
		for i, e := range events {
			if e.Seq != int64(i+1) {
				t.Fatalf("chat %s: event %d has number %d", chat.ID, i, e.Seq)
			}
			stored[e.ID] = chat.ID
		}
	}
	for event, chat := range acknowledged {
		if stored[event] != chat {
			t.Errorf("event %s of chat %s was acknowledged and is lost", event, chat)
		}
	}
	return open
}

// note records an acknowledgement; the kill may have cut the last line.
func note(acknowledged map[string]string, line string) {
	if chat, event, ok := strings.Cut(line, " "); ok && len(event) == len(uuid.Nil.String()) {
		acknowledged[event] = chat
	}
}

func TestTwoProcessesShareTheDatabase(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	account := newAccount(t, s, "home")
	keys, err := s.ListKeys(t.Context(), account)
	must(t, err)

	other := joinStore(t, dir) // connections of its own, as those of a command
	made, err := other.CreateKey(t.Context(), NewKey{Account: "home", Label: "made beside a running box"})
	must(t, err)
	got, err := s.OpenKey(t.Context(), made.APIKey)
	must(t, err)
	if got.AccountID != account {
		t.Errorf("the new key opens %s, want %s", got.AccountID, account)
	}
	must(t, other.RevokeKey(t.Context(), made.KeyID))
	_, err = s.OpenKey(t.Context(), made.APIKey)
	wantError(t, err, ErrNotFound)
	wantError(t, s.Holds(t.Context(), got), ErrNotFound)
	must(t, other.RevokeKey(t.Context(), keys[0].ID))

	cmd := child(t, "write", dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer func() { cmd.Process.Kill(); io.Copy(io.Discard, out); cmd.Wait() }()
	lines := bufio.NewScanner(out)
	chat := startChat(t, s, account)
	for i := range 50 {
		if !lines.Scan() {
			t.Fatal("the other process stopped")
		}
		if err := s.AppendEvents(t.Context(), chat.ID, []Event{said("x")}); err != nil {
			t.Fatalf("write %d during another process: %v", i, err)
		}
	}
}

// Only one process can serve the folder; any number of commands can join it.
func TestOneOfManyStartingProcessesServesTheFolder(t *testing.T) {
	dir := t.TempDir()
	must(t, child(t, "open", dir).Run())
	for _, work := range []string{"open", "join"} {
		answers := make(chan error, 8)
		for range cap(answers) {
			cmd := child(t, work, dir)
			go func() {
				out, err := cmd.CombinedOutput()
				if err != nil && (work == "join" || !strings.Contains(string(out), ErrLocked.Error())) {
					answers <- fmt.Errorf("%s: %w: %s", work, err, out)
					return
				}
				answers <- nil
			}()
		}
		for range cap(answers) {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
	}
}
