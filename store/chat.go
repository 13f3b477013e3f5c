package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Status is the state of a chat: active, or why it ended.
type Status string

// The statuses, in the words of the wire.
const (
	Active             Status = "ACTIVE"
	UserEnded          Status = "USER_ENDED"
	UserTimeout        Status = "USER_TIMEOUT"
	MaxDurationTimeout Status = "MAX_DURATION_TIMEOUT"
	InactivityTimeout  Status = "INACTIVITY_TIMEOUT"
	Failed             Status = "ERROR"
)

// ConfigRef names the version of a config that a chat used. An empty ID means no config.
type ConfigRef struct {
	ID      string
	Version int
}

// NewChat is a chat that begins. Empty strings are stored as NULL.
type NewChat struct {
	ID        string // a UUID
	GroupID   string // a UUID: of a new group, or of the group to resume
	Resume    bool   // the group exists, belongs to the account, and all its chats have ended
	AccountID string
	Config    ConfigRef
	StartedMS int64 // Unix milliseconds
	RequestID string

	CustomSessionID string
	Metadata        string // JSON

	Recorded bool // its sound is recorded, see [Store.CreateRecording]

	Webhooks Webhooks // notified in the same commit
	EndCalls EndCalls // plugins to call when the chat ends
}

// Chat is a stored conversation.
type Chat struct {
	ID        string
	GroupID   string
	AccountID string
	Config    ConfigRef
	Status    Status
	StartedMS int64 // Unix milliseconds
	EndedMS   int64 // Unix milliseconds; 0 while the chat is active
	RequestID string

	CustomSessionID string
	Metadata        string // JSON
	EventCount      int
}

// StartChat stores a chat that begins, with its first events, in a new group or in the
// group that it resumes. The error is ErrNotFound if there is no such account or the
// account has no such group, ErrActive if a chat of the group is active, ErrConflict if
// the id is taken.
func (s *Store) StartChat(ctx context.Context, n NewChat, opening ...Event) error {
	begin := s.change
	if len(n.Webhooks.Hooks) > 0 {
		begin = s.changeAndNotify
	}
	err := begin(ctx, "starting chat "+n.ID, func(ctx context.Context, c conn) error {
		account, err := value[int64](ctx, c, `SELECT num FROM account WHERE id = ?`, n.AccountID)
		if err != nil {
			return fmt.Errorf("account %s: %w", n.AccountID, err)
		}
		group, err := joinGroup(ctx, c, account, n)
		if err != nil {
			return fmt.Errorf("chat group %s: %w", n.GroupID, err)
		}
		if err := execute(ctx, c,
			`UPDATE account SET num_chats = num_chats + 1, num_groups = num_groups + iif(?, 0, 1) WHERE num = ?`,
			n.Resume, account); err != nil {
			return err
		}
		if err := execute(ctx, c, `
			INSERT INTO chat (num, id, account, chat_group, config, config_version, status, started_ms,
			                  request_id, custom_session_id, metadata, bytes, sound_bytes)
			VALUES (`+nextNum("chat")+`, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, iif(?, NULL, 0))`,
			n.ID, account, group, orNull(n.Config.ID), n.Config.version(), Active, n.StartedMS,
			n.RequestID, orNull(n.CustomSessionID), orNull(n.Metadata), chatBytes, n.Recorded); err != nil {
			return err
		}
		if n.Recorded {
			if err := changeOne(ctx, c,
				`INSERT INTO recording (chat, status, modified_ms) SELECT num, ?, started_ms FROM chat WHERE id = ?`,
				Recording, n.ID); err != nil {
				return err
			}
		}
		if err := beginOutbox(ctx, c, n); err != nil {
			return err
		}
		if err := trackChat(ctx, c, n.ID); err != nil {
			return err
		}
		return appendEvents(ctx, c, n.ID, opening)
	})
	if err == nil {
		s.fleetNotifier.notify()
	}
	return err
}

// joinGroup returns the number of the chat's group, which it creates or updates.
func joinGroup(ctx context.Context, c conn, account int64, n NewChat) (group int64, err error) {
	if !n.Resume {
		return value[int64](ctx, c, `
			INSERT INTO chat_group (id, account, first_start_ms, last_start_ms, last_chat,
			                        last_config, last_config_version, num_chats)
			VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, 1) RETURNING num`,
			n.GroupID, account, n.StartedMS, n.ID, orNull(n.Config.ID), n.Config.version())
	}
	group, err = value[int64](ctx, c, `SELECT num FROM chat_group WHERE id = ? AND account = ?`, n.GroupID, account)
	if err != nil {
		return 0, err
	}
	active, err := value[bool](ctx, c, `SELECT EXISTS (SELECT 1 FROM chat WHERE chat_group = ? AND status = 'ACTIVE')`,
		group)
	if err != nil {
		return 0, err
	}
	if active {
		return 0, ErrActive
	}
	_, err = c.ExecContext(ctx, `
		UPDATE chat_group SET last_start_ms = ?, last_chat = ?, last_config = ?,
		       last_config_version = ?, num_chats = num_chats + 1 WHERE num = ?`,
		n.StartedMS, n.ID, orNull(n.Config.ID), n.Config.version(), group)
	return group, err
}

func (r ConfigRef) version() sql.NullInt64 {
	return sql.NullInt64{Int64: int64(r.Version), Valid: r.ID != ""}
}

// EndChat stores how and when (Unix milliseconds) a chat ended, with its last events, and
// queues its webhooks. The error is ErrNotFound if there is no such chat, ErrConflict if
// it ended before, ErrNotAllowed if no chat ends with that status.
func (s *Store) EndChat(ctx context.Context, chatID string, status Status, atMS int64, last ...Event) error {
	err := s.change(ctx, "ending chat "+chatID, func(ctx context.Context, c conn) error {
		if err := appendEvents(ctx, c, chatID, last); err != nil {
			return err
		}
		num, err := value[int64](ctx, c, `
			UPDATE chat SET status = ?, ended_ms = ? WHERE id = ? AND ended_ms IS NULL RETURNING num`,
			status, atMS, chatID)
		if err == nil {
			return errors.Join(endRecording(ctx, c, chatID, atMS), endOutbox(ctx, c, chatID, status, atMS),
				noteChat(ctx, c, num))
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		if _, err := value[int64](ctx, c, `SELECT num FROM chat WHERE id = ?`, chatID); err != nil {
			return err
		}
		return fmt.Errorf("it had ended before: %w", ErrConflict)
	})
	if err == nil {
		s.background.nudge() // its recording can be measured
		s.outboxNotifier.notify()
		s.endCallNotifier.notify()
		s.fleetNotifier.notify()
	}
	return err
}

const (
	chatColumns = ` c.id, g.id, a.id, coalesce(c.config, ''), coalesce(c.config_version, 0), c.status,
	       c.started_ms, coalesce(c.ended_ms, 0), c.request_id, coalesce(c.custom_session_id, ''),
	       coalesce(c.metadata, ''), c.event_count `
	chatTables = ` chat c JOIN chat_group g ON g.num = c.chat_group JOIN account a ON a.num = c.account `
	selectChat = `SELECT` + chatColumns + `FROM` + chatTables
)

func scanChat(row scanner) (c Chat, err error) {
	return c, row.Scan(&c.ID, &c.GroupID, &c.AccountID, &c.Config.ID, &c.Config.Version, &c.Status,
		&c.StartedMS, &c.EndedMS, &c.RequestID, &c.CustomSessionID, &c.Metadata, &c.EventCount)
}

// Chat returns a chat of an account. The error is ErrNotFound if the account has no such
// chat.
func (s *Store) Chat(ctx context.Context, accountID, chatID string) (Chat, error) {
	c, err := first(ctx, s.read, scanChat, selectChat+`WHERE c.id = ? AND a.id = ?`, chatID, accountID)
	return c, explain("finding chat "+chatID, err)
}

// ownOpenChats selects the chats of this box that have not ended. Those of the boxes of a hub end there.
const ownOpenChats = selectChat + `WHERE c.ended_ms IS NULL AND c.num NOT IN (SELECT chat FROM hub_chat) ORDER BY c.num`

// OpenChats returns the chats of all accounts that have not ended, oldest first, without those on the boxes of a hub.
func (s *Store) OpenChats(ctx context.Context) ([]Chat, error) {
	open, err := query(ctx, s.read, scanChat, ownOpenChats)
	return open, explain("listing the open chats", err)
}

// EndOpenChats ends the chats that a crash left open as ERROR, each with an event that
// says so, and returns them, oldest first. A chat ends at its last event or, if heard
// returns a longer duration for its recording, at the end of that, but not after atMS
// (now, in Unix milliseconds): the time for which the machine was off does not count.
// Webhooks are queued for these chats, and for chats without a stored history.
func (s *Store) EndOpenChats(ctx context.Context, atMS int64, heard func(chatID string) time.Duration) (ended []Chat,
	err error) {
	open, err := s.OpenChats(ctx)
	if err != nil {
		return nil, err
	}
	lengths := make(map[string]time.Duration, len(open))
	for _, c := range open {
		lengths[c.ID] = heard(c.ID)
	}
	err = s.change(ctx, "ending the chats that were left open", func(ctx context.Context, c conn) (err error) {
		if ended, err = query(ctx, c, scanChat, ownOpenChats); err != nil {
			return err
		}
		for i := range ended {
			if err := endAfterCrash(ctx, c, &ended[i], lengths[ended[i].ID], atMS); err != nil {
				return err
			}
		}
		if err := endForgottenWebhooks(ctx, c); err != nil {
			return err
		}
		return scheduleEndCalls(ctx, c, "", Failed, 0) // for chats without a stored history; their length is unknown
	})
	if err != nil {
		return nil, err
	}
	s.outboxNotifier.notify()
	s.endCallNotifier.notify()
	s.fleetNotifier.notify()
	s.background.nudge() // their recordings can be measured
	return ended, nil
}

func endAfterCrash(ctx context.Context, c conn, chat *Chat, heard time.Duration, atMS int64) (err error) {
	chat.Status = Failed
	chat.EndedMS, err = value[int64](ctx, c, `
		UPDATE chat SET status = ?, ended_ms = min(?, max(started_ms + ?, coalesce(
		       (SELECT at_ms FROM chat_event WHERE chat = chat.num ORDER BY seq DESC LIMIT 1), 0)))
		 WHERE id = ? RETURNING ended_ms`, Failed, atMS, heard.Milliseconds(), chat.ID)
	if err != nil {
		return err
	}
	chat.EventCount++
	if err := endRecording(ctx, c, chat.ID, chat.EndedMS); err != nil {
		return err
	}
	if err := endOutbox(ctx, c, chat.ID, Failed, chat.EndedMS); err != nil {
		return err
	}
	return appendEvents(ctx, c, chat.ID, []Event{{
		ID:          uuid.NewString(),
		AtMS:        chat.EndedMS,
		Type:        ChatEnd,
		Role:        System,
		MessageText: string(Failed),
	}})
}
