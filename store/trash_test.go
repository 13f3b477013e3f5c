package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// largeEnv sets the number of events of the group whose deletion is timed.
const largeEnv = "PARLEY_TEST_LARGE_GROUP"

func largeEvents() int {
	if n, err := strconv.Atoi(os.Getenv(largeEnv)); err == nil {
		return n
	}
	return 100_000
}

// largeGroup inserts a group of ended chats with so many events into the tables, and
// returns its id.
func largeGroup(t *testing.T, s *Store, account string, events int) string {
	t.Helper()
	const perChat = 1000
	n := startChat(t, s, account)
	must(t, s.EndChat(t.Context(), n.ID, UserEnded, 1500))
	must(t, s.change(t.Context(), "filling a group", func(ctx context.Context, c conn) error {
		for i := range events / perChat {
			num, err := value[int64](ctx, c, `
				INSERT INTO chat (id, account, chat_group, status, started_ms, ended_ms, request_id, event_count)
				SELECT ?, account, num, 'USER_ENDED', 1000, 1500, 'r', ? FROM chat_group WHERE id = ? RETURNING num`,
				fmt.Sprint(n.GroupID, "-", i), perChat, n.GroupID)
			if err != nil {
				return err
			}
			_, err = c.ExecContext(ctx, `
				WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
				INSERT INTO chat_event (chat, seq, id, at_ms, type, role, message_text)
				SELECT ?1, i, ?1 || '-' || i, 1, 'USER_MESSAGE', 'USER',
				  'What time does the museum open on Sundays, and is there a guided tour?' FROM n`,
				num, perChat)
			if err != nil {
				return err
			}
		}
		return errors.Join(
			changeOne(ctx, c, `UPDATE chat_group SET num_chats = num_chats + ? WHERE id = ?`, events/perChat,
				n.GroupID),
			changeOne(ctx, c, `UPDATE account SET num_chats = num_chats + ? WHERE id = ?`, events/perChat, account))
	}))
	return n.GroupID
}

// liveWrites writes an event to a chat twenty times a second, like four people who talk,
// until it is stopped. It returns how long each write took.
func liveWrites(t *testing.T, s *Store, chat string) (stop func() []time.Duration) {
	t.Helper()
	end := make(chan struct{})
	var took []time.Duration
	var all sync.WaitGroup
	all.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-end:
				return
			}
			begun := time.Now()
			if err := s.AppendEvents(context.Background(), chat, []Event{said("And on Mondays?")}); err != nil {
				t.Error(err)
				return
			}
			took = append(took, time.Since(begun))
		}
	})
	return func() []time.Duration {
		close(end)
		all.Wait()
		slices.Sort(took)
		return took
	}
}

// Deletion does not delay conversations: however much is deleted, and whatever else runs,
// a live write waits for one batch and one commit. Its time is compared with the slowest
// of as many live writes without other work; the figures are in RATIONALE.md.
func TestLiveWritesDoNotWaitForCleaningUp(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	live := startChat(t, s, home)
	timed := func(do func()) (worst time.Duration) {
		t.Helper()
		stop := liveWrites(t, s, live.ID)
		begun := time.Now()
		do()
		time.Sleep(max(0, time.Second-time.Since(begun))) // for as many writes as without
		took := stop()
		t.Logf("%d writes in %v: median %v, slowest %v", len(took), time.Since(begun).Round(time.Millisecond),
			took[len(took)/2], took[len(took)-1])
		return took[len(took)-1]
	}
	group := largeGroup(t, s, home, largeEvents())
	quiet := timed(func() { time.Sleep(time.Second) })
	limit := 50*time.Millisecond + 10*quiet
	check := func(name string, do func()) {
		t.Helper()
		if worst := timed(do); worst > limit {
			t.Errorf("%s: a live write took %v, want %v at most", name, worst, limit)
		}
	}
	check("a group is deleted", func() { must(t, s.DeleteChatGroup(t.Context(), home, group)) })
	group = largeGroup(t, s, home, largeEvents()/10)
	check("a group is deleted beside a backup", func() {
		var both sync.WaitGroup
		both.Go(func() { // which holds what was there for half a second and more
			_, err := Backup(context.Background(), s.dir, filepath.Join(t.TempDir(), "backup"), func(int64, int64) {
				time.Sleep(100 * time.Millisecond)
			})
			if err != nil {
				t.Error(err)
			}
		})
		must(t, s.DeleteChatGroup(t.Context(), home, group))
		both.Wait()
	})
	largeGroup(t, s, home, largeEvents()/10)
	check("old chats are swept away", func() {
		_, err := s.Expire(t.Context(), time.Now().UnixMilli())
		must(t, err)
	})
	left, err := value[int](t.Context(), s.read,
		`SELECT count(*) FROM chat_event WHERE chat <> (SELECT num FROM chat WHERE id = ?)`, live.ID)
	if err != nil || left != 0 {
		t.Errorf("%d events are left (%v)", left, err)
	}
}

// No batch exceeds its limits, whatever is deleted.
func TestDeletionIsDoneInBatches(t *testing.T) {
	s := openStore(t, t.TempDir())
	home := newAccount(t, s, "home")
	changed := func() int64 {
		n, err := value[int64](t.Context(), s.w.conn, `SELECT total_changes()`)
		must(t, err)
		return n
	}
	long := largeGroup(t, s, home, 5000)
	many := startChat(t, s, home, said("short"))
	must(t, s.EndChat(t.Context(), many.ID, UserEnded, 1500))
	for range 100 {
		n := NewChat{
			ID:        uuid.NewString(),
			GroupID:   many.GroupID,
			Resume:    true,
			AccountID: home,
			StartedMS: 1000,
			RequestID: "r",
		}
		must(t, s.StartChat(t.Context(), n, said("short")))
		must(t, s.EndChat(t.Context(), n.ID, UserEnded, 1500))
	}
	s.background.close() // the test does its work
	must(t, s.change(t.Context(), "marking the groups", func(ctx context.Context, c conn) error {
		for _, id := range []string{long, many.GroupID} {
			num, err := value[int64](ctx, c, `SELECT num FROM chat_group WHERE id = ?`, id)
			if err := errors.Join(err, trashGroup(ctx, c, num)); err != nil {
				return err
			}
		}
		return nil
	}))
	batches := 0
	small := func(step func(context.Context) (bool, error)) {
		t.Helper()
		for more := true; more; batches++ {
			before := changed()
			var err error
			more, err = step(t.Context())
			must(t, err)
			if n := changed() - before; n > batchRows {
				t.Fatalf("one batch changed %d rows, want %d at most", n, batchRows)
			}
		}
	}
	small(s.trashChats)
	if chats, _, err := s.Chats(t.Context(), home, ChatFilter{}, Page{Size: 10}); err != nil || len(chats) != 0 {
		t.Errorf("what is in the trash is listed: %v (%v)", chats, err)
	}
	if _, err := s.Chat(t.Context(), home, many.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("a chat in the trash is found: %v", err)
	}
	small(func(ctx context.Context) (bool, error) { _, more, err := s.deleteBatch(ctx); return more, err })
	if batches < 5000/batchRows {
		t.Errorf("%d batches", batches)
	}
	wantEmpty(t, s)
	counted, err := query(t.Context(), s.read, scanText, `SELECT name || ': ' || num_chats || ' chats, ' || `+
		`num_groups || ' groups' FROM account WHERE num_chats <> 0 OR num_groups <> 0`)
	if err != nil || len(counted) != 0 {
		t.Errorf("still counted are %v (%v)", counted, err)
	}
}

func wantEmpty(t *testing.T, s *Store) {
	t.Helper()
	for _, rows := range []string{`chat`, `chat_event`, `recording`, `chat_group WHERE num <> 0`} {
		if n, err := value[int](t.Context(), s.read, `SELECT count(*) FROM `+rows); err != nil || n != 0 {
			t.Errorf("%d rows are left of %s (%v)", n, rows, err)
		}
	}
}

// An interrupted deletion, also by a crash, is finished in the background; no query
// returns the group meanwhile.
func TestInterruptedDeletionIsFinished(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	home := newAccount(t, s, "home")
	group := largeGroup(t, s, home, 5000)
	gone, cancel := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Millisecond, cancel)
	if err := s.DeleteChatGroup(gone, home, group); err == nil {
		t.Log("it was quicker")
	}
	_, _, _, err := s.ChatGroup(t.Context(), home, group, nil, Page{Size: 1})
	wantError(t, err, ErrNotFound)
	eventually(t, "nobody went on deleting", func() bool {
		n, err := value[int](t.Context(), s.read, `SELECT count(*) FROM chat_event`)
		return err == nil && n == 0
	})

	group = largeGroup(t, s, home, 5000)
	must(t, s.Close())
	joined := joinStore(t, dir) // without a background deletion
	must(t, joined.change(t.Context(), "marking the group", func(ctx context.Context, c conn) error {
		return changeOne(ctx, c, `UPDATE chat_group SET account = 0 WHERE id = ?`, group)
	}))
	must(t, joined.Close())
	s = openStore(t, dir)
	eventually(t, "the next start does not go on deleting", func() bool {
		n, err := value[int](t.Context(), s.read,
			`SELECT (SELECT count(*) FROM chat_event) + (SELECT count(*) FROM chat_group WHERE num <> 0)`)
		return err == nil && n == 0
	})
	wantEmpty(t, s)
}

// SQLite's log stays bounded during continuous writes, though commits do not checkpoint.
func TestLogIsCheckpointedDuringWrites(t *testing.T) {
	s := openStore(t, t.TempDir())
	chat := startChat(t, s, newAccount(t, s, "home"))
	size := func() int64 {
		info, err := os.Stat(filepath.Join(s.dir, databaseName+"-wal"))
		must(t, err)
		return info.Size()
	}
	largest := int64(0)
	for range 20 * checkpointWrites {
		must(t, s.AppendEvents(t.Context(), chat.ID, []Event{said("x")}))
		largest = max(largest, size())
	}
	t.Logf("the log had %d KiB at most", largest>>10)
	if largest > 32<<20 { // without it: 80 MiB
		t.Errorf("the log has grown to %d MiB", largest>>20)
	}
}

// A deletion that finds the trash empty because another one empties it returns only when
// that one is done.
func TestDeletionWaitsForAnotherThatEmptiesTheTrash(t *testing.T) {
	s := openStore(t, t.TempDir())
	n := talk(t, s, newAccount(t, s, "home"), 5000, NewChat{})
	s.emptying.lock <- struct{}{} // as the background holds it
	late, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.DeleteChatGroup(late, n.AccountID, n.GroupID); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another empties the trash, deleting ends with %v", err)
	}
	<-s.emptying.lock
	must(t, s.emptyTrash(t.Context()))
	if left := recordingsIn(t, s); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// A recording that could not be removed is removed later.
func TestFailedDeletionIsFinishedLater(t *testing.T) {
	s := openStore(t, t.TempDir())
	n := talk(t, s, newAccount(t, s, "home"), 5000, NewChat{})
	stuck := s.recordingPath(n.ID, UserSide)
	must(t, os.Remove(stuck))
	must(t, os.MkdirAll(filepath.Join(stuck, "in the way"), 0o700))
	if err := s.DeleteChatGroup(t.Context(), n.AccountID, n.GroupID); err == nil {
		t.Error("a deletion that left a file says that it is done")
	}
	must(t, os.Remove(filepath.Join(stuck, "in the way")))
	must(t, s.emptyTrash(t.Context()))
	if left := recordingsIn(t, s); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}
