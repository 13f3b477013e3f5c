package record

import (
	"context"
	"errors"

	"parley/appliance/chat/turn"
	"parley/store"
)

// Records is where chats are written.
type Records interface {
	// WriteChat writes what happened, all or nothing.
	WriteChat(ctx context.Context, chatID string, w store.ChatWrite) error
	EndChat(ctx context.Context, chatID string, status store.Status, atMS int64, last ...store.Event) error
}

// History is what was said in a chat group, out of its events.
func History(events []store.Event) []turn.Entry {
	var out []turn.Entry
	for _, e := range events {
		entry := turn.Entry{Role: turn.User, Text: e.MessageText}
		switch e.Type {
		case store.UserMessage:
		case store.AgentMessage:
			entry.Role = turn.Assistant
		default:
			continue
		}
		if entry.Text == turn.CutMark { // interrupted before its first word
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == entry.Role {
			out[n-1].Text += " " + entry.Text
			continue
		}
		out = append(out, entry)
	}
	return out
}

// Unkept keeps nothing of conversations: they happen, and are gone.
type Unkept struct{}

// ErrNotKept means that there is no history to resume.
var ErrNotKept = errors.New("no history is kept here")

// StartChat begins a chat that leaves no trace. There is none to resume.
func (Unkept) StartChat(_ context.Context, c store.NewChat, _ ...store.Event) error {
	if c.Resume {
		return ErrNotKept
	}
	return nil
}

// WriteChat forgets what happened.
func (Unkept) WriteChat(context.Context, string, store.ChatWrite) error { return nil }

// EndChat forgets how the chat ended.
func (Unkept) EndChat(context.Context, string, store.Status, int64, ...store.Event) error {
	return nil
}

// GroupHistory remembers nothing.
func (Unkept) GroupHistory(context.Context, string, int) ([]store.Event, error) { return nil, nil }
