package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"parley/internal/layout"
)

// later returns the steps of the schema and more after them, from 101 on, as a later
// Parley would have.
func later(t *testing.T, texts ...string) []migration {
	t.Helper()
	steps, err := migrations()
	must(t, err)
	for i, text := range texts {
		steps = append(steps, migration{int64(101 + i), text})
	}
	return steps
}

// filled creates a database in a new folder and returns the folder, the version of the
// schema and a chat.
func filled(t *testing.T) (dir string, at int64, chat NewChat) {
	t.Helper()
	dir = t.TempDir()
	s := openStore(t, dir)
	chat = startChat(t, s, newAccount(t, s, "home"), said("keep me"))
	at, err := version(t.Context(), s.read)
	must(t, err)
	must(t, s.Close())
	return dir, at, chat
}

func wantKept(t *testing.T, s *Store, chat NewChat) {
	t.Helper()
	events, _, err := s.Events(t.Context(), chat.ID, Page{Size: 9})
	must(t, err)
	if len(events) != 1 || events[0].MessageText != "keep me" {
		t.Errorf("events are %+v, want the one that was there", events)
	}
}

func TestOlderDatabaseIsCopiedAndMigrated(t *testing.T) {
	dir, at, chat := filled(t)
	newer := later(t, `ALTER TABLE chat ADD COLUMN mood TEXT;`,
		// Rebuilding a table that others refer to is the hardest step there is.
		`CREATE TABLE account2 (num INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE,
		     signing_key TEXT NOT NULL, created_ms INTEGER NOT NULL, num_chats INTEGER NOT NULL, num_groups INTEGER
		  NOT NULL, town TEXT) STRICT;
		 INSERT INTO account2 SELECT *, NULL FROM account;
		 DROP TABLE account;
		 ALTER TABLE account2 RENAME TO account;`)
	s, err := open(t.Context(), dir, slog.New(slog.DiscardHandler), newer)
	must(t, err)
	defer s.Close()
	wantKept(t, s, chat)
	must(t, s.Check(t.Context()))
	now, err := version(t.Context(), s.read)
	must(t, err)
	if now != 102 {
		t.Errorf("version is %d, want 102", now)
	}

	restored := t.TempDir()
	copied := filepath.Join(dir, "parley-before-v102.db")
	info, err := os.Stat(copied)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the copy has mode %v", info.Mode())
	}
	must(t, os.Rename(copied, filepath.Join(restored, databaseName)))
	old := openStore(t, restored)
	wantKept(t, old, chat)
	if now, err = version(t.Context(), old.read); err != nil || now != at {
		t.Errorf("the copy has version %d (%v), want %d", now, err, at)
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	dir, at, chat := filled(t)
	s, err := open(t.Context(), dir, slog.New(slog.DiscardHandler), later(t, `CREATE TABLE more (x) ;`))
	must(t, err)
	must(t, s.Close())
	before := contents(t, dir)
	_, err = Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	wantError(t, err, ErrNewer, dir, "version 101", fmt.Sprintf("up to %d", at), "newer Parley")
	schema, err := Inspect(t.Context(), dir)
	wantError(t, err, ErrNewer, "version 101")
	if schema != 101 {
		t.Errorf("schema %d, want 101", schema)
	}
	if contents(t, dir) != before {
		t.Error("the newer database was touched")
	}
	s, err = open(t.Context(), dir, slog.New(slog.DiscardHandler), later(t, `CREATE TABLE more (x) ;`))
	must(t, err)
	defer s.Close()
	wantKept(t, s, chat)
}

func contents(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, databaseName))
	must(t, err)
	return string(data)
}

// However a migration fails, and after however many steps, the database stays the old one
// and the old Parley opens it.
func TestInterruptedMigrationLeavesTheOldState(t *testing.T) {
	done := `UPDATE account SET name = num || 'changed'; CREATE TABLE done (x);`
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		steps []string
	}{
		"a broken step":     {t.Context(), []string{done, `INSERT INTO nowhere VALUES (1);`}},
		"a broken relation": {t.Context(), []string{done, `DELETE FROM account;`}},
		"called off":        {ended, []string{done}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, at, chat := filled(t)
			if _, err := open(c.ctx, dir, slog.New(slog.DiscardHandler), later(t, c.steps...)); err == nil {
				t.Fatal("the migration went through")
			}
			s := openStore(t, dir)
			wantKept(t, s, chat)
			if _, err := s.Account(t.Context(), "home"); err != nil {
				t.Error(err)
			}
			if now, err := version(t.Context(), s.read); err != nil || now != at {
				t.Errorf("version is %d (%v), want %d", now, err, at)
			}
		})
	}
}

// dieMigrating kills its own process in the middle of a migration: after one step, and so
// much of the next that it no longer fits in memory and is being written to the disk.
func dieMigrating(args []string) error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	steps = append(steps, migration{101, `UPDATE account SET name = num || 'changed'; CREATE TABLE done (x);`},
		migration{102, `CREATE TABLE big (x); INSERT INTO big WITH RECURSIVE n(i) AS
			(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT randomblob(1000) FROM n;`})
	go func() {
		for ; ; time.Sleep(100 * time.Microsecond) {
			if info, err := os.Stat(filepath.Join(args[0], databaseName+"-wal")); err == nil && info.Size() > 4<<20 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}
	}()
	s, err := open(context.Background(), args[0], slog.New(slog.DiscardHandler), steps)
	if err != nil {
		return err
	}
	return s.Close()
}

func TestKilledMigrationLeavesTheOldState(t *testing.T) {
	dir, at, chat := filled(t)
	cmd := child(t, "migrate", dir)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.Success() || cmd.ProcessState.Exited() {
		t.Fatalf("the child was not killed: %v %s", err, out)
	}
	s := openStore(t, dir)
	wantKept(t, s, chat)
	if now, err := version(t.Context(), s.read); err != nil || now != at {
		t.Errorf("version is %d (%v), want %d", now, err, at)
	}
	must(t, s.Check(t.Context()))
}

func TestForeignDatabaseIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	db := connect(dir, "", 1)
	_, err := db.Exec(`CREATE TABLE recipes (name TEXT)`)
	must(t, err)
	must(t, db.Close())
	before := contents(t, dir)
	if _, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler)); err == nil {
		t.Fatal("a database of another program was taken over")
	}
	if contents(t, dir) != before {
		t.Error("a database of another program was changed")
	}
}

// A lost database leaves recordings without rows: they are not removed as if they had
// been deleted.
func TestRecordingsOfALostDatabaseAreNotDeleted(t *testing.T) {
	for name, lose := range map[string]func(file string) error{
		"cut to nothing": func(file string) error { return os.Truncate(file, 0) },
		"gone":           os.Remove,
	} {
		dir, _, chat := filled(t)
		recording := filepath.Join(dir, layout.Recordings, chat.ID+"-user"+recordingSuffix)
		must(t, os.MkdirAll(filepath.Dir(recording), 0o700))
		must(t, os.WriteFile(recording, []byte("OggS"), 0o600))
		must(t, lose(filepath.Join(dir, databaseName)))
		s, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: opened %v, %v", name, s, err)
		}
		if _, err := Inspect(t.Context(), dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: inspected as %v", name, err)
		}
		must(t, os.RemoveAll(filepath.Dir(recording)))
		s, err = Open(t.Context(), dir, slog.New(slog.DiscardHandler))
		must(t, err)
		must(t, s.Close())
	}
}

func TestOldCopiesAreDeletedFromAFolderOfAnyName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "of [two] *boxes?")
	s, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	must(t, err)
	aside := filepath.Join(dir, "parley-before-v2.db")
	must(t, os.WriteFile(aside, nil, 0o600))
	must(t, s.Tidy(t.Context(), time.Now().Add(time.Hour).UnixMilli()))
	if _, err := os.Stat(aside); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy is still there: %v", err)
	}
	must(t, s.Close())
}
