package contract

import "encoding/json"

// What plugins are told, and what they answer, beside the parameters of their
// tools: docs/plugins/chats.md shows it.

// TurnCall is what on_turn is told: what the user said last, before the model
// sees it.
type TurnCall struct {
	Text     string `json:"text"`
	Language string `json:"language,omitempty"` // BCP 47, where it is known
	// Guess says that the user may go on speaking: then the words change, and
	// on_turn is called again.
	Guess           bool   `json:"guess"`
	ChatID          string `json:"chat_id"`
	ChatGroupID     string `json:"chat_group_id"`
	ConfigID        string `json:"config_id,omitempty"`
	CustomSessionID string `json:"custom_session_id,omitempty"`
	// Conversation is what was said before, the newest last.
	Conversation []SpokenLine `json:"conversation"`
}

// TurnAdvice is what on_turn answers. Both may be absent.
type TurnAdvice struct {
	Context string `json:"context,omitempty"` // for the model's eyes, beside what the user said
	Answer  string `json:"answer,omitempty"`  // said in place of the model's answer
}

// SpokenLine is one thing of a conversation.
type SpokenLine struct {
	Role       Role           `json:"role"` // user or assistant
	Text       string         `json:"text"`
	Expression *EmotionScores `json:"expression,omitempty"` // of a user's, where it was granted and measured
}

// ChatEndCall is what on_chat_end is told, when a chat has ended.
type ChatEndCall struct {
	ChatID          string `json:"chat_id"`
	ChatGroupID     string `json:"chat_group_id"`
	ConfigID        string `json:"config_id,omitempty"`
	CustomSessionID string `json:"custom_session_id,omitempty"`
	StartTime       int64  `json:"start_time"` // Unix milliseconds, as all times
	EndTime         int64  `json:"end_time,omitempty"`
	DurationSeconds int64  `json:"duration_seconds"`
	EndReason       string `json:"end_reason,omitempty"` // USER_ENDED … as of webhooks
	// Transcript is what was said, where that was granted and the box keeps it.
	Transcript json.RawMessage `json:"transcript,omitempty"`
}
