package store

import (
	"context"
	"errors"
	"time"
)

// Large deletions run in batches, each a short transaction, so that other
// writes wait for one batch at most. They begin with moving the data into the trash: a
// group gets account 0, a chat account 0 and group 0, which no query returns. After a
// crash the next start empties the trash.

const (
	// batchRows is how many rows one batch changes at most: about 2 ms of the writer's
	// time, as much as a commit takes.
	batchRows = 250
	// batchBytes is how much text one batch deletes at most, since deleted text is
	// overwritten. A larger event is a separate batch.
	batchBytes = 512 << 10
	// chatRows is what deleting a chat counts: its row and its index entries.
	chatRows = 10
	// chatsAtOnce is how many chats one batch moves into the trash: each chat and its
	// group may be in eight indexes.
	chatsAtOnce = batchRows / (2 * chatRows)
	// maxRest bounds the pause between two batches.
	maxRest = 100 * time.Millisecond
)

// inBatches runs batch until it reports that nothing is left. It pauses after each for as
// long as the batch took, so that it uses at most half of the writer's time and of one
// core.
func (s *Store) inBatches(ctx context.Context, batch func(context.Context) (more bool, err error)) error {
	for {
		begun := time.Now()
		more, err := batch(ctx)
		if err != nil || !more {
			return err
		}
		select {
		case <-time.After(min(time.Since(begun), maxRest)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// emptying is the state of emptying the trash. Only one goroutine empties it at a time:
// another one that finds the trash empty must not report success while the first still
// removes files. It records what an interrupted run has left undone.
type emptying struct {
	lock  chan struct{} // has room for one
	files []string      // deleted chats whose recordings may still exist
	log   bool          // SQLite's log may still contain deleted data
}

// emptyTrash deletes all that is in the trash, and removes it from SQLite's log. When it
// returns nil, also what another goroutine was deleting is gone.
func (s *Store) emptyTrash(ctx context.Context) error {
	e := &s.emptying
	select {
	case e.lock <- struct{}{}:
		defer func() { <-e.lock }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := s.inBatches(ctx, s.trashChats); err != nil {
		return err
	}
	err := s.inBatches(ctx, func(ctx context.Context) (bool, error) {
		chats, more, err := s.deleteBatch(ctx)
		if err != nil {
			return false, err
		}
		e.files, e.log = append(e.files, chats...), e.log || more
		if err := s.removeRecordings(e.files); err != nil {
			return false, err
		}
		e.files = nil
		return more, nil
	})
	if err != nil || !e.log {
		return err
	}
	if err := s.scrub(ctx); err != nil {
		return err
	}
	e.log = false
	return nil
}

// trashChats moves some of the chats of a trashed group into the trash, and deletes a
// trashed group that has none left.
func (s *Store) trashChats(ctx context.Context) (more bool, err error) {
	const find = `SELECT num FROM chat_group WHERE account = 0 AND num <> 0 LIMIT 1`
	if _, err := value[int64](ctx, s.read, find); errors.Is(err, ErrNotFound) {
		return false, nil
	}
	err = s.change(ctx, "putting a group's chats into the trash", func(ctx context.Context, c conn) error {
		more = false
		group, err := value[int64](ctx, c, find)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		more = true
		const some = `SELECT num, account FROM chat WHERE chat_group = ?1 ORDER BY num LIMIT ?2`
		if err := execute(ctx, c, `
			UPDATE account SET num_chats = num_chats - moved.chats
			  FROM (SELECT account, count(*) AS chats FROM (`+some+`) GROUP BY account) AS moved
			 WHERE account.num = moved.account`, group, chatsAtOnce); err != nil {
			return err
		}
		moved, err := c.ExecContext(ctx, `
			UPDATE chat SET account = 0, chat_group = 0 WHERE num IN (SELECT num FROM (`+some+`))`, group, chatsAtOnce)
		if err != nil {
			return err
		}
		if n, err := moved.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return execute(ctx, c, `DELETE FROM chat_group WHERE num = ?`, group)
	})
	return more, err
}

// deleteBatch deletes some of the chats in the trash, or of their events, and returns the
// ids of the deleted chats.
func (s *Store) deleteBatch(ctx context.Context) (deleted []string, more bool, err error) {
	if _, err := firstInTrash(ctx, s.read); errors.Is(err, ErrNotFound) {
		return nil, false, nil
	}
	err = s.change(ctx, "emptying the trash", func(ctx context.Context, c conn) error {
		deleted, more = nil, true
		for rows, bytes := batchRows, int64(batchBytes); rows > 0 && bytes > 0; {
			chat, err := firstInTrash(ctx, c)
			if errors.Is(err, ErrNotFound) {
				more = len(deleted) > 0
				return nil
			}
			if err != nil {
				return err
			}
			events, size, err := deleteEvents(ctx, c, chat.num, rows, bytes)
			if err != nil {
				return err
			}
			rows, bytes = rows-events, bytes-size
			if events > 0 {
				continue
			}
			questions, err := deleteQuestions(ctx, c, chat.num, rows)
			if err != nil {
				return err
			}
			if questions > 0 {
				rows -= questions
				continue
			}
			if _, err := c.ExecContext(ctx, `DELETE FROM chat WHERE num = ?`, chat.num); err != nil {
				return err
			}
			if err := dropWebhooksOf(ctx, c, chat.id); err != nil {
				return err
			}
			deleted = append(deleted, chat.id)
			rows -= chatRows
		}
		return nil
	})
	return deleted, more, err
}

// trashed is a chat in the trash.
type trashed struct {
	num int64
	id  string
}

func firstInTrash(ctx context.Context, q querier) (trashed, error) {
	return first(ctx, q, func(row scanner) (t trashed, err error) { return t, row.Scan(&t.num, &t.id) },
		`SELECT num, id FROM chat WHERE chat_group = 0 ORDER BY num LIMIT 1`)
}

// deleteEvents deletes the first events of a chat: at most rows, with at most bytes of
// text together, but at least one. It returns their number and size.
func deleteEvents(ctx context.Context, c conn, chat int64, rows int, bytes int64) (events int, size int64, err error) {
	type event struct{ seq, bytes int64 }
	found, err := query(ctx, c, func(row scanner) (e event, err error) { return e, row.Scan(&e.seq, &e.bytes) }, `
		SELECT seq, coalesce(octet_length(message_text), 0) + coalesce(octet_length(metadata), 0) +
		  coalesce(octet_length(emotion_features), 0)
		  FROM chat_event WHERE chat = ? ORDER BY seq LIMIT ?`, chat, rows)
	if err != nil || len(found) == 0 {
		return 0, 0, err
	}
	for events < len(found) && (events == 0 || size+found[events].bytes <= bytes) {
		size += found[events].bytes
		events++
	}
	_, err = c.ExecContext(ctx, `DELETE FROM chat_event WHERE chat = ? AND seq <= ?`, chat, found[events-1].seq)
	return events, size, err
}

const (
	// scrubTries bounds the tries of scrub, and scrubRest is the pause between two:
	// readers take milliseconds, so the first try usually succeeds.
	scrubTries = 10
	scrubRest  = 50 * time.Millisecond
)

// scrub removes deleted data also from SQLite's log, which still has the pages as they
// were before rows were overwritten. That is possible only while no reader uses an older
// state; scrub waits for such a moment without blocking anything. While a long reader
// such as a backup runs, the log stays until the next deletion or until it restarts.
func (s *Store) scrub(ctx context.Context) error {
	for range scrubTries {
		if err := s.checkpoint(ctx); err != nil {
			return err
		}
		held, err := first(ctx, s.checkpoints, func(row scanner) (held bool, err error) {
			var pages, moved int
			return held, row.Scan(&held, &pages, &moved)
		}, `PRAGMA wal_checkpoint(TRUNCATE)`)
		if err != nil || !held {
			return err
		}
		select {
		case <-time.After(scrubRest):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
