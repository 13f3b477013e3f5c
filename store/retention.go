package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"parley/internal/layout"
)

// expireBatch is how many chats are deleted in one transaction, so that who
// writes meanwhile waits for a few thousand events at most.
const expireBatch = 20

// DeleteChatGroup deletes a group of an account with all that is kept of its
// chats. ErrNotFound: the account has no such group; ErrActive: a chat of it
// goes on.
func (s *Store) DeleteChatGroup(ctx context.Context, accountID, groupID string) error {
	doing := "deleting chat group " + groupID
	var chats []string
	err := s.change(ctx, doing, func(ctx context.Context, c conn) error {
		g, num, err := groupOf(ctx, c, accountID, groupID)
		if err != nil {
			return err
		}
		if g.Active {
			return ErrActive
		}
		if chats, err = query(ctx, c, scanText, `SELECT id FROM chat WHERE chat_group = ?`, num); err != nil {
			return err
		}
		return changeOne(ctx, c, `DELETE FROM chat_group WHERE num = ?`, num)
	})
	if err != nil {
		return err
	}
	return explain(doing, errors.Join(s.removeRecordings(chats), s.scrub(ctx)))
}

// Expire deletes the chats that ended before a time (Unix milliseconds), with
// their sound, and groups that have no chat left. It returns how many chats
// there were.
func (s *Store) Expire(ctx context.Context, beforeMS int64) (deleted int, err error) {
	const doing = "deleting old chats"
	for {
		var chats []string
		err := s.change(ctx, doing, func(ctx context.Context, c conn) (err error) {
			chats, err = expire(ctx, c, beforeMS)
			return err
		})
		if err != nil {
			return deleted, err
		}
		if err := s.removeRecordings(chats); err != nil {
			return deleted, explain(doing, err)
		}
		deleted += len(chats)
		if len(chats) < expireBatch {
			break
		}
	}
	if deleted == 0 {
		return 0, nil
	}
	return deleted, explain(doing, s.scrub(ctx))
}

// expire deletes one batch, and returns the ids of its chats.
func expire(ctx context.Context, c conn, beforeMS int64) ([]string, error) {
	type gone struct {
		id    string
		group int64
	}
	old, err := query(ctx, c, func(row scanner) (g gone, err error) { return g, row.Scan(&g.id, &g.group) }, `
		DELETE FROM chat WHERE num IN (SELECT num FROM chat WHERE ended_ms < ? ORDER BY ended_ms LIMIT ?)
		RETURNING id, chat_group`, beforeMS, expireBatch)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(old))
	for i, g := range old {
		ids[i] = g.id
		if err := shrink(ctx, c, g.group); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// shrink counts a chat out of its group, which goes with its last one.
func shrink(ctx context.Context, c conn, group int64) error {
	_, err := c.ExecContext(ctx, `
		UPDATE chat_group SET num_chats = num_chats - 1, first_start_ms = coalesce(
		       (SELECT started_ms FROM chat WHERE chat_group = chat_group.num ORDER BY num LIMIT 1), first_start_ms)
		 WHERE num = ?`, group)
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, `DELETE FROM chat_group WHERE num = ? AND num_chats = 0`, group)
	return err
}

// Tidy deletes what no row speaks of any more: sound whose chat was deleted just
// before a crash, and, where chats are kept for a time only, the copies of the
// database that upgrades put aside before it (Unix milliseconds; 0: none).
func (s *Store) Tidy(ctx context.Context, beforeMS int64) error {
	const doing = "tidying the data folder"
	stray, err := s.strayRecordings(ctx)
	if err != nil {
		return explain(doing, err)
	}
	if err := s.removeRecordings(stray); err != nil {
		return explain(doing, err)
	}
	copies, err := fs.Glob(os.DirFS(s.dir), layout.Copies)
	if err != nil {
		return explain(doing, err)
	}
	for _, name := range copies {
		file := filepath.Join(s.dir, name)
		if info, err := os.Stat(file); err == nil && info.ModTime().UnixMilli() < beforeMS {
			if err := os.Remove(file); err != nil {
				return explain(doing, err)
			}
		}
	}
	return nil
}

// scrubPatience is how long scrub waits for readers.
const scrubPatience = time.Second

// scrub takes what was deleted out of SQLite's log too: rows are overwritten
// when they are deleted, but the log has the pages as they were before. When
// readers hold the log for too long, it stays until the next time.
func (s *Store) scrub(ctx context.Context) error {
	db := connect(s.dir, fmt.Sprintf(`PRAGMA busy_timeout = %d;`, scrubPatience.Milliseconds()), 1)
	defer db.Close()
	_, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
}
