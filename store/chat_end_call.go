package store

import (
	"context"
	"errors"
)

// EndCalls are the plugins to call when a chat ends.
type EndCalls struct {
	Plugins []string // their names
	// Body is the argument of the calls, a JSON object. When the chat ends, also by a
	// crash, the store sets its fields "end_time", "duration_seconds" and "end_reason".
	Body string
}

// EndCall is a pending call of one plugin for one ended chat.
type EndCall struct {
	Num       int64
	ChatID    string
	AccountID string
	Plugin    string
	Body      string // JSON
	DueMS     int64  // time of the next try, Unix milliseconds
	Tries     int    // failed tries
}

// beginEndCalls stores which plugins to call when the chat ends.
func beginEndCalls(ctx context.Context, c conn, n NewChat) error {
	for _, plugin := range n.EndCalls.Plugins {
		err := changeOne(ctx, c, `
			INSERT INTO chat_end_call (chat, account, plugin, started_ms, body) SELECT ?1, num, ?3, ?4, ?5 FROM
			  account WHERE id = ?2`,
			n.ID, n.AccountID, plugin, n.StartedMS, n.EndCalls.Body)
		if err != nil {
			return err
		}
	}
	return nil
}

// scheduleEndCalls makes the calls for an ended chat due. An empty chatID means all chats
// whose calls are not due yet.
func scheduleEndCalls(ctx context.Context, c conn, chatID string, status Status, atMS int64) error {
	return execute(ctx, c, `
		UPDATE chat_end_call
		   SET due_ms = max(?2, started_ms),
		       body = json_set(body, '$.end_time', max(?2, started_ms), '$.duration_seconds', max(0, ?2 - started_ms)
		  / 1000, '$.end_reason', ?3)
		 WHERE due_ms IS NULL AND (chat = ?1 OR ?1 = '')`, chatID, atMS, status)
}

// renameEndCalls stores the custom session id that the client set.
func renameEndCalls(ctx context.Context, c conn, chatID, customSessionID string) error {
	return execute(ctx, c,
		`UPDATE chat_end_call SET body = json_set(body, '$.custom_session_id', ?2) WHERE chat = ?1`, chatID,
		customSessionID)
}

// EndCallsChanged returns a channel that receives a value when more calls may be due.
// Only one goroutine may receive from it.
func (s *Store) EndCallsChanged() <-chan struct{} { return s.endCallNotifier.wake }

// NextEndCall returns the call that is due first, which may be in the future, or
// ErrNotFound.
func (s *Store) NextEndCall(ctx context.Context) (EndCall, error) {
	next, err := first(ctx, s.read, func(row scanner) (e EndCall, err error) {
		return e, row.Scan(&e.Num, &e.ChatID, &e.AccountID, &e.Plugin, &e.Body, &e.DueMS, &e.Tries)
	}, `
		SELECT e.num, e.chat, a.id, e.plugin, e.body, e.due_ms, e.tries
		  FROM chat_end_call e JOIN account a ON a.num = e.account
		 WHERE e.due_ms IS NOT NULL ORDER BY e.due_ms, e.num LIMIT 1`)
	return next, explain("finding calls for ended chats", err)
}

// DropEndCall deletes a call that was made or given up.
func (s *Store) DropEndCall(ctx context.Context, num int64) error {
	return s.change(ctx, "deleting a call for an ended chat", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `DELETE FROM chat_end_call WHERE num = ?`, num)
	})
}

// DelayEndCall sets the time of the next try, in Unix milliseconds. If failed is set, the
// call has failed once more.
func (s *Store) DelayEndCall(ctx context.Context, num, dueMS int64, failed bool) error {
	return s.change(ctx, "delaying a call for an ended chat", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `UPDATE chat_end_call SET due_ms = ?, tries = tries + iif(?, 1, 0) WHERE num = ?`,
			dueMS, failed, num)
	})
}

// beginOutbox stores the receivers and plugins of a chat, and queues the notice of its
// start.
func beginOutbox(ctx context.Context, c conn, n NewChat) error {
	return errors.Join(beginWebhooks(ctx, c, n), beginEndCalls(ctx, c, n))
}

// endOutbox queues the notices and calls for the end of a chat.
func endOutbox(ctx context.Context, c conn, chatID string, status Status, atMS int64) error {
	return errors.Join(endWebhooks(ctx, c, chatID, status, atMS), scheduleEndCalls(ctx, c, chatID, status, atMS))
}
