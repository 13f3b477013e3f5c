package store

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A backup during continuous writes of eight callers has everything that was stored
// before it began, and is sound.
func TestBackupDuringWritesIsComplete(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	chat := startChat(t, s, home)
	for range 40 {
		must(t, s.AppendEvents(t.Context(), chat.ID, []Event{said(strings.Repeat("x", 1<<18))}))
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 8 {
		busy := startChat(t, s, home)
		wg.Go(func() {
			for s.AppendEvents(ctx, busy.ID, []Event{said("x")}) == nil {
			}
		})
	}
	restored := t.TempDir()
	file := filepath.Join(restored, databaseName)
	var calls int
	var last, size int64
	schema, err := Backup(t.Context(), s.dir, file, func(done, total int64) {
		if done < last || done > total {
			t.Errorf("progress says %d of %d after %d", done, total, last)
		}
		calls, last, size = calls+1, done, total
	})
	_, before, readErr := s.Events(t.Context(), chat.ID, Page{Size: 1})
	stop()
	wg.Wait()
	must(t, err)
	must(t, readErr)
	info, err := os.Stat(file)
	must(t, err)
	if calls < 3 || last != size || info.Size() != size || info.Mode().Perm() != 0o600 {
		t.Errorf("%d calls, the last %d of %d; the file has %d bytes, mode %v", calls, last, size, info.Size(),
			info.Mode())
	}
	if newest, err := NewestSchema(); err != nil || schema != newest {
		t.Errorf("the backup's schema is %d, want %d (%v)", schema, newest, err)
	}
	_, err = Backup(t.Context(), s.dir, file, nil)
	wantError(t, err, ErrConflict, file)
	_, err = Backup(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "b"), nil)
	wantError(t, err, ErrNotFound, "--data")

	old := openStore(t, restored)
	must(t, old.Check(t.Context()))
	_, total, err := old.Events(t.Context(), chat.ID, Page{Size: 1})
	must(t, err)
	if total != before || total != 40 {
		t.Errorf("the backup has %d events of %d", total, before)
	}
}

func TestCancelledBackupLeavesNoFile(t *testing.T) {
	s := openStore(t, t.TempDir())
	chat := startChat(t, s, newAccount(t, s, "home"))
	for range 40 {
		must(t, s.AppendEvents(t.Context(), chat.ID, []Event{said(strings.Repeat("x", 1<<18))}))
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Backup(ctx, s.dir, filepath.Join(dir, "b.db"), func(int64, int64) { cancel() })
	wantError(t, err, context.Canceled)
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestCheckFindsDamage(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	must(t, err)
	chat := startChat(t, s, newAccount(t, s, "home"))
	for range 200 {
		must(t, s.AppendEvents(t.Context(), chat.ID, []Event{said("a word that is a word")}))
	}
	must(t, s.Check(t.Context()))
	_, err = Inspect(t.Context(), dir) // also while it is open
	must(t, err)
	must(t, s.Close())
	file := filepath.Join(dir, databaseName)
	data, err := os.ReadFile(file)
	must(t, err)
	for i := len(data) - 2*4096; i < len(data)-4096; i++ { // the last page but one
		data[i] ^= 0x5a
	}
	must(t, os.WriteFile(file, data, 0o600))
	wantError(t, openStore(t, dir).Check(t.Context()), ErrDamaged)
	_, err = Inspect(t.Context(), dir)
	wantError(t, err, ErrDamaged)
}
