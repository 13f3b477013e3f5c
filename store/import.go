package store

import (
	"context"
	"errors"
	"fmt"
)

// What another service recorded is imported with its ids, version numbers and times. Lists
// are ordered by num, so imported rows get negative numbers made of their time: they come
// before all that happened on the box, and in the order of their times, whenever and in
// which order they are imported.

// importedRows is how many rows of one millisecond have their own numbers, and
// importedFirst the number of Unix millisecond 0. MaxImportedMS is the last millisecond
// with a negative number.
const (
	importedRows  = 1 << 20
	importedFirst = -1 << 62
	MaxImportedMS = 1<<42 - 1 // in the year 2109
)

// importedNum returns a free number for a row of a table.
func importedNum(ctx context.Context, c conn, table string, ms int64) (int64, error) {
	from := importedFirst + ms*importedRows
	return value[int64](ctx, c, `SELECT coalesce(max(num) + 1, ?1) FROM `+table+` WHERE num >= ?1 AND num < ?2`,
		from, from+importedRows)
}

// nextNum returns an expression for the number of the next row that is not imported. SQLite
// itself would go on with negative numbers in a table that holds only imported rows.
func nextNum(table string) string {
	return `(SELECT max(coalesce(max(num), 0), 0) + 1 FROM ` + table + `)`
}

// Imported is what the box has under the id of something to import.
type Imported struct {
	AccountID string
	Kind      Kind   // of a resource
	Name      string // of a resource
}

// ImportedResource returns the owner, kind and name of the resource with an id, of any
// account, or ErrNotFound.
func (s *Store) ImportedResource(ctx context.Context, id string) (i Imported, err error) {
	err = scanFirst(ctx, s.read, []any{&i.AccountID, &i.Kind, &i.Name}, `
		SELECT a.id, r.kind, r.name FROM resource r JOIN account a ON a.num = r.account WHERE r.id = ?`, id)
	return i, explain("looking for a resource", err)
}

// ImportVersions adds versions to a resource of an account, which it creates if there is
// none. Versions that the resource has stay as they are. Name, Kind, ID and CreatedMS are
// those of the first. The numbers of later versions follow the greatest. The error is
// ErrConflict if another account or kind has the id.
func (s *Store) ImportVersions(ctx context.Context, accountID string, versions ...Version) error {
	if len(versions) == 0 {
		return nil
	}
	doing := fmt.Sprintf("importing %s %s", versions[0].Kind, versions[0].ID)
	return s.change(ctx, doing, func(ctx context.Context, c conn) error {
		if err := checkLocal(ctx, c, string(versions[0].Kind), "resource", "id = ?", versions[0].ID); err != nil {
			return err
		}
		num, err := importResource(ctx, c, accountID, versions[0])
		if err != nil {
			return err
		}
		for _, v := range versions {
			added, err := c.ExecContext(ctx, `
				INSERT INTO resource_version (resource, version, description, content, created_ms, modified_ms, answers)
				VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
				num, v.Number, v.Description, v.Content, v.CreatedMS, v.ModifiedMS, orNull(v.Answers))
			if err != nil {
				return err
			}
			if n, err := added.RowsAffected(); err != nil {
				return err
			} else if n == 0 {
				continue
			}
			err = execute(ctx, c, `
				UPDATE resource SET newest = max(coalesce(newest, ?2), ?2), next_version = max(next_version, ?2 + 1),
				       bytes = bytes + ?3 WHERE num = ?1`,
				num, v.Number, v.size())
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// importResource returns the number of the resource, which it creates if there is none.
func importResource(ctx context.Context, c conn, accountID string, v Version) (int64, error) {
	num, err := value[int64](ctx, c, `SELECT num FROM resource WHERE id = ? AND kind = ? AND`+ofAccount,
		v.ID, v.Kind, accountID)
	if !errors.Is(err, ErrNotFound) {
		return num, err
	}
	account, err := value[int64](ctx, c, `SELECT num FROM account WHERE id = ?`, accountID)
	if err != nil {
		return 0, fmt.Errorf("account %s: %w", accountID, err)
	}
	if num, err = importedNum(ctx, c, "resource", v.CreatedMS); err != nil {
		return 0, err
	}
	return num, execute(ctx, c, `
		INSERT INTO resource (num, id, account, kind, name, created_ms, renamed_ms) VALUES (?, ?, ?, ?, ?, ?6, ?6)`,
		num, v.ID, account, v.Kind, v.Name, v.CreatedMS)
}

// ImportedChat returns the chat with an id, of any account, or ErrNotFound.
func (s *Store) ImportedChat(ctx context.Context, id string) (Chat, error) {
	c, err := first(ctx, s.read, scanChat, selectChat+`WHERE c.id = ?`, id)
	return c, explain("looking for a chat", err)
}

// ImportedGroup returns the id of the account that has a chat group, or ErrNotFound.
func (s *Store) ImportedGroup(ctx context.Context, id string) (accountID string, err error) {
	accountID, err = value[string](ctx, s.read,
		`SELECT a.id FROM chat_group g JOIN account a ON a.num = g.account WHERE g.id = ?`, id)
	return accountID, explain("looking for a chat group", err)
}

// ImportedEvents returns events of a chat whole, in order: those after a number, at most
// limit.
func (s *Store) ImportedEvents(ctx context.Context, chatID string, after int64, limit int) ([]Event, error) {
	events, err := query(ctx, s.read, scanEvent, `SELECT`+eventColumns+`FROM chat c CROSS JOIN chat_event e ON `+
		`e.chat = c.num WHERE c.id = ?2 AND e.seq > ?3 ORDER BY e.seq LIMIT ?4`, 2*maxEventText, chatID, after, limit)
	return events, explain("reading events of chat "+chatID, err)
}

// Stored returns the event as the database holds it: without what is too long.
func (e Event) Stored() Event { return e.bounded(maxEventText, maxEventJSON) }

// ImportChat stores a chat that has ended, with its first events; [Store.AppendEvents] adds
// more. Its group is created if there is none. The error is ErrConflict if the chat is
// there, or another account has its group.
func (s *Store) ImportChat(ctx context.Context, chat Chat, events []Event) error {
	return s.change(ctx, "importing chat "+chat.ID, func(ctx context.Context, c conn) error {
		account, err := value[int64](ctx, c, `SELECT num FROM account WHERE id = ?`, chat.AccountID)
		if err != nil {
			return fmt.Errorf("account %s: %w", chat.AccountID, err)
		}
		group, created, err := importGroup(ctx, c, account, chat)
		if err != nil {
			return err
		}
		num, err := importedNum(ctx, c, "chat", chat.StartedMS)
		if err != nil {
			return err
		}
		err = execute(ctx, c, `
			INSERT INTO chat (num, id, account, chat_group, config, config_version, status, started_ms, ended_ms,
			                  request_id, custom_session_id, metadata, bytes, sound_bytes)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
			num, chat.ID, account, group, orNull(chat.Config.ID), chat.Config.version(), chat.Status, chat.StartedMS,
			chat.EndedMS, chat.RequestID, orNull(chat.CustomSessionID), orNull(chat.Metadata), chatBytes)
		if err != nil {
			return err
		}
		err = execute(ctx, c,
			`UPDATE account SET num_chats = num_chats + 1, num_groups = num_groups + iif(?, 1, 0) WHERE num = ?`,
			created, account)
		if err == nil {
			err = updateGroup(ctx, c, group)
		}
		if err != nil {
			return err
		}
		return appendEvents(ctx, c, chat.ID, events)
	})
}

// importGroup returns the number of the chat's group, and whether it was created.
func importGroup(ctx context.Context, c conn, account int64, chat Chat) (num int64, created bool, err error) {
	owner, err := first(ctx, c, func(row scanner) (o struct{ num, account int64 }, err error) {
		return o, row.Scan(&o.num, &o.account)
	}, `SELECT num, account FROM chat_group WHERE id = ?`, chat.GroupID)
	switch {
	case err == nil && owner.account != account:
		return 0, false, fmt.Errorf("chat group %s belongs to another account: %w", chat.GroupID, ErrConflict)
	case !errors.Is(err, ErrNotFound):
		return owner.num, false, err
	}
	if num, err = importedNum(ctx, c, "chat_group", chat.StartedMS); err != nil {
		return 0, false, err
	}
	return num, true, execute(ctx, c, `
		INSERT INTO chat_group (num, id, account, first_start_ms, last_start_ms, last_chat)
		VALUES (?, ?, ?, ?4, ?4, ?5)`,
		num, chat.GroupID, account, chat.StartedMS, chat.ID)
}

// updateGroup counts one more chat in a group, and finds its first and newest chat again.
func updateGroup(ctx context.Context, c conn, group int64) error {
	return execute(ctx, c, `
		UPDATE chat_group SET num_chats = num_chats + 1, last_start_ms = newest.started_ms, last_chat = newest.id,
		       last_config = newest.config, last_config_version = newest.config_version,
		       first_start_ms = (SELECT started_ms FROM chat WHERE chat_group = ?1 ORDER BY num LIMIT 1)
		  FROM (SELECT * FROM chat WHERE chat_group = ?1 ORDER BY num DESC LIMIT 1) AS newest
		 WHERE chat_group.num = ?1`, group)
}

// ClearEvents removes all events of an ended chat, to import them again with others that
// were missing.
func (s *Store) ClearEvents(ctx context.Context, chatID string) error {
	return s.change(ctx, "completing chat "+chatID, func(ctx context.Context, c conn) error {
		num, err := value[int64](ctx, c, `
			UPDATE chat SET event_count = 0, bytes = ? WHERE id = ? AND ended_ms IS NOT NULL RETURNING num`,
			chatBytes, chatID)
		if err != nil {
			return err
		}
		return execute(ctx, c, `DELETE FROM chat_event WHERE chat = ?`, num)
	})
}
