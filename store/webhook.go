package store

import (
	"context"
	"errors"
	"time"
)

// Webhook is a receiver that is told of some events of a chat.
type Webhook struct {
	URL    string
	Events []string // "chat_started", "chat_ended", "tool_call"
}

// Webhooks are those of a chat that begins, and what they are told of its
// beginning and its end. Without any Hooks nothing is told.
type Webhooks struct {
	Hooks   []Webhook
	Started string // body of chat_started, JSON
	// Ended is the body of chat_ended, a JSON object in which the store sets
	// "end_time", "duration_seconds" and "end_reason" when the chat ends, be it
	// by a crash.
	Ended string
}

// Notice is what the receivers of a chat that want to know of such events are
// told.
type Notice struct {
	Event string
	AtMS  int64  // of what it tells, Unix milliseconds
	Body  string // JSON, which is signed and sent as it is
}

// The events that the store itself knows of: each chat begins and ends.
const (
	noticeStarted = "chat_started"
	noticeEnded   = "chat_ended"
)

// WebhookPatience is for how long it is tried to deliver a webhook.
const WebhookPatience = 24 * time.Hour

// beginWebhooks notes the receivers of a chat, and tells them that it began.
func beginWebhooks(ctx context.Context, c conn, n NewChat) error {
	if len(n.Webhooks.Hooks) == 0 {
		return nil
	}
	if err := execute(ctx, c, `INSERT INTO webhook_chat (id, started_ms, ended_body) VALUES (?, ?, ?)`, n.ID,
		n.StartedMS, n.Webhooks.Ended); err != nil {
		return err
	}
	for _, h := range n.Webhooks.Hooks {
		receiver, err := receiverOf(ctx, c, n.AccountID, h.URL)
		if err != nil {
			return err
		}
		for _, event := range h.Events {
			if err := execute(ctx, c,
				`INSERT INTO webhook_wish (chat, event, receiver) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, n.ID, event,
				receiver); err != nil {
				return err
			}
		}
	}
	return enqueue(ctx, c, n.ID, Notice{noticeStarted, n.StartedMS, n.Webhooks.Started})
}

// receiverOf returns the number of an account's receiver, which is entered where
// it is new.
func receiverOf(ctx context.Context, c conn, accountID, url string) (num int64, err error) {
	if err := execute(ctx, c, `
		INSERT INTO webhook_receiver (account, url) SELECT num, ?2 FROM account WHERE id = ?1
		    ON CONFLICT (account, url) DO NOTHING`, accountID, url); err != nil {
		return 0, err
	}
	return value[int64](ctx, c, `
		SELECT r.num FROM account a JOIN webhook_receiver r ON r.account = a.num WHERE a.id = ? AND r.url = ?`,
		accountID, url)
}

// enqueue puts a notice into the outbox for each receiver of the chat that wants
// it. The first of the chat that waits for a receiver is due at once, those
// behind it when that is over.
func enqueue(ctx context.Context, c conn, chatID string, n Notice) error {
	now := time.Now().UnixMilli()
	return execute(ctx, c, `
		INSERT INTO webhook (id, receiver, chat, event, body, created_ms, until_ms, due_ms)
		SELECT lower(hex(randomblob(8))), w.receiver, w.chat, w.event, ?3, ?4, ?5 + ?6,
		       iif(EXISTS (SELECT 1 FROM webhook WHERE chat = w.chat AND receiver = w.receiver AND state =
		  'waiting'), NULL, ?5)
		  FROM webhook_wish w WHERE w.chat = ?1 AND w.event = ?2 ORDER BY w.receiver`,
		chatID, n.Event, n.Body, n.AtMS, now, WebhookPatience.Milliseconds())
}

// endWebhooks tells the receivers of a chat that it ended. Where it has none, or
// they were told, nothing happens.
func endWebhooks(ctx context.Context, c conn, chatID string, status Status, atMS int64) error {
	body, err := value[string](ctx, c, `
		SELECT json_set(ended_body, '$.end_time', ?2, '$.duration_seconds', max(0, ?2 - started_ms) / 1000,
		  '$.end_reason', ?3)
		  FROM webhook_chat WHERE id = ?1`, chatID, atMS, status)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := enqueue(ctx, c, chatID, Notice{noticeEnded, atMS, body}); err != nil {
		return err
	}
	return changeOne(ctx, c, `DELETE FROM webhook_chat WHERE id = ?`, chatID)
}

// endForgottenWebhooks tells the end of the chats that a crash left open and of
// which no history is kept. The last that is known of each is what its receivers
// were told last.
func endForgottenWebhooks(ctx context.Context, c conn) error {
	type left struct {
		chat string
		atMS int64
	}
	open, err := query(ctx, c, func(row scanner) (l left, err error) { return l, row.Scan(&l.chat, &l.atMS) }, `
		SELECT id, max(started_ms, coalesce((SELECT max(created_ms) FROM webhook WHERE chat = webhook_chat.id), 0))
		  FROM webhook_chat ORDER BY started_ms, id`)
	if err != nil {
		return err
	}
	for _, l := range open {
		if err := endWebhooks(ctx, c, l.chat, Failed, l.atMS); err != nil {
			return err
		}
	}
	return nil
}

// writeWebhooks tells what happened in a chat, and notes the id that its client
// gave the session from then on.
func writeWebhooks(ctx context.Context, c conn, chatID string, w ChatWrite) error {
	for _, n := range w.Notices {
		if err := enqueue(ctx, c, chatID, n); err != nil {
			return err
		}
	}
	if w.CustomSessionID == "" {
		return nil
	}
	if err := renameEndCalls(ctx, c, chatID, w.CustomSessionID); err != nil {
		return err
	}
	return execute(ctx, c,
		`UPDATE webhook_chat SET ended_body = json_set(ended_body, '$.custom_session_id', ?) WHERE id = ?`,
		w.CustomSessionID, chatID)
}

// StartWebhooks does of StartChat what webhooks want, for a chat of which nothing
// else is kept. ErrNotFound: no such account.
func (s *Store) StartWebhooks(ctx context.Context, n NewChat) error {
	return s.changeAndNotify(ctx, "telling that chat "+n.ID+" began", func(ctx context.Context, c conn) error {
		return beginOutbox(ctx, c, n)
	})
}

// WriteWebhooks is that of WriteChat.
func (s *Store) WriteWebhooks(ctx context.Context, chatID string, w ChatWrite) error {
	return s.changeAndNotify(ctx, "telling of chat "+chatID, func(ctx context.Context, c conn) error {
		return writeWebhooks(ctx, c, chatID, w)
	})
}

// EndWebhooks is that of EndChat.
func (s *Store) EndWebhooks(ctx context.Context, chatID string, status Status, atMS int64) error {
	return s.changeAndNotify(ctx, "telling that chat "+chatID+" ended", func(ctx context.Context, c conn) error {
		return endOutbox(ctx, c, chatID, status, atMS)
	})
}

// changeAndNotify is change, and lets those know that the outbox has more.
func (s *Store) changeAndNotify(ctx context.Context, doing string, do func(context.Context, conn) error) error {
	err := s.change(ctx, doing, do)
	if err == nil {
		s.outboxNotifier.notify()
		s.endCallNotifier.notify()
	}
	return err
}
