package store

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/layout"
)

// schema5 creates a data folder as the last Parley did that recorded its steps with the
// library goose: accounts default and museum, two ended chats and one active, a prompt.
func schema5(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	packed, err := os.Open("testdata/schema5.db.gz")
	must(t, err)
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	must(t, err)
	f, err := os.Create(filepath.Join(dir, databaseName))
	must(t, err)
	_, err = io.Copy(f, unpacked)
	must(t, errors.Join(err, f.Close()))
	return dir
}

func TestDatabaseMigratedByGooseIsAdopted(t *testing.T) {
	dir := schema5(t)
	if schema, err := Inspect(t.Context(), dir); err != nil || schema != 5 {
		t.Fatalf("before, its schema is %d, %v", schema, err)
	}
	s := openStore(t, dir)
	must(t, s.Check(t.Context()))
	target, err := NewestSchema()
	must(t, err)
	for pragma, want := range map[string]int64{"user_version": target, "application_id": applicationID} {
		if got, err := value[int64](t.Context(), s.read, "PRAGMA "+pragma); err != nil || got != want {
			t.Errorf("%s is %d (%v), want %d", pragma, got, err, want)
		}
	}
	// Where the old Parley looks, it finds a newer one's schema.
	if noted, err := value[int64](t.Context(), s.read,
		`SELECT max(version_id) FROM goose_db_version WHERE is_applied`); err != nil || noted != target {
		t.Errorf("goose's table says %d (%v), want %d", noted, err, target)
	}
	if _, err := os.Stat(filepath.Join(dir, layout.DatabaseCopy(target))); err != nil {
		t.Error("no copy was put aside")
	}
	wantSchema5(t, s)
}

// wantSchema5 checks the contents of schema5.
func wantSchema5(t *testing.T, s *Store) {
	t.Helper()
	home, err := s.Account(t.Context(), "default")
	must(t, err)
	keys, err := s.ListKeys(t.Context(), "")
	must(t, err)
	if len(keys) != 2 || keys[0].Role != OperatorKey || keys[1].Role != ClientKey || keys[0].ExpiresMS != 0 {
		t.Errorf("the keys are %+v; the default account's could read figures, and still can", keys)
	}
	accounts, err := s.Accounts(t.Context())
	must(t, err)
	if len(accounts) != 2 {
		t.Errorf("the accounts are %v", accounts)
	}
	chats, total, err := s.Chats(t.Context(), home.ID, ChatFilter{}, Page{Size: 10})
	must(t, err)
	if total != 3 || chats[2].Status != Active {
		t.Errorf("%d chats: %+v", total, chats)
	}
	events, _, err := s.Events(t.Context(), chats[0].ID, Page{Size: 9})
	must(t, err)
	if len(events) != 1 || events[0].MessageText != "keep me 0" {
		t.Errorf("the events are %+v", events)
	}
	used, err := s.Usage(t.Context(), home.ID)
	must(t, err)
	prompt := int64(versionBytes + len(`{"text":"hello"}`))
	if want := 3*int64(chatBytes+eventBytes+len("keep me 0")) + prompt; used.Total() != want {
		t.Errorf("the account holds %d bytes, want %d", used.Total(), want)
	}
}

// A command that joins the database does not migrate it, whether or not a box of the
// older Parley runs, and says what to do instead.
func TestJoiningDoesNotMigrate(t *testing.T) {
	dir := schema5(t)
	before := contents(t, dir)
	_, err := Join(t.Context(), dir)
	wantError(t, err, ErrOlder, dir, "version 5", "parley serve")
	release, err := Lock(dir)
	must(t, err)
	_, err = Join(t.Context(), dir)
	wantError(t, err, ErrOlder, dir, "version 5", "restart the box")
	_, err = Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	wantError(t, err, ErrLocked)
	release()
	if contents(t, dir) != before {
		t.Error("the database was changed")
	}
	if _, err := os.Stat(filepath.Join(dir, layout.DatabaseCopy(6))); err == nil {
		t.Error("a copy was put aside for nothing")
	}
}

func TestJoiningCreatesNoDatabase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "typo")
	_, err := Join(t.Context(), dir)
	wantError(t, err, ErrNotFound, dir, "--data", "parley serve")
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the folder was created")
	}
	must(t, os.MkdirAll(dir, 0o700))
	_, err = Join(t.Context(), dir)
	wantError(t, err, ErrNotFound, dir)
	must(t, os.WriteFile(filepath.Join(dir, databaseName), nil, 0o600)) // as a box makes it just now
	_, err = Join(t.Context(), dir)
	wantError(t, err, ErrNotFound, dir)
}

func TestMigrationsAreNumberedInOrder(t *testing.T) {
	steps, err := migrations()
	must(t, err)
	for i, step := range steps {
		if step.version != int64(i+1) {
			t.Errorf("step %d has number %d", i+1, step.version)
		}
		if strings.Contains(step.text, "goose") {
			t.Errorf("step %d speaks of goose", step.version)
		}
	}
}

// Join refuses a newer database of that kind too.
func TestJoiningANewerDatabaseIsRefused(t *testing.T) {
	dir, _, _ := filled(t)
	s, err := open(context.Background(), dir, slog.New(slog.DiscardHandler), later(t, `CREATE TABLE more (x);`))
	must(t, errors.Join(err, s.Close()))
	_, err = Join(t.Context(), dir)
	wantError(t, err, ErrNewer, "version 101")
}
