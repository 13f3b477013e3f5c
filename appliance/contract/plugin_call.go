package contract

import "encoding/json"

// The inputs and results of plugin hooks. docs/plugins/chats.md has examples.

// TurnCall is the input of on_turn: what the user said last, before the model
// sees it.
type TurnCall struct {
	Text     string `json:"text"`
	Language string `json:"language,omitempty"` // BCP 47, if known
	// Guess reports that the user may go on speaking. If the words change,
	// on_turn is called again.
	Guess           bool   `json:"guess"`
	ChatID          string `json:"chat_id"`
	ChatGroupID     string `json:"chat_group_id"`
	ConfigID        string `json:"config_id,omitempty"`
	CustomSessionID string `json:"custom_session_id,omitempty"`
	// Conversation is what was said before, the newest last.
	Conversation []SpokenLine `json:"conversation"`
}

// TurnAdvice is the result of on_turn. Both fields may be absent.
type TurnAdvice struct {
	Context string `json:"context,omitempty"` // for the model, in addition to what the user said
	Answer  string `json:"answer,omitempty"`  // spoken instead of the model's answer
}

// SpokenLine is one message of a conversation.
type SpokenLine struct {
	Role       Role           `json:"role"` // user or assistant
	Text       string         `json:"text"`
	Expression *EmotionScores `json:"expression,omitempty"` // of a user's message, if granted and measured
}

// ChatEndCall is the input of on_chat_end, after a chat has ended.
type ChatEndCall struct {
	ChatID          string `json:"chat_id"`
	ChatGroupID     string `json:"chat_group_id"`
	ConfigID        string `json:"config_id,omitempty"`
	CustomSessionID string `json:"custom_session_id,omitempty"`
	StartTime       int64  `json:"start_time"` // Unix milliseconds, as all times
	EndTime         int64  `json:"end_time,omitempty"`
	DurationSeconds int64  `json:"duration_seconds"`
	EndReason       string `json:"end_reason,omitempty"` // USER_ENDED …, as in webhooks
	// Transcript is what was said, if granted and stored by the box.
	Transcript json.RawMessage `json:"transcript,omitempty"`
}
