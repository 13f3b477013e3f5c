package store

import (
	"context"
	"errors"
)

// EndCalls are the plugins that are told when a chat ends.
type EndCalls struct {
	Plugins []string // their names
	// Body is what they are told, a JSON object in which the store sets "end_time",
	// "duration_seconds" and "end_reason" when the chat ends, be it by a crash.
	Body string
}

// EndCall is one plugin that is still to be told of the end of a chat.
type EndCall struct {
	Num       int64
	ChatID    string
	AccountID string
	Plugin    string
	Body      string // JSON
	DueMS     int64  // of the next try, Unix milliseconds
	Tries     int    // that failed
}

// beginEndCalls notes whom the end of a chat is to be told.
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

// scheduleEndCalls has the plugins told of the end of a chat: of the one, or where that
// is empty of all that have no end.
func scheduleEndCalls(ctx context.Context, c conn, chatID string, status Status, atMS int64) error {
	return execute(ctx, c, `
		UPDATE chat_end_call
		   SET due_ms = max(?2, started_ms),
		       body = json_set(body, '$.end_time', max(?2, started_ms), '$.duration_seconds', max(0, ?2 - started_ms)
		  / 1000, '$.end_reason', ?3)
		 WHERE due_ms IS NULL AND (chat = ?1 OR ?1 = '')`, chatID, atMS, status)
}

// renameEndCalls notes the id that the client gave the session.
func renameEndCalls(ctx context.Context, c conn, chatID, customSessionID string) error {
	return execute(ctx, c,
		`UPDATE chat_end_call SET body = json_set(body, '$.custom_session_id', ?2) WHERE chat = ?1`, chatID,
		customSessionID)
}

// EndCallsChanged is sent to when there are more of them that are due. There is one
// who receives, in the box.
func (s *Store) EndCallsChanged() <-chan struct{} { return s.endCallNotifier.wake }

// NextEndCall is the one that is due first, be it later; an ErrNotFound where there
// is none.
func (s *Store) NextEndCall(ctx context.Context) (EndCall, error) {
	next, err := first(ctx, s.read, func(row scanner) (e EndCall, err error) {
		return e, row.Scan(&e.Num, &e.ChatID, &e.AccountID, &e.Plugin, &e.Body, &e.DueMS, &e.Tries)
	}, `
		SELECT e.num, e.chat, a.id, e.plugin, e.body, e.due_ms, e.tries
		  FROM chat_end_call e JOIN account a ON a.num = e.account
		 WHERE e.due_ms IS NOT NULL ORDER BY e.due_ms, e.num LIMIT 1`)
	return next, explain("looking for plugins to tell of the end of a chat", err)
}

// DropEndCall forgets one, which was made or given up.
func (s *Store) DropEndCall(ctx context.Context, num int64) error {
	return s.change(ctx, "forgetting whom the end of a chat was told", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `DELETE FROM chat_end_call WHERE num = ?`, num)
	})
}

// DelayEndCall has one tried again from a time on, Unix milliseconds; failed says
// that the try counts.
func (s *Store) DelayEndCall(ctx context.Context, num, dueMS int64, failed bool) error {
	return s.change(ctx, "putting off whom the end of a chat is told", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `UPDATE chat_end_call SET due_ms = ?, tries = tries + iif(?, 1, 0) WHERE num = ?`,
			dueMS, failed, num)
	})
}

// beginOutbox notes who is told of a chat elsewhere, and tells of its beginning.
func beginOutbox(ctx context.Context, c conn, n NewChat) error {
	return errors.Join(beginWebhooks(ctx, c, n), beginEndCalls(ctx, c, n))
}

// endOutbox tells them that it ended.
func endOutbox(ctx context.Context, c conn, chatID string, status Status, atMS int64) error {
	return errors.Join(endWebhooks(ctx, c, chatID, status, atMS), scheduleEndCalls(ctx, c, chatID, status, atMS))
}
