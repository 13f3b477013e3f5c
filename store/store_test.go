package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"go.uber.org/goleak"
)

// childEnv names the work for which a test starts this program again, as a process that
// can be killed or run as another user.
const childEnv = "PARLEY_STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if work, ok := childWork()[os.Getenv(childEnv)]; ok {
		if err := work(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func childWork() map[string]func(args []string) error {
	return map[string]func([]string) error{
		"open": func(args []string) error {
			s, err := Open(context.Background(), args[0], slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			return s.Close()
		},
		"join": func(args []string) error {
			s, err := Join(context.Background(), args[0])
			if err != nil {
				return err
			}
			return s.Close()
		},
		"hold":    holdLock,
		"migrate": dieMigrating,
		"write":   writeUntilKilled,
	}
}

func joinStore(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Join(t.Context(), dir)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openStore(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// newAccount returns the id of a new account.
func newAccount(t testing.TB, s *Store, name string) string {
	t.Helper()
	must(t, func() error { _, err := s.CreateKey(t.Context(), NewKey{Account: name}); return err }())
	a, err := s.Account(t.Context(), name)
	must(t, err)
	return a.ID
}

// startChat starts a chat in a new group and returns it.
func startChat(t testing.TB, s *Store, account string, events ...Event) NewChat {
	t.Helper()
	n := NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: account,
		StartedMS: 1000,
		RequestID: "r",
	}
	must(t, s.StartChat(t.Context(), n, events...))
	return n
}

func said(text string) Event {
	return Event{
		ID:          uuid.NewString(),
		AtMS:        2000,
		Type:        UserMessage,
		Role:        User,
		MessageText: text,
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t testing.TB, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("error is %v, want one of the kind %q", err, kind)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
}

func TestFilesAreReadableByTheirOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b ?#%41'\"")
	s := openStore(t, dir)
	newAccount(t, s, "home")
	files, err := filepath.Glob(filepath.Join(strings.NewReplacer("?", `\?`).Replace(dir), "*"))
	must(t, err)
	if len(files) < 3 {
		t.Fatalf("the folder holds %v, want the database, its log and its index", files)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		must(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, want nothing for others", name, info.Mode())
		}
	}
	// Through the folder others come to the certificate that they have to trust.
	info, err := os.Stat(dir)
	must(t, err)
	if info.Mode().Perm() != 0o711 {
		t.Errorf("the folder has mode %v, want that others may pass and not look", info.Mode())
	}
}

func TestEveryConnectionHasThePragmas(t *testing.T) {
	s := openStore(t, t.TempDir())
	for name, q := range map[string]querier{"reader": s.read, "writer": s.w.conn} {
		for pragma, want := range map[string]string{
			"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000",
			"trusted_schema": "0",
		} {
			got, err := value[string](t.Context(), q, "PRAGMA "+pragma)
			must(t, err)
			if got != want {
				t.Errorf("%s of the %s is %s, want %s", pragma, name, got, want)
			}
		}
	}
	if _, err := s.read.db.Exec(`DELETE FROM account`); err == nil {
		t.Error("a reader can write")
	}
}

func TestSecondCloseDoesNothing(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	must(t, err)
	must(t, s.Close())
	must(t, s.Close())
	_, err = s.CreateKey(t.Context(), NewKey{Account: "home"})
	wantError(t, err, ErrClosed)
	if _, err := s.OpenChats(t.Context()); err == nil {
		t.Error("a closed store can be read")
	}
	left, err := filepath.Glob(filepath.Join(s.dir, "parley.db-*"))
	must(t, err)
	if len(left) != 0 {
		t.Errorf("closing left %v", left)
	}
}
