package record

import (
	"context"
	"errors"

	"parley/store"
)

// Unrecorded replaces Records for chats that are not recorded. It only passes webhook and plugin
// notifications to Outbox; if Outbox is nil, no one is notified.
type Unrecorded struct{ Outbox Outbox }

// Outbox stores webhook notifications until they are delivered.
type Outbox interface {
	StartWebhooks(ctx context.Context, c store.NewChat) error
	WriteWebhooks(ctx context.Context, chatID string, w store.ChatWrite) error
	EndWebhooks(ctx context.Context, chatID string, status store.Status, atMS int64) error
}

// ErrUnrecorded means that there is no history to resume.
var ErrUnrecorded = errors.New("no history is stored")

// StartChat starts a chat without a record. It cannot resume one.
func (u Unrecorded) StartChat(ctx context.Context, c store.NewChat, _ ...store.Event) error {
	if c.Resume {
		return ErrUnrecorded
	}
	if u.Outbox == nil || len(c.Webhooks.Hooks)+len(c.EndCalls.Plugins) == 0 {
		return nil
	}
	return u.Outbox.StartWebhooks(ctx, c)
}

// WriteChat drops everything but notifications.
func (u Unrecorded) WriteChat(ctx context.Context, chatID string, w store.ChatWrite) error {
	if u.Outbox == nil || !w.ForWebhooks() {
		return nil
	}
	return u.Outbox.WriteWebhooks(ctx, chatID, w)
}

// EndChat notifies that the chat ended.
func (u Unrecorded) EndChat(ctx context.Context, chatID string, status store.Status, atMS int64,
	_ ...store.Event) error {
	if u.Outbox == nil {
		return nil
	}
	return u.Outbox.EndWebhooks(ctx, chatID, status, atMS)
}

// GroupHistory returns nothing.
func (Unrecorded) GroupHistory(context.Context, string, int) ([]store.Event, error) { return nil, nil }
