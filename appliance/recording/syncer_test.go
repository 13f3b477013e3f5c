package recording

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/engine"
)

// countingSyncer returns a syncer that counts the syncs of each file instead of waiting for
// a disk.
func countingSyncer() (*Syncer, func() map[string]int) {
	s := NewSyncer()
	var mu sync.Mutex
	syncs := map[string]int{}
	s.sync = func(f *os.File) error {
		mu.Lock()
		defer mu.Unlock()
		syncs[filepath.Base(f.Name())]++
		return nil
	}
	return s, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		was := syncs
		syncs = map[string]int{}
		return was
	}
}

func wantSyncs(t *testing.T, got map[string]int, want string) {
	t.Helper()
	if fmt.Sprint(got) != "map["+want+"]" {
		t.Errorf("synced were %v, want %s", got, want)
	}
}

// However many chats write however often, each changed file is synced once a second, and no
// other.
func TestChangedFilesAreSyncedOnceASecond(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, syncs := countingSyncer()
		files := map[string]*syncedFile{}
		for _, name := range []string{"a", "b", "c"} {
			f, err := os.Create(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = s.open(f)
		}
		write := func(names ...string) {
			for _, name := range names {
				if _, err := files[name].Write([]byte("sound")); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 500 { // five seconds
			write("a", "b")
			time.Sleep(10 * ms)
		}
		time.Sleep(1100 * ms)
		synctest.Wait()
		wantSyncs(t, syncs(), "a:5 b:5")
		time.Sleep(time.Hour)
		synctest.Wait()
		wantSyncs(t, syncs(), "")
		write("c")
		time.Sleep(1100 * ms)
		synctest.Wait()
		wantSyncs(t, syncs(), "c:1")
		write("a")
		for _, f := range files {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		wantSyncs(t, syncs(), "a:1 b:1 c:1")
		time.Sleep(time.Minute)
		synctest.Wait()
		wantSyncs(t, syncs(), "")
	})
}

// What a sync has lost stays lost, so the recording has failed; those of other chats go on.
func TestSyncErrorEndsARecording(t *testing.T) {
	r, _, clock := newTestRecorder(t)
	broken := errors.New("broken")
	r.syncer.every = time.Millisecond
	r.syncer.sync = func(*os.File) error { return broken }
	r.Heard(0, tone(engine.SpeechRateHz, time.Second))
	handleQueued(r)
	for r.user.file.failed.Load() == nil {
		time.Sleep(ms)
	}
	clock.now = time.Second
	r.Heard(time.Second, tone(engine.SpeechRateHz, 2*time.Second))
	handleQueued(r)
	if !errors.Is(r.user.err, broken) {
		t.Errorf("the user's side ends with %v", r.user.err)
	}
	r.close()
	if r.complete() {
		t.Error("the recording is reported as complete")
	}
}

func TestRecordersShareASyncer(t *testing.T) {
	s := &testArchive{dir: t.TempDir()}
	syncer := NewSyncer()
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			begun := time.Now()
			r := New(fmt.Sprint(n), s, syncer, func() time.Duration {
				return time.Since(begun)
			}, slog.New(slog.DiscardHandler))
			go r.Run()
			for i := range 5 {
				r.Heard(time.Duration(i)*time.Second, tone(engine.SpeechRateHz, time.Second))
				r.Said(0, assistantTone(100*ms))
			}
			if !r.End(t.Context(), 5*time.Second) {
				t.Error("a recording is not whole")
			}
		})
	}
	all.Wait()
}
