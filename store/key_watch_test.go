package store

import (
	"context"
	"errors"
	"testing"
	"time"
)

// watched opens a key, and watches it until the test ends.
func watched(t *testing.T, s *Store, made Credentials) (lost context.Context) {
	t.Helper()
	grant, err := s.OpenKey(t.Context(), made.APIKey)
	must(t, err)
	lost, release := s.WatchKey(grant)
	t.Cleanup(release)
	return lost
}

// If a key is revoked in this or another process, regenerated or expired, its connections
// are notified, and no others.
func TestConnectionsAreNotifiedOfTheEndOfTheirKey(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	joined, err := Join(t.Context(), dir)
	must(t, err)
	defer joined.Close()
	other, err := s.CreateKey(t.Context(), NewKey{Account: "home"})
	must(t, err)
	untold := watched(t, s, other)
	for name, c := range map[string]struct {
		life time.Duration
		end  func(keyID string) error
	}{
		"revoked here":      {0, func(id string) error { return s.RevokeKey(t.Context(), id) }},
		"revoked elsewhere": {0, func(id string) error { return joined.RevokeKey(t.Context(), id) }},
		"regenerated": {time.Hour, func(id string) error {
			_, err := joined.RegenerateKey(t.Context(), id)
			return err
		}},
		"past its end": {2 * time.Second, func(string) error { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			n := NewKey{Account: "home"}
			if c.life != 0 {
				n.ExpiresMS = time.Now().Add(c.life).UnixMilli()
			}
			made, err := s.CreateKey(t.Context(), n)
			must(t, err)
			holders := []context.Context{watched(t, s, made), watched(t, s, made)}
			for _, lost := range holders {
				if lost.Err() != nil {
					t.Fatal("it is lost before")
				}
			}
			must(t, c.end(made.KeyID))
			for _, lost := range holders {
				select {
				case <-lost.Done():
				case <-time.After(30 * time.Second):
					t.Fatal("a connection of the key is not notified")
				}
				if !errors.Is(context.Cause(lost), ErrNotFound) {
					t.Errorf("got %v", context.Cause(lost))
				}
			}
		})
	}
	if untold.Err() != nil {
		t.Error("a connection of another key is notified too")
	}
}

// A key may be revoked between authentication and the start of the watch.
func TestWatchOfARevokedKeyEndsAtOnce(t *testing.T) {
	s := openStore(t, t.TempDir())
	made, err := s.CreateKey(t.Context(), NewKey{Account: "home"})
	must(t, err)
	grant, err := s.OpenKey(t.Context(), made.APIKey)
	must(t, err)
	must(t, s.RevokeKey(t.Context(), made.KeyID))
	lost, release := s.WatchKey(grant)
	defer release()
	select {
	case <-lost.Done():
	case <-time.After(30 * time.Second):
		t.Fatal("the watch does not end")
	}
}

// Closed connections leave nothing behind.
func TestKeysWithoutConnectionsAreNotWatched(t *testing.T) {
	s := openStore(t, t.TempDir())
	made, err := s.CreateKey(t.Context(), NewKey{Account: "home"})
	must(t, err)
	grant, err := s.OpenKey(t.Context(), made.APIKey)
	must(t, err)
	var releases []func()
	for range 5 {
		_, release := s.WatchKey(grant)
		releases = append(releases, release)
	}
	must(t, s.RevokeKey(t.Context(), made.KeyID))
	for i, release := range releases {
		if i == 3 { // one more, of a key that is lost or is about to be
			_, release := s.WatchKey(grant)
			release()
		}
		release()
	}
	s.keyWatch.mu.Lock()
	defer s.keyWatch.mu.Unlock()
	if n := len(s.keyWatch.keys); n != 0 {
		t.Errorf("%d keys are watched", n)
	}
}

// Without notifications a check a second finds the change; without connections there are
// no checks.
func TestKeysAreCheckedWithoutNotifications(t *testing.T) {
	s := openStore(t, t.TempDir())
	made, err := s.CreateKey(t.Context(), NewKey{Account: "home"})
	must(t, err)
	s.keyWatch.close()
	deaf := &notifier{}
	s.keyNotifier.close()
	s.keyNotifier = deaf // tolls nowhere
	s.keyWatch = startKeyWatch(s, s.keyWatch.log)
	lost := watched(t, s, made)
	must(t, s.RevokeKey(t.Context(), made.KeyID))
	select {
	case <-lost.Done():
	case <-time.After(30 * time.Second):
		t.Fatal("the watch does not end")
	}
}
