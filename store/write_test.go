package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestWritersShareCommits(t *testing.T) {
	s := openStore(t, t.TempDir())
	chat := startChat(t, s, newAccount(t, s, "home"))
	commits, writes := s.w.commits.Load(), s.w.writes.Load()

	const writers, each = 100, 5
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				if err := s.AppendEvents(t.Context(), chat.ID, []Event{said("one"), said("two")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	commits, writes = s.w.commits.Load()-commits, s.w.writes.Load()-writes
	if writes != writers*each {
		t.Errorf("%d writes are stored, want %d", writes, writers*each)
	}
	if commits > writes/4 {
		t.Errorf("%d writes of %d callers took %d commits, want a quarter at most", writes, writers, commits)
	}
	events, total, err := s.Events(t.Context(), chat.ID, Page{Size: 2000})
	must(t, err)
	if total != 2*writers*each || len(events) != total {
		t.Fatalf("%d events of %d can be read, want %d", len(events), total, 2*writers*each)
	}
	for i, e := range events {
		if e.Seq != int64(i+1) || e.MessageText != []string{"one", "two"}[i%2] {
			t.Fatalf("event %d is number %d, %q: the two of one call are not together", i, e.Seq, e.MessageText)
		}
	}
}

// stall blocks the writer until the returned function is called, so that the writes made
// meanwhile share a transaction.
func stall(t *testing.T, s *Store) (release func()) {
	t.Helper()
	begun, done, hold := make(chan struct{}), make(chan error, 1), make(chan struct{})
	go func() {
		done <- s.w.commit(context.Background(), func(context.Context, conn) error {
			close(begun)
			<-hold
			return nil
		})
	}()
	<-begun
	return func() { close(hold); must(t, <-done) }
}

// queued waits until so many writes are queued.
func queued(t *testing.T, s *Store, n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); len(s.w.queue) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d writes wait, want %d", len(s.w.queue), n)
		}
	}
}

func TestFailingWriteDoesNotAffectOthers(t *testing.T) {
	s := openStore(t, t.TempDir())
	account := newAccount(t, s, "home")
	chat := startChat(t, s, account)
	release := stall(t, s)
	commits := s.w.commits.Load()

	good := make(chan error, 20)
	bad := make(chan error, 20)
	for i := range 20 {
		go func() { good <- s.AppendEvents(t.Context(), chat.ID, []Event{said(fmt.Sprint(i))}) }()
		go func() {
			broken := said("half")
			broken.Metadata = "{"
			bad <- s.AppendEvents(t.Context(), chat.ID, []Event{said("first half"), broken})
		}()
	}
	queued(t, s, 40)
	release()
	for range 20 {
		must(t, <-good)
		err := <-bad
		wantError(t, err, ErrNotAllowed, "metadata")
	}
	if n := s.w.commits.Load() - commits; n != 2 { // the stalling one, and one for all
		t.Errorf("%d commits, want 2", n)
	}
	events, total, err := s.Events(t.Context(), chat.ID, Page{Size: 100})
	must(t, err)
	if total != 20 || len(events) != 20 {
		t.Errorf("%d events of %d, want 20: a bad write left something", len(events), total)
	}
}

// If SQLite rolls back a whole transaction (here since the file must not grow any more),
// the writes that fit are stored and the others get the reason.
func TestFullDiskFailsOnlyWritesThatDoNotFit(t *testing.T) {
	s := openStore(t, t.TempDir())
	chat := startChat(t, s, newAccount(t, s, "home"))
	pages, err := value[int](t.Context(), s.read, `PRAGMA page_count`)
	must(t, err)
	_, err = s.w.conn.ExecContext(t.Context(), fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+4))
	must(t, err)

	release := stall(t, s)
	small, large := make(chan error, 8), make(chan error, 8)
	for range 8 {
		go func() { small <- s.AppendEvents(t.Context(), chat.ID, []Event{said("hi")}) }()
		go func() {
			large <- s.AppendEvents(t.Context(), chat.ID, []Event{said(strings.Repeat("x", 1<<16))})
		}()
	}
	queued(t, s, 16)
	release()
	for range 8 {
		must(t, <-small)
		wantError(t, <-large, ErrFull)
	}
	_, total, err := s.Events(t.Context(), chat.ID, Page{Size: 1})
	must(t, err)
	if total != 8 {
		t.Errorf("%d events, want 8", total)
	}
	_, err = s.w.conn.ExecContext(t.Context(), `PRAGMA max_page_count = 1000000`)
	must(t, err)
	must(t, s.AppendEvents(t.Context(), chat.ID, []Event{said(strings.Repeat("x", 1<<16))}))
	must(t, s.Check(t.Context()))
}

func TestWithdrawnWriteIsNotStored(t *testing.T) {
	s := openStore(t, t.TempDir())
	chat := startChat(t, s, newAccount(t, s, "home"))
	release := stall(t, s)
	why := errors.New("the caller hung up")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.AppendEvents(ctx, chat.ID, []Event{said("no")}) }()
	queued(t, s, 1)
	cancel(why)
	wantError(t, <-done, why) // at once, though the writer is still busy
	release()
	wantError(t, s.AppendEvents(ctx, chat.ID, []Event{said("no")}), why)
	must(t, s.AppendEvents(t.Context(), chat.ID, []Event{said("yes")}))
	events, _, err := s.Events(t.Context(), chat.ID, Page{Size: 9})
	must(t, err)
	if len(events) != 1 || events[0].MessageText != "yes" {
		t.Errorf("stored: %+v, want only the write that was waited for", events)
	}
}

func TestQueueIsBounded(t *testing.T) {
	s := openStore(t, t.TempDir())
	release := stall(t, s)
	nothing := func(context.Context, conn) error { return nil }
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range maxQueue {
		wg.Go(func() { s.w.commit(ctx, nothing) })
	}
	queued(t, s, maxQueue)
	soon, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	wantError(t, s.w.commit(soon, nothing), context.DeadlineExceeded)
	cancel()
	wg.Wait()
	release()
}

func TestCloseFinishesWaitingWrites(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	must(t, err)
	chat := startChat(t, s, newAccount(t, s, "home"))
	release := stall(t, s)
	answers := make(chan error, 300)
	for range 300 {
		go func() { answers <- s.AppendEvents(context.Background(), chat.ID, []Event{said("x")}) }()
	}
	queued(t, s, 300)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	<-s.w.stop
	release()
	must(t, <-closed)
	for range 300 {
		must(t, <-answers)
	}
	_, total, err := openStore(t, dir).Events(t.Context(), chat.ID, Page{Size: 1})
	must(t, err)
	if total != 300 {
		t.Errorf("%d events after closing, want 300", total)
	}
}

// During Close each write is stored, or returns ErrClosed.
func TestWritesDuringCloseReportTheirResult(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		s, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
		must(t, err)
		chat := startChat(t, s, newAccount(t, s, "home"))
		var mu sync.Mutex
		var stored int
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					err := s.AppendEvents(t.Context(), chat.ID,
						[]Event{{ID: uuid.NewString(), Type: UserMessage, Role: User}})
					if err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Error(err)
						}
						return
					}
					mu.Lock()
					stored++
					mu.Unlock()
				}
			})
		}
		time.Sleep(5 * time.Millisecond)
		must(t, s.Close())
		wg.Wait()
		again, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
		must(t, err)
		_, total, err := again.Events(t.Context(), chat.ID, Page{Size: 1})
		must(t, errors.Join(err, again.Close()))
		if total != stored {
			t.Fatalf("%d events are there, %d were acknowledged", total, stored)
		}
	}
}

func TestReadersSeeCommittedRowsWithoutWaiting(t *testing.T) {
	s := openStore(t, t.TempDir())
	chat := startChat(t, s, newAccount(t, s, "home"))
	begun, hold, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- s.w.commit(context.Background(), func(ctx context.Context, c conn) error {
			if err := appendEvents(ctx, c, chat.ID, []Event{said("unseen")}); err != nil {
				return err
			}
			close(begun)
			<-hold
			return nil
		})
	}()
	<-begun
	_, total, err := s.Events(t.Context(), chat.ID, Page{Size: 1})
	must(t, err)
	if total != 0 {
		t.Error("an event is seen before its commit")
	}
	close(hold)
	must(t, <-done)
	_, total, err = s.Events(t.Context(), chat.ID, Page{Size: 1})
	must(t, err)
	if total != 1 {
		t.Error("an event is not seen after its commit")
	}
}
