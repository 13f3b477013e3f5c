package fleet

import "encoding/json"

// Facts is one message of a box to the hub: facts in the order in which they happened. Its id (Nats-Msg-Id) is ID. A
// box sends one message at a time and the next when the hub's stream has it, so that each is in the stream once and in
// order.
type Facts struct {
	ID    string `json:"id"` // a UUID
	Box   string `json:"box"`
	Facts []Fact `json:"facts"`
}

// Fact is one thing that happened on a box. Exactly one of the fields after AtMS is set.
type Fact struct {
	AtMS int64 `json:"at_ms"` // Unix milliseconds

	Chat    *Chat           `json:"chat,omitempty"`    // a chat began, went on or ended
	Deleted *Deleted        `json:"deleted,omitempty"` // a chat or group was deleted on the box
	Act     json.RawMessage `json:"act,omitempty"`     // an administrative act, as the audit log has it
	Webhook *Webhook        `json:"webhook,omitempty"` // a webhook was delivered or given up
	Health  *State          `json:"health,omitempty"`  // once a minute
	Dropped *Dropped        `json:"dropped,omitempty"` // what the hub will never get
}

// Chat is a chat as it stands now, with the events that the hub does not have yet. Whoever stores it replaces the chat,
// and adds or replaces its events by their ids.
type Chat struct {
	ID              string          `json:"id"`
	GroupID         string          `json:"chat_group_id"`
	Account         string          `json:"account"` // its name
	ConfigID        string          `json:"config_id,omitempty"`
	ConfigVersion   int             `json:"config_version,omitempty"`
	Status          string          `json:"status"`
	StartedMS       int64           `json:"started_ms"`
	EndedMS         int64           `json:"ended_ms,omitempty"` // 0 while it is live
	RequestID       string          `json:"request_id"`
	CustomSessionID string          `json:"custom_session_id,omitempty"`
	Metadata        json.RawMessage `json:"metadata,omitempty"`
	EventCount      int             `json:"event_count"` // of all events
	Events          []Event         `json:"events"`
}

// Event is an event of a chat, with the names of the API.
type Event struct {
	Seq             int64           `json:"seq"` // from 1
	ID              string          `json:"id"`
	AtMS            int64           `json:"timestamp"`
	Type            string          `json:"type"`
	Role            string          `json:"role"`
	MessageText     string          `json:"message_text,omitempty"`
	EmotionFeatures json.RawMessage `json:"emotion_features,omitempty"`
	Metadata        json.RawMessage `json:"metadata,omitempty"`
	RelatedEventID  string          `json:"related_event_id,omitempty"`
}

// Deleted names a chat or a chat group; the other field is empty.
type Deleted struct {
	ChatID  string `json:"chat_id,omitempty"`
	GroupID string `json:"chat_group_id,omitempty"`
}

// Webhook is what became of a webhook.
type Webhook struct {
	ID        string `json:"id"`
	ChatID    string `json:"chat_id"`
	Account   string `json:"account"`
	Event     string `json:"event"` // such as chat_started
	Host      string `json:"host"`  // of the receiver; its URL may hold a secret
	Delivered bool   `json:"delivered"`
	Attempts  int    `json:"attempts"`
	Error     string `json:"error,omitempty"`
}

// Dropped counts facts that the box dropped since it said so last, because there were too many.
type Dropped struct {
	Health  int64 `json:"health,omitempty"`
	Webhook int64 `json:"webhook,omitempty"`
	Act     int64 `json:"act,omitempty"`
	// Chats were deleted on the box, by its retention, before they were sent.
	Chats int64 `json:"chats,omitempty"`
}
