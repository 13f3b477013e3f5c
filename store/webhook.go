package store

import (
	"context"
	"errors"
	"time"
)

// Webhook is a receiver of some events of a chat.
type Webhook struct {
	URL    string
	Events []string // "chat_started", "chat_ended", "tool_call"
}

// Webhooks are the receivers of a chat that begins, and the notices of its start and end.
// Without Hooks nothing is sent.
type Webhooks struct {
	Hooks   []Webhook
	Started string // body of chat_started, JSON
	// Ended is the body of chat_ended, a JSON object. When the chat ends, also by a
	// crash, the store sets its fields "end_time", "duration_seconds" and "end_reason".
	Ended string
}

// Notice is an event for the receivers of a chat that subscribed to such events.
type Notice struct {
	Event string
	AtMS  int64  // time of the event, Unix milliseconds
	Body  string // JSON, signed and sent as it is
}

// The events that the store queues by itself.
const (
	noticeStarted = "chat_started"
	noticeEnded   = "chat_ended"
)

// WebhookPatience is for how long delivery of a webhook is tried.
const WebhookPatience = 24 * time.Hour

// beginWebhooks stores the receivers of a chat, and queues the notice of its start.
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

// receiverOf returns the number of an account's receiver, which is created if it is new.
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

// enqueue puts a notice into the outbox for each receiver of the chat that subscribed to
// it. For one receiver and chat, the first waiting notice is due at once, the others
// after it.
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

// endWebhooks queues the notice of the end of a chat. It does nothing if the chat has no
// receivers, or the notice is already queued.
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

// endForgottenWebhooks queues the end of chats without a stored history that a crash left
// open. Such a chat ended at the time of its last notice.
func endForgottenWebhooks(ctx context.Context, c conn) error {
	type openChat struct {
		id   string
		atMS int64
	}
	open, err := query(ctx, c, func(row scanner) (o openChat, err error) { return o, row.Scan(&o.id, &o.atMS) }, `
		SELECT id, max(started_ms, coalesce((SELECT max(created_ms) FROM webhook WHERE chat = webhook_chat.id), 0))
		  FROM webhook_chat ORDER BY started_ms, id`)
	if err != nil {
		return err
	}
	for _, o := range open {
		if err := endWebhooks(ctx, c, o.id, Failed, o.atMS); err != nil {
			return err
		}
	}
	return nil
}

// writeWebhooks queues the notices of a write, and stores the custom session id for later
// notices.
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

// StartWebhooks does the webhook part of StartChat, for a chat without a stored history.
// The error is ErrNotFound if there is no such account.
func (s *Store) StartWebhooks(ctx context.Context, n NewChat) error {
	return s.changeAndNotify(ctx, "queueing the start of chat "+n.ID, func(ctx context.Context, c conn) error {
		return beginOutbox(ctx, c, n)
	})
}

// WriteWebhooks does the webhook part of WriteChat.
func (s *Store) WriteWebhooks(ctx context.Context, chatID string, w ChatWrite) error {
	return s.changeAndNotify(ctx, "queueing webhooks of chat "+chatID, func(ctx context.Context, c conn) error {
		return writeWebhooks(ctx, c, chatID, w)
	})
}

// EndWebhooks does the webhook part of EndChat.
func (s *Store) EndWebhooks(ctx context.Context, chatID string, status Status, atMS int64) error {
	return s.changeAndNotify(ctx, "queueing the end of chat "+chatID, func(ctx context.Context, c conn) error {
		return endOutbox(ctx, c, chatID, status, atMS)
	})
}

// changeAndNotify runs change and, on success, notifies the senders of webhooks and of end calls.
func (s *Store) changeAndNotify(ctx context.Context, doing string, do func(context.Context, conn) error) error {
	err := s.change(ctx, doing, do)
	if err == nil {
		s.outboxNotifier.notify()
		s.endCallNotifier.notify()
	}
	return err
}
