package store

import (
	"context"
	"slices"
)

// EventType says what happened in a chat.
type EventType string

// The types of events, in the words of the wire.
const (
	AgentMessage         EventType = "AGENT_MESSAGE"
	AssistantProsody     EventType = "ASSISTANT_PROSODY"
	ChatStart            EventType = "CHAT_START_MESSAGE"
	ChatEnd              EventType = "CHAT_END_MESSAGE"
	FunctionCall         EventType = "FUNCTION_CALL"
	FunctionCallResponse EventType = "FUNCTION_CALL_RESPONSE"
	PauseOnset           EventType = "PAUSE_ONSET"
	ResumeOnset          EventType = "RESUME_ONSET"
	SessionSettings      EventType = "SESSION_SETTINGS"
	SystemPrompt         EventType = "SYSTEM_PROMPT"
	UserInterruption     EventType = "USER_INTERRUPTION"
	UserMessage          EventType = "USER_MESSAGE"
	UserRecordingStart   EventType = "USER_RECORDING_START_MESSAGE"
)

// Role says who did it.
type Role string

// The roles, in the words of the wire.
const (
	User   Role = "USER"
	Agent  Role = "AGENT"
	System Role = "SYSTEM"
	Tool   Role = "TOOL"
)

// Event is one thing that happened in a chat. Empty texts are stored as absent.
type Event struct {
	ChatID          string // set when read
	Seq             int64  // its place in the chat, from 1; set when read
	ID              string // a UUID
	AtMS            int64  // Unix milliseconds
	Type            EventType
	Role            Role
	MessageText     string
	EmotionFeatures string // JSON
	Metadata        string // JSON
	RelatedEventID  string
}

// Page is a piece of a list.
type Page struct {
	Number     int // from 0
	Size       int // rows on a page, 1 or more
	Descending bool
}

// AppendEvents stores events at the end of a chat, all or none, in their order.
// A chat that has ended still takes them: what was measured of its last words
// may come later. ErrNotFound: no such chat.
func (s *Store) AppendEvents(ctx context.Context, chatID string, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	return s.change(ctx, "storing events of chat "+chatID, func(ctx context.Context, c conn) error {
		return appendEvents(ctx, c, chatID, events)
	})
}

func appendEvents(ctx context.Context, c conn, chatID string, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	place, err := first(ctx, c, func(row scanner) (p struct{ chat, last int64 }, err error) {
		return p, row.Scan(&p.chat, &p.last)
	}, `UPDATE chat SET event_count = event_count + ? WHERE id = ? RETURNING num, event_count`, len(events), chatID)
	if err != nil {
		return err
	}
	seq := place.last - int64(len(events))
	for _, e := range events {
		seq++
		_, err := c.ExecContext(ctx, `
			INSERT INTO chat_event (chat, seq, id, at_ms, type, role, message_text,
			                        emotion_features, metadata, related_event_id)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			place.chat, seq, e.ID, e.AtMS, e.Type, e.Role, orNull(e.MessageText),
			orNull(e.EmotionFeatures), orNull(e.Metadata), orNull(e.RelatedEventID))
		if err != nil {
			return err
		}
	}
	return nil
}

// AmendEvents puts the message texts and metadata of events in place of what was
// stored of them; the events are known by their ids. ErrNotFound: the chat has
// no such event, and nothing was changed.
func (s *Store) AmendEvents(ctx context.Context, chatID string, events []Event) error {
	return s.change(ctx, "amending events of chat "+chatID, func(ctx context.Context, c conn) error {
		for _, e := range events {
			err := changeOne(ctx, c, `
				UPDATE chat_event SET message_text = ?, metadata = ?
				 WHERE chat = (SELECT num FROM chat WHERE id = ?) AND id = ?`,
				orNull(e.MessageText), orNull(e.Metadata), chatID, e.ID)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

const selectEvent = `
	SELECT c.id, e.seq, e.id, e.at_ms, e.type, e.role, coalesce(e.message_text, ''),
	       coalesce(e.emotion_features, ''), coalesce(e.metadata, ''), coalesce(e.related_event_id, '')
	  FROM chat c CROSS JOIN chat_event e ON e.chat = c.num `

func scanEvent(row scanner) (e Event, err error) {
	return e, row.Scan(&e.ChatID, &e.Seq, &e.ID, &e.AtMS, &e.Type, &e.Role, &e.MessageText,
		&e.EmotionFeatures, &e.Metadata, &e.RelatedEventID)
}

// Events returns a page of a chat's events and how many events the chat has. A
// page past the end is empty. ErrNotFound: no such chat. It asks for no
// account: [Store.Chat] is the door.
func (s *Store) Events(ctx context.Context, chatID string, page Page) (events []Event, total int, err error) {
	doing := "reading events of chat " + chatID
	total, err = value[int](ctx, s.read, `SELECT event_count FROM chat WHERE id = ?`, chatID)
	if err != nil {
		return nil, 0, explain(doing, err)
	}
	first, last := page.bounds(total)
	events, err = query(ctx, s.read, scanEvent, selectEvent+`
		 WHERE c.id = ? AND e.seq BETWEEN ? AND ? ORDER BY e.seq`, chatID, first, last)
	if page.Descending {
		slices.Reverse(events)
	}
	return events, total, explain(doing, err)
}

// bounds returns the first and last of the page's places among 1 to total, the
// last before the first when the page is past the end.
func (p Page) bounds(total int) (first, last int) {
	skip := total
	if p.Size > 0 && p.Number >= 0 && p.Number <= total/p.Size {
		skip = p.Number * p.Size
	}
	first, last = skip+1, min(skip+p.Size, total)
	if p.Descending {
		first, last = total-last+1, total-skip
	}
	return first, last
}

// GroupHistory returns the newest events of all chats of a group, at most
// limit, oldest first: what a resumed conversation remembers. It asks for no
// account: [Store.StartChat] is the door.
func (s *Store) GroupHistory(ctx context.Context, groupID string, limit int) ([]Event, error) {
	events, err := query(ctx, s.read, scanEvent, selectEvent+`
		 WHERE c.chat_group = (SELECT num FROM chat_group WHERE id = ?)
		 ORDER BY c.num DESC, e.seq DESC LIMIT ?`, groupID, max(limit, 0))
	slices.Reverse(events)
	return events, explain("reading the history of chat group "+groupID, err)
}
