package record

import (
	"context"
	"errors"

	"parley/store"
)

// Unrecorded keeps nothing of conversations: they happen, and are gone. What webhooks
// and plugins are still to be told of them goes to Outbox; where that is nil, nobody is told.
type Unrecorded struct{ Outbox Outbox }

// Outbox keeps what webhooks are to be told until it is delivered.
type Outbox interface {
	StartWebhooks(ctx context.Context, c store.NewChat) error
	WriteWebhooks(ctx context.Context, chatID string, w store.ChatWrite) error
	EndWebhooks(ctx context.Context, chatID string, status store.Status, atMS int64) error
}

// ErrUnrecorded means that there is no history to resume.
var ErrUnrecorded = errors.New("no history is kept here")

// StartChat begins a chat that leaves no trace. There is none to resume.
func (u Unrecorded) StartChat(ctx context.Context, c store.NewChat, _ ...store.Event) error {
	if c.Resume {
		return ErrUnrecorded
	}
	if u.Outbox == nil || len(c.Webhooks.Hooks)+len(c.EndCalls.Plugins) == 0 {
		return nil
	}
	return u.Outbox.StartWebhooks(ctx, c)
}

// WriteChat forgets what happened.
func (u Unrecorded) WriteChat(ctx context.Context, chatID string, w store.ChatWrite) error {
	if u.Outbox == nil || !w.ForWebhooks() {
		return nil
	}
	return u.Outbox.WriteWebhooks(ctx, chatID, w)
}

// EndChat forgets how the chat ended.
func (u Unrecorded) EndChat(ctx context.Context, chatID string, status store.Status, atMS int64,
	_ ...store.Event) error {
	if u.Outbox == nil {
		return nil
	}
	return u.Outbox.EndWebhooks(ctx, chatID, status, atMS)
}

// GroupHistory remembers nothing.
func (Unrecorded) GroupHistory(context.Context, string, int) ([]store.Event, error) { return nil, nil }
