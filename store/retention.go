package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"parley/internal/layout"
)

// DeleteChatGroup deletes a group of an account with all its chats. From the first moment
// no query returns it. When DeleteChatGroup returns nil, the data is gone; if it is
// interrupted, the background goroutine finishes the work. The error is ErrNotFound if
// the account has no such group, ErrActive if a chat of it is active.
func (s *Store) DeleteChatGroup(ctx context.Context, accountID, groupID string) error {
	doing := "deleting chat group " + groupID
	err := s.change(ctx, doing, func(ctx context.Context, c conn) error {
		g, num, err := groupOf(ctx, c, accountID, groupID)
		if err != nil {
			return err
		}
		if g.Active {
			return ErrActive
		}
		if err := noteDeletedGroup(ctx, c, groupID); err != nil {
			return err
		}
		return trashGroup(ctx, c, num)
	})
	if err != nil {
		return err
	}
	s.fleetNotifier.notify()
	return s.finish(ctx, doing)
}

// trashGroup moves a group into the trash, without its chats.
func trashGroup(ctx context.Context, c conn, num int64) error {
	if err := execute(ctx, c, `
		UPDATE account SET num_groups = num_groups - 1 WHERE num = (SELECT account FROM chat_group WHERE num = ?)`,
		num); err != nil {
		return err
	}
	return changeOne(ctx, c, `UPDATE chat_group SET account = 0 WHERE num = ?`, num)
}

// finish empties the trash, or leaves it to the background goroutine after an error.
func (s *Store) finish(ctx context.Context, doing string) error {
	err := s.emptyTrash(ctx)
	if err != nil {
		s.background.nudge()
	}
	return explain(doing, err)
}

// Expire deletes the chats that ended before a time (Unix milliseconds), with their
// recordings, and groups without chats. It returns the number of chats.
func (s *Store) Expire(ctx context.Context, beforeMS int64) (deleted int, err error) {
	const doing = "deleting old chats"
	err = s.inBatches(ctx, func(ctx context.Context) (more bool, err error) {
		chats := 0
		err = s.change(ctx, doing, func(ctx context.Context, c conn) (err error) {
			chats, err = expire(ctx, c, beforeMS)
			return err
		})
		deleted += chats
		return chats == chatsAtOnce, err
	})
	if err != nil {
		return deleted, err
	}
	if deleted == 0 {
		return 0, nil
	}
	return deleted, s.finish(ctx, doing)
}

// expire moves one batch into the trash, and returns its number of chats.
func expire(ctx context.Context, c conn, beforeMS int64) (chats int, err error) {
	type gone struct{ chat, group, account int64 }
	old, err := query(ctx, c, func(row scanner) (g gone, err error) {
		return g, row.Scan(&g.chat, &g.group, &g.account)
	}, `
		SELECT num, chat_group, account FROM chat WHERE ended_ms < ? AND chat_group <> 0 ORDER BY ended_ms LIMIT ?`,
		beforeMS, chatsAtOnce)
	if err != nil {
		return 0, err
	}
	for _, g := range old {
		if err := noteExpired(ctx, c, g.chat); err != nil {
			return 0, err
		}
		if _, err := c.ExecContext(ctx, `UPDATE chat SET account = 0, chat_group = 0 WHERE num = ?`,
			g.chat); err != nil {
			return 0, err
		}
		if _, err := c.ExecContext(ctx, `UPDATE account SET num_chats = num_chats - 1 WHERE num = ?`,
			g.account); err != nil {
			return 0, err
		}
		if err := leaveGroup(ctx, c, g.group); err != nil {
			return 0, err
		}
	}
	return len(old), nil
}

// leaveGroup removes a chat from the count of its group, and deletes the group after its
// last chat.
func leaveGroup(ctx context.Context, c conn, group int64) error {
	if err := execute(ctx, c, `
		UPDATE chat_group SET num_chats = num_chats - 1, first_start_ms = coalesce(
		       (SELECT started_ms FROM chat WHERE chat_group = chat_group.num ORDER BY num LIMIT 1), first_start_ms)
		 WHERE num = ?`, group); err != nil {
		return err
	}
	account, err := value[int64](ctx, c, `DELETE FROM chat_group WHERE num = ? AND num_chats = 0 RETURNING account`,
		group)
	if errors.Is(err, ErrNotFound) {
		return nil // there are more
	}
	if err != nil {
		return err
	}
	return execute(ctx, c, `UPDATE account SET num_groups = num_groups - 1 WHERE num = ?`, account)
}

// Tidy deletes expired keys, old webhooks, the rest of interrupted deletions, and
// recordings and files of analysis jobs that were deleted just before a crash. It also deletes the log
// lines of plugins, and the copies of the database that upgrades made, from before
// beforeMS (Unix milliseconds; 0: none).
func (s *Store) Tidy(ctx context.Context, beforeMS int64) error {
	const doing = "tidying the data folder"
	if err := s.dropExpiredKeys(ctx); err != nil {
		return err
	}
	if err := s.dropOldWebhooks(ctx); err != nil {
		return err
	}
	if err := s.cleanUp(ctx); err != nil {
		return explain(doing, err)
	}
	stray, err := s.strayRecordings(ctx)
	if err != nil {
		return explain(doing, err)
	}
	if err := s.removeRecordings(stray); err != nil {
		return explain(doing, err)
	}
	if err := s.dropStrayBatchFolders(ctx); err != nil {
		return explain(doing, err)
	}
	if err := s.dropOldPluginLog(ctx, beforeMS); err != nil {
		return err
	}
	copies, err := fs.Glob(os.DirFS(s.dir), layout.DatabaseCopies)
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
