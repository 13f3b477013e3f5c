package chat

import (
	"context"
	"errors"

	"parley/store"
)

// Unrecorded keeps nothing of conversations: they happen, and are gone.
type Unrecorded struct{}

var errNotKept = errors.New("no history is kept here")

// StartChat begins a chat that leaves no trace. There is none to resume.
func (Unrecorded) StartChat(_ context.Context, c store.NewChat, _ ...store.Event) error {
	if c.Resume {
		return errNotKept
	}
	return nil
}

// AppendEvents forgets the events.
func (Unrecorded) AppendEvents(context.Context, string, []store.Event) error { return nil }

// AmendEvents has nothing to amend.
func (Unrecorded) AmendEvents(context.Context, string, []store.Event) error { return nil }

// SetMetadata forgets what the client noted of the chat.
func (Unrecorded) SetMetadata(context.Context, string, string) error { return nil }

// EndChat forgets how the chat ended.
func (Unrecorded) EndChat(context.Context, string, store.Status, int64, ...store.Event) error {
	return nil
}

// GroupHistory remembers nothing.
func (Unrecorded) GroupHistory(context.Context, string, int) ([]store.Event, error) { return nil, nil }
