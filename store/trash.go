package store

import (
	"context"
	"errors"
	"time"
)

// Large deletions are done in batches, each a short transaction of its own, so
// that other writes wait for one batch at most. What is to be deleted is first put
// into the trash: a group is given to account 0, a chat to account 0 and group 0,
// which no query finds. From then on no answer contains it, and after a crash the
// next start empties the trash.

const (
	// batchRows is how many rows one batch changes at most: about 2 ms of the
	// writer's time, as much as a commit takes.
	batchRows = 250
	// batchBytes is how much text one batch deletes at most, since what is
	// deleted is overwritten. One event of more is a batch alone.
	batchBytes = 512 << 10
	// chatRows is what a chat itself counts for: its row and those in its indexes.
	chatRows = 10
	// chatsAtOnce is how many chats are put into the trash in one batch: each, and
	// its group, may be in eight indexes.
	chatsAtOnce = batchRows / (2 * chatRows)
	// maxRest is how long one batch waits for the next one at most.
	maxRest = 100 * time.Millisecond
)

// inBatches runs one batch after another until one reports that nothing is left.
// It rests after each for as long as the batch took, so that it uses at most half
// of the writer's time and of one core.
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

// emptying is held by whoever empties the trash: another that finds it empty must
// not say that all is gone while the first still removes files. It knows what one
// that was broken off has left undone.
type emptying struct {
	lock  chan struct{} // containsAll room for one
	files []string      // the chats that are deleted and whose sound is perhaps not
	log   bool          // SQLite's log may still have what was deleted
}

// emptyTrash deletes all that is in the trash, and removes it from SQLite's log.
// When it returns nil, so is what another goroutine was emptying before.
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

// trashChats puts some of the chats whose group is in the trash there too. It
// deletes a group that has no chats left.
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

// deleteBatch deletes some of the chats in the trash, or of their events. It
// returns the ids of the chats that are gone.
func (s *Store) deleteBatch(ctx context.Context) (gone []string, more bool, err error) {
	if _, err := firstInTrash(ctx, s.read); errors.Is(err, ErrNotFound) {
		return nil, false, nil
	}
	err = s.change(ctx, "emptying the trash", func(ctx context.Context, c conn) error {
		gone, more = nil, true
		for rows, bytes := batchRows, int64(batchBytes); rows > 0 && bytes > 0; {
			chat, err := firstInTrash(ctx, c)
			if errors.Is(err, ErrNotFound) {
				more = len(gone) > 0
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
			if _, err := c.ExecContext(ctx, `DELETE FROM chat WHERE num = ?`, chat.num); err != nil {
				return err
			}
			if err := dropWebhooksOf(ctx, c, chat.id); err != nil {
				return err
			}
			gone = append(gone, chat.id)
			rows -= chatRows
		}
		return nil
	})
	return gone, more, err
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

// deleteEvents deletes the first events of a chat: at most so many, of at most so
// many bytes together, but always one if there is one. It returns how many it
// deleted, and their size.
func deleteEvents(ctx context.Context, c conn, chat int64, rows int, bytes int64) (events int, size int64, err error) {
	type place struct{ seq, bytes int64 }
	found, err := query(ctx, c, func(row scanner) (p place, err error) { return p, row.Scan(&p.seq, &p.bytes) }, `
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
	// scrubTries is how often scrub tries, and scrubRest how long it waits between
	// two tries: readers take milliseconds, so mostly the first try succeeds.
	scrubTries = 10
	scrubRest  = 50 * time.Millisecond
)

// scrub removes what was deleted from SQLite's log too: rows are overwritten when
// they are deleted, but the log still has the pages as they were before. That is
// possible only while no reader uses an older state of the database; scrub waits
// for such a moment without blocking anybody. While a long reader runs, as a
// backup does, the log stays until the next deletion, or until it begins anew.
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
