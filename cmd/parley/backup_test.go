package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/internal/layout"
	"parley/store"
)

// aBox returns a data folder with a key, a recording, and a store that keeps writing
// until the test ends.
func aBox(t *testing.T) (dir, key string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "box")
	s, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.CreateKey(t.Context(), store.NewKey{Account: "home"})
	if err != nil {
		t.Fatal(err)
	}
	account, err := s.Account(t.Context(), "home")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var writing sync.WaitGroup
	chat := store.NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: account.ID,
		StartedMS: 1000,
		RequestID: "r",
	}
	if err := s.StartChat(t.Context(), chat); err != nil {
		t.Fatal(err)
	}
	writing.Go(func() {
		for s.AppendEvents(ctx, chat.ID, []store.Event{{
			ID:          uuid.NewString(),
			AtMS:        2000,
			Type:        store.UserMessage,
			Role:        store.User,
			MessageText: "x",
		}}) == nil {
			// The writing of the busiest box has gaps; another process, which
			// only asks again and again, finds none without one.
			time.Sleep(2 * time.Millisecond)
		}
	})
	t.Cleanup(func() {
		stop()
		writing.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	recordings := filepath.Join(dir, layout.Recordings)
	if err := os.MkdirAll(recordings, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(recordings, "a.opus"), []byte("OggS…"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, made.KeyID
}

func TestBackupOfARunningBoxIsRestored(t *testing.T) {
	dir, key := aBox(t)
	file := filepath.Join(t.TempDir(), "b.tar.zst")
	code, out, errs := parley(t, "", "backup", file, "--data", dir, "--json")
	var made backupResult
	if err := json.Unmarshal([]byte(out), &made); code != exitDone || err != nil || made.Files != 2 ||
		!strings.Contains(errs, "backup: done") {
		t.Fatalf("code %d, %s, %v; told %s", code, out, err, errs)
	}
	code, _, errs = parley(t, "", "restore", file, "--data", dir, "--force")
	if code != exitFailed || !strings.Contains(errs, fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("restoring under a running box: code %d, %s", code, errs)
	}

	to := filepath.Join(t.TempDir(), "new")
	for i, args := range [][]string{{}, {"--force"}} {
		code, out, errs = parley(t, "", append([]string{"restore", file, "--data", to}, args...)...)
		if code != exitDone || !strings.Contains(out, "2 files") ||
			strings.Contains(errs, "are now in "+to+".before-restore-") != (i == 1) {
			t.Fatalf("%v: code %d, %s, %s", args, code, out, errs)
		}
	}
	if code, out, errs = parley(t, "", "keys", "list", "--data", to); code != exitDone || !strings.Contains(out, key) {
		t.Errorf("the key is not there: %s %s", out, errs)
	}
	if text, err := os.ReadFile(filepath.Join(to, layout.Recordings, "a.opus")); string(text) != "OggS…" {
		t.Error(string(text), err)
	}
	if _, err := store.Inspect(t.Context(), to); err != nil {
		t.Error(err)
	}
}

// Access that was ended after the backup stays ended after a restore over the box.
func TestRestoreKeepsOutWhoWasPutOutSince(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "box")
	s, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.CreateKey(t.Context(), store.NewKey{Account: "home"})
	if err != nil {
		t.Fatal(err)
	}
	link, err := s.StartSignIn(t.Context(), "", time.Now())
	if err == nil {
		_, _, err = s.SignIn(t.Context(), link, "Firefox", "", time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.tar.zst")
	if code, _, errs := parley(t, "", "backup", file, "--data", dir); code != exitDone {
		t.Fatal(errs)
	}
	if _, err := s.EndSessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	home, err := s.Account(t.Context(), "home")
	if err != nil {
		t.Fatal(err)
	}
	signs, err := s.NewSigningKey(t.Context(), home.ID)
	if err := errors.Join(err, s.RevokeKey(t.Context(), made.KeyID), s.Close()); err != nil {
		t.Fatal(err)
	}
	code, out, errs := parley(t, "", "restore", file, "--data", dir, "--force", "--json")
	var told backupResult
	if err := json.Unmarshal([]byte(out), &told); code != exitDone || err != nil ||
		told.SessionsEnded != 1 || told.KeysRevoked != 1 || told.SigningKeysRenewed != 1 ||
		!strings.Contains(errs, "signed out of the console: 1") || !strings.Contains(errs, "which stay replaced: 1") {
		t.Errorf("code %d, %s, %s", code, out, errs)
	}
	if _, out, _ := parley(t, "", "console", "--sessions", "--data", dir, "--json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("sessions %s", out)
	}
	if _, out, _ := parley(t, "", "keys", "list", "--data", dir); !strings.Contains(out, "revoked") {
		t.Errorf("keys %s", out)
	}
	_, out, _ = parley(t, "", "keys", "signing-key", "--account", "home", "--data", dir)
	if !strings.Contains(out, signs) {
		t.Errorf("the signing key is that of the backup: %s", out)
	}
	// On another machine, and over a database that cannot be read, it says that it
	// cannot tell.
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if code, _, errs := parley(t, "", "restore", file, "--data", elsewhere); code != exitDone ||
		!strings.Contains(errs, "as they were at the time of the backup") {
		t.Errorf("elsewhere: code %d, %s", code, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, layout.Database), []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := parley(t, "", "restore", file, "--data", dir, "--force"); code != exitDone ||
		!strings.Contains(errs, "cannot be read") {
		t.Errorf("over a damaged one: code %d, %s", code, errs)
	}
}

func TestRestoreLeavesWhatIsThereWhenTheDatabaseIsNoGood(t *testing.T) {
	bad, good := t.TempDir(), filepath.Join(t.TempDir(), "good")
	if err := os.WriteFile(filepath.Join(bad, "parley.db"), []byte("this was a database once"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b")
	if code, _, errs := parley(t, "", "backup", file, "--data", bad); code != exitFailed ||
		!strings.Contains(errs, "damaged") {
		t.Errorf("backup of a damaged database: code %d, %s", code, errs)
	}
	if code, _, errs := parley(t, "", "backup", file, "--data", good); code != exitMisuse ||
		!strings.Contains(errs, "no box has its data in") {
		t.Errorf("backup of nothing: code %d, %s", code, errs)
	}
	if code, _, errs := parley(t, "", "restore", file, "--data", good); code != exitFailed ||
		!strings.Contains(errs, "no such file") {
		t.Errorf("restore of nothing: code %d, %s", code, errs)
	}
	if _, err := os.Stat(good); err == nil {
		t.Error("a restore that failed has made the data folder")
	}
}
