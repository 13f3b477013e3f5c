package store

import "context"

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

// Role says whose event it is.
type Role string

// The roles, in the words of the wire.
const (
	User   Role = "USER"
	Agent  Role = "AGENT"
	System Role = "SYSTEM"
	Tool   Role = "TOOL"
)

// Event is one thing that happened in a chat. Empty strings are stored as NULL.
//
// A message text of more than 512 KiB is cut when it is stored, and one of more than its
// share of a page when a page is read; a smaller page returns more of it. A cut text ends
// with "…", or is {"truncated": BYTES} if it was JSON, and the metadata has "truncated",
// the size of the whole in bytes.
type Event struct {
	ChatID          string // set when read
	Seq             int64  // position in the chat, from 1; set when read
	ID              string // a UUID
	AtMS            int64  // Unix milliseconds
	Type            EventType
	Role            Role
	MessageText     string
	EmotionFeatures string // JSON
	Metadata        string // JSON
	RelatedEventID  string
}

// ChatWrite is what is written to a chat at once.
type ChatWrite struct {
	// New are events to append, in order.
	New []Event
	// Amended are events that the chat has or that New appends, found by their ids. Their
	// texts and metadata replace the stored ones. The account's usage is not counted
	// anew: a text gets shorter by words that the user did not hear, or longer by the
	// rest of a sentence, which takes less than a separate row.
	Amended []Event
	// Questions are what the user asked, if the chat's config has approved answers.
	Questions []Question
	// Metadata (JSON) replaces the chat's metadata, unless it is empty.
	Metadata string
	// Notices are queued for the chat's webhooks that subscribed to them.
	Notices []Notice
	// CustomSessionID replaces the chat's, also in later notices, unless it is empty.
	CustomSessionID string
}

// Empty reports whether there is nothing to write.
func (w ChatWrite) Empty() bool {
	return len(w.New) == 0 && len(w.Amended) == 0 && len(w.Questions) == 0 && w.Metadata == "" && !w.ForWebhooks()
}

// ForWebhooks reports whether w changes anything for webhooks.
func (w ChatWrite) ForWebhooks() bool { return len(w.Notices) > 0 || w.CustomSessionID != "" }

// WriteChat writes w in one transaction. The chat may have ended: the expression scores
// of its last words may come later. The error is ErrNotFound if there is no such chat, or
// no such event in it.
func (s *Store) WriteChat(ctx context.Context, chatID string, w ChatWrite) error {
	if w.Empty() {
		return nil
	}
	write := s.change
	if len(w.Notices) > 0 {
		write = s.changeAndNotify
	}
	err := write(ctx, "writing chat "+chatID, func(ctx context.Context, c conn) error {
		if err := appendEvents(ctx, c, chatID, w.New); err != nil {
			return err
		}
		if err := amendEvents(ctx, c, chatID, w.Amended); err != nil {
			return err
		}
		if err := addQuestions(ctx, c, chatID, w.Questions); err != nil {
			return err
		}
		if err := writeWebhooks(ctx, c, chatID, w); err != nil {
			return err
		}
		if w.Metadata == "" && w.CustomSessionID == "" {
			return nil
		}
		num, err := value[int64](ctx, c, `UPDATE chat SET metadata = coalesce(?, metadata), custom_session_id = `+
			`coalesce(?, custom_session_id) WHERE id = ? RETURNING num`,
			orNull(w.Metadata), orNull(w.CustomSessionID), chatID)
		if err != nil {
			return err
		}
		return noteChat(ctx, c, num)
	})
	if err == nil {
		s.fleetNotifier.notify()
	}
	return err
}

// AppendEvents is WriteChat with new events only.
func (s *Store) AppendEvents(ctx context.Context, chatID string, events []Event) error {
	return s.WriteChat(ctx, chatID, ChatWrite{New: events})
}

func appendEvents(ctx context.Context, c conn, chatID string, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	var size int64
	bounded := make([]Event, len(events))
	for i, e := range events {
		bounded[i] = e.bounded(maxEventText, maxEventJSON)
		size += bounded[i].size()
	}
	chatRow, err := first(ctx, c, func(row scanner) (p struct{ chat, last int64 }, err error) {
		return p, row.Scan(&p.chat, &p.last)
	}, `UPDATE chat SET event_count = event_count + ?, bytes = bytes + ? WHERE id = ? RETURNING num, event_count`,
		len(events), size, chatID)
	if err != nil {
		return err
	}
	seq := chatRow.last - int64(len(events))
	for _, e := range bounded {
		seq++
		if err := execute(ctx, c, `
			INSERT INTO chat_event (chat, seq, id, at_ms, type, role, message_text,
			                        emotion_features, metadata, related_event_id)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			chatRow.chat, seq, e.ID, e.AtMS, e.Type, e.Role, orNull(e.MessageText),
			orNull(e.EmotionFeatures), orNull(e.Metadata), orNull(e.RelatedEventID)); err != nil {
			return err
		}
	}
	return noteChat(ctx, c, chatRow.chat)
}

func amendEvents(ctx context.Context, c conn, chatID string, events []Event) error {
	for _, e := range events {
		e = e.bounded(maxEventText, maxEventJSON)
		var chat, seq int64
		err := scanFirst(ctx, c, []any{&chat, &seq}, `
			UPDATE chat_event SET message_text = ?, metadata = ?
			 WHERE chat = (SELECT num FROM chat WHERE id = ?) AND id = ? RETURNING chat, seq`,
			orNull(e.MessageText), orNull(e.Metadata), chatID, e.ID)
		if err != nil {
			return err
		}
		if err := noteAmended(ctx, c, chat, seq); err != nil {
			return err
		}
	}
	return nil
}

// eventColumns are columns of a chat c and its event e. A text longer than ?1 bytes is
// cut there; longer JSON is left out.
const eventColumns = ` c.id, e.seq, e.id, e.at_ms, e.type, e.role, coalesce(e.related_event_id, ''),
	coalesce(iif(octet_length(e.message_text) > ?1, CAST(substr(CAST(e.message_text AS BLOB), 1, ?1) AS TEXT),
	  e.message_text), ''),
	coalesce(octet_length(e.message_text), 0),
	iif(octet_length(e.emotion_features) > ?1, '', coalesce(e.emotion_features, '')),
	iif(octet_length(e.metadata) > ?1, '', coalesce(e.metadata, '')), coalesce(octet_length(e.metadata), 0) `

func scanEvent(row scanner) (e Event, err error) {
	var text, metadata int // in bytes, as they are stored
	err = row.Scan(&e.ChatID, &e.Seq, &e.ID, &e.AtMS, &e.Type, &e.Role, &e.RelatedEventID,
		&e.MessageText, &text, &e.EmotionFeatures, &e.Metadata, &metadata)
	if metadata > len(e.Metadata) {
		e.Metadata = truncated("", metadata)
	}
	if text > len(e.MessageText) {
		e.cut(len(e.MessageText), text)
	}
	return e, err
}

// Events returns a page of a chat's events and the number of all its events. A page past
// the end is empty. Long texts are cut (see [Event]). The error is ErrNotFound if there
// is no such chat. Events does not check the account: callers use [Store.Chat] first.
func (s *Store) Events(ctx context.Context, chatID string, page Page) (events []Event, total int, err error) {
	doing := "reading events of chat " + chatID
	if skip, ok := page.skip(); ok {
		// The numbers run without gaps, so a page is a range of them.
		bounds, order := `e.seq BETWEEN ?3 + 1 AND ?3 + ?4`, `ASC`
		if page.Descending {
			bounds, order = `e.seq BETWEEN c.event_count - ?3 - ?4 + 1 AND c.event_count - ?3`, `DESC`
		}
		events, err = query(ctx, s.read, counting(scanEvent, &total), `
			SELECT`+eventColumns+`, c.event_count FROM chat c CROSS JOIN chat_event e ON e.chat = c.num
			 WHERE c.id = ?2 AND `+bounds+` ORDER BY e.seq `+order, page.bytesPerEvent(), chatID, skip, page.Size)
		if err != nil || len(events) > 0 {
			return events, total, explain(doing, err)
		}
	}
	total, err = value[int](ctx, s.read, `SELECT event_count FROM chat WHERE id = ?`, chatID)
	return nil, total, explain(doing, err)
}

const groupHistory = `
	WITH newest AS (
	        SELECT c.num AS chat, e.seq, e.type, min(coalesce(octet_length(e.message_text), 0), ?1) AS bytes
	          FROM chat c CROSS JOIN chat_event e ON e.chat = c.num
	         WHERE c.chat_group = (SELECT num FROM chat_group WHERE id = ?2)
	         ORDER BY c.num DESC, e.seq DESC LIMIT ?3),
	     said AS (
	        SELECT chat, seq, sum(bytes) OVER (ORDER BY chat DESC, seq DESC) AS used
	          FROM newest WHERE type IN (?4, ?5, ?6, ?7))
	SELECT` + eventColumns + `
	  FROM said CROSS JOIN chat c ON c.num = said.chat CROSS JOIN chat_event e ON e.chat = said.chat AND e.seq =
	  said.seq
	 WHERE said.used <= ?1 ORDER BY c.num, e.seq`

// GroupHistory returns what a resumed conversation remembers of a group's chats:
// messages, tool calls and their results, oldest first. It looks at the newest limit
// events and returns as many as fit into resumedBytes. It does not check the account:
// [Store.StartChat] does.
func (s *Store) GroupHistory(ctx context.Context, groupID string, limit int) ([]Event, error) {
	events, err := query(ctx, s.read, scanEvent, groupHistory, resumedBytes, groupID, max(limit, 0), UserMessage,
		AgentMessage, FunctionCall, FunctionCallResponse)
	return events, explain("reading the history of chat group "+groupID, err)
}
