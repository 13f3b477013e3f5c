// Package contract is the wire: the JSON messages and records that clients of
// the box send and receive, as Go types, with their limits and checks. It
// knows nothing of how the box fulfils it and imports nothing of ours.
package contract

// A ServerMessage is what the box sends over a live chat.
type ServerMessage interface {
	// MessageType is the value of "type" on the wire.
	MessageType() string
}

// ChatMetadata is the first message of every chat.
type ChatMetadata struct {
	Type            typeOf[ChatMetadata] `json:"type"`
	ChatGroupID     string               `json:"chat_group_id"`
	ChatID          string               `json:"chat_id"`
	RequestID       string               `json:"request_id,omitempty"`
	CustomSessionID string               `json:"custom_session_id,omitempty"`
}

// UserMessage is what the user said or typed: once per turn with Interim
// false, and before that, if asked for, as it is understood so far.
type UserMessage struct {
	Type            typeOf[UserMessage] `json:"type"`
	FromText        bool                `json:"from_text"` // any part of it was typed
	Interim         bool                `json:"interim"`
	Language        string              `json:"language,omitempty"` // BCP 47
	Message         ChatMessage         `json:"message"`
	Models          Inference           `json:"models"`
	Time            MillisecondInterval `json:"time"`
	CustomSessionID string              `json:"custom_session_id,omitempty"`
}

// AssistantMessage is one sentence or so of an answer. It comes before the
// audio and the prosody with the same ID.
type AssistantMessage struct {
	Type            typeOf[AssistantMessage] `json:"type"`
	ID              string                   `json:"id,omitempty"`
	FromText        bool                     `json:"from_text"` // the client gave the words
	IsQuickResponse bool                     `json:"is_quick_response"`
	Language        string                   `json:"language,omitempty"` // BCP 47
	Message         ChatMessage              `json:"message"`
	Models          Inference                `json:"models"`
	CustomSessionID string                   `json:"custom_session_id,omitempty"`
}

// Sound is a piece of the sound of the AssistantMessage ID, on its way to who
// brings it to the person. What goes over the wire of it is the line's affair:
// a WebSocket makes AudioOutput of it.
type Sound struct {
	ID              string
	Index           int       // counts the pieces of the message from 0
	PCM             []float32 // mono at OutputRateHz; it must not be changed
	Last            bool      // the message has no more
	CustomSessionID string
}

// AudioOutput is one clip of speech: a complete WAV file of OutputRateHz,
// 16-bit, mono. Index counts from 0 for each ID, that of the AssistantMessage.
type AudioOutput struct {
	Type            typeOf[AudioOutput] `json:"type"`
	ID              string              `json:"id"`
	Index           int                 `json:"index"`
	Data            []byte              `json:"data"` // base64 on the wire
	CustomSessionID string              `json:"custom_session_id,omitempty"`
}

// AssistantProsody says which feelings are in the AssistantMessage with the same
// ID. It comes behind its last sound.
type AssistantProsody struct {
	Type            typeOf[AssistantProsody] `json:"type"`
	ID              string                   `json:"id,omitempty"`
	Models          Inference                `json:"models"`
	CustomSessionID string                   `json:"custom_session_id,omitempty"`
}

// AssistantEnd says that all of an answer has been sent.
type AssistantEnd struct {
	Type            typeOf[AssistantEnd] `json:"type"`
	CustomSessionID string               `json:"custom_session_id,omitempty"`
}

// UserInterruption says that the user spoke into the answer, which is over.
type UserInterruption struct {
	Type            typeOf[UserInterruption] `json:"type"`
	Time            int64                    `json:"time"` // Unix milliseconds
	CustomSessionID string                   `json:"custom_session_id,omitempty"`
}

// WebSocketError says what went wrong; Code.Error makes one.
type WebSocketError struct {
	Type            typeOf[WebSocketError] `json:"type"`
	Code            Code                   `json:"code"`
	Slug            string                 `json:"slug"`
	Message         string                 `json:"message"`
	RequestID       string                 `json:"request_id,omitempty"`
	CustomSessionID string                 `json:"custom_session_id,omitempty"`
}

// ToolCallMessage asks for a tool, or, with ResponseRequired false, tells that
// the box itself is using one.
type ToolCallMessage struct {
	Type             typeOf[ToolCallMessage] `json:"type"`
	ToolCallID       string                  `json:"tool_call_id"`
	Name             string                  `json:"name"`
	Parameters       string                  `json:"parameters"` // JSON as text
	ResponseRequired bool                    `json:"response_required"`
	ToolType         ToolType                `json:"tool_type"`
	CustomSessionID  string                  `json:"custom_session_id,omitempty"`
}

// ToolResponseMessage is what a tool answered. It goes both ways.
type ToolResponseMessage struct {
	Type            typeOf[ToolResponseMessage] `json:"type"`
	ToolCallID      string                      `json:"tool_call_id"`
	Content         string                      `json:"content"`
	ToolName        string                      `json:"tool_name,omitempty"`
	ToolType        ToolType                    `json:"tool_type,omitempty"`
	CustomSessionID string                      `json:"custom_session_id,omitempty"`
}

// ToolErrorMessage says that a tool failed. It goes both ways. Only Content
// reaches the language model; Error is for people.
type ToolErrorMessage struct {
	Type            typeOf[ToolErrorMessage] `json:"type"`
	ToolCallID      string                   `json:"tool_call_id"`
	Error           string                   `json:"error"`
	Code            string                   `json:"code,omitempty"`
	Content         string                   `json:"content,omitempty"`
	Level           ErrorLevel               `json:"level,omitempty"`
	ToolType        ToolType                 `json:"tool_type,omitempty"`
	CustomSessionID string                   `json:"custom_session_id,omitempty"`
}
