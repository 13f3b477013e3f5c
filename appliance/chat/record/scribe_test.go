package record

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/store"
)

// world is a client, a history and a recorder that record their calls.
type world struct {
	Unrecorded
	mu      sync.Mutex
	stored  int // events
	amended int
	commits int
	sent    []contract.ServerMessage
	played  []contract.Sound
	cuts    int
	log     []string

	disk   chan struct{} // if not nil, WriteChat waits for it
	taking func()        // called during Play
	fails  error         // error of WriteChat
}

func (w *world) note(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, what)
}

func (w *world) WriteChat(ctx context.Context, _ string, written store.ChatWrite) error {
	if w.disk != nil {
		select {
		case <-w.disk:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stored += len(written.New)
	w.amended += len(written.Amended)
	w.commits++
	return w.fails
}

func (w *world) Send(_ context.Context, m contract.ServerMessage) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, m)
	return nil
}

func (w *world) Play(_ context.Context, s contract.Sound) error {
	if w.taking != nil {
		w.taking()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.played = append(w.played, s)
	return nil
}

func (w *world) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cuts++
	w.played = nil
}

func (w *world) Said(time.Duration, []float32) { w.note("said") }

// recorderOf is the recorder's side of a world.
type recorderOf struct{ *world }

func (r recorderOf) Cut(time.Duration) { r.note("cut") }

// start returns a running scribe; finish lets it come to its end.
func (w *world) start(t *testing.T) (s *Scribe, finish func()) {
	var running sync.WaitGroup
	work := func() { running.Go(func() { s.Run(t.Context()) }) }
	s = NewScribe(Chat{ID: "c"}, w, w, recorderOf{w}, work, func(error) {})
	return s, func() {
		running.Wait()
		s.EndListeners()
	}
}

func says(n int) turn.Publish {
	return turn.Publish{Fact: turn.UserSaid{Transcript: turn.Transcript{Text: fmt.Sprint(n)}}}
}

func sound(id string, samples int) turn.Publish {
	return turn.Publish{Fact: turn.SoundSent{ID: id, PCM: make([]float32, samples)}}
}

func tell(t *testing.T, s *Scribe, facts ...turn.Publish) {
	t.Helper()
	for _, f := range facts {
		if err := s.Publish(f, ""); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWaitingFactsShareACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{disk: make(chan struct{})}
		s, finish := w.start(t)
		tell(t, s, says(0))
		synctest.Wait() // it is being written
		for n := range maxBatch - 2 {
			tell(t, s, says(n+1))
		}
		tell(t, s, turn.Publish{Fact: turn.CutShort{}}, turn.Publish{Fact: turn.MetadataSet{}})
		close(w.disk)
		finish()
		if w.commits != 2 || w.stored != maxBatch-1 || w.amended != 1 || len(w.sent) != maxBatch-1 {
			t.Errorf("%d commits, %d stored, %d amended, %d sent", w.commits, w.stored, w.amended, len(w.sent))
		}
	})
}

// A caller that can wait does so long before the queue is full. Any other caller gets an error that names the
// slow part. The queue is bounded in number and in bytes.
func TestTheQueueIsBounded(t *testing.T) {
	long := says(1)
	long.Fact = turn.UserSaid{Transcript: turn.Transcript{Text: strings.Repeat("x", 1<<19)}}
	for name, x := range map[string]struct {
		fact         turn.Publish
		easy, atMost int
	}{
		"many":  {says(1), waitFacts, maxFacts},
		"large": {long, waitBytes >> 20, maxBytes >> 20},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &world{disk: make(chan struct{})}
			s, finish := w.start(t)
			if s.Drained() != nil {
				t.Errorf("%s: there is no room from the beginning", name)
			}
			tell(t, s, says(0))
			synctest.Wait()
			n := 0
			for ; n < 10*maxFacts; n++ {
				if full := s.Drained() != nil; full != (n >= x.easy) {
					t.Fatalf("%s: after %d there is room: %v", name, n, !full)
				}
				if err := s.Publish(x.fact, ""); err != nil {
					if !errors.Is(err, ErrSlowDisk) {
						t.Errorf("%s: %v", name, err)
					}
					break
				}
			}
			if n > x.atMost || n < x.easy {
				t.Errorf("%s: %d wait", name, n)
			}
			room := s.Drained()
			close(w.disk)
			<-room
			finish()
			if got := len(w.sent) + len(w.played); got != n+1 {
				t.Errorf("%s: %d of %d reached the client", name, got, n+1)
			}
		})
	}
}

// Sound that was published and cut is not played, neither what waits nor what the client is receiving.
func TestCutSoundIsNotPlayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{disk: make(chan struct{})}
		s, finish := w.start(t)
		tell(t, s, says(0), sound("old", 10))
		s.Cut(time.Second)
		tell(t, s, sound("new", 10))
		close(w.disk)
		finish()
		if len(w.played) != 1 || w.played[0].ID != "new" || w.cuts != 1 {
			t.Errorf("played %v, cut %d times", w.played, w.cuts)
		}
		if fmt.Sprint(w.log) != "[said cut said]" {
			t.Errorf("the recorder received %v", w.log)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		var s *Scribe
		var once sync.Once
		w.taking = func() { once.Do(func() { s.Cut(0) }) }
		s, finish := w.start(t)
		tell(t, s, sound("old", 10))
		synctest.Wait()
		tell(t, s, sound("new", 10))
		finish()
		if len(w.played) != 1 || w.played[0].ID != "new" {
			t.Errorf("played %v", w.played)
		}
	})
}

// A client that can be reached learns why its chat ends when the history cannot be written.
func TestTheClientLearnsThatTheHistoryCannotBeWritten(t *testing.T) {
	w := &world{fails: store.ErrFull}
	var s *Scribe
	var failed []error
	s = NewScribe(Chat{ID: "c"}, w, w, recorderOf{w}, func() {}, func(err error) {
		failed = append(failed, err)
		_ = s.Publish(says(2), "")
		_ = s.Publish(turn.Publish{Fact: turn.FaultOccurred{Fault: contract.Fault{Code: contract.Internal}}}, "")
	})
	tell(t, s, says(1))
	s.Run(t.Context())
	if len(failed) != 1 || !errors.Is(failed[0], ErrUnwritten) || !errors.Is(failed[0], store.ErrFull) {
		t.Errorf("failed with %v", failed)
	}
	if len(w.sent) != 1 || w.sent[0].MessageType() != "error" {
		t.Errorf("sent %v", w.sent)
	}
}
