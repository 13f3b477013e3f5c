// Package contract defines the wire format of the box: the JSON messages and
// records that clients send and receive, as Go types, with their limits and
// checks. The comments on types and fields become the descriptions in
// openapi.json. Of Parley the package imports only internal/addresses.
package contract

// A ServerMessage is a message that the box sends over a live chat.
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

// UserMessage is what the user said or typed: once per turn with Interim false,
// and before that, on request, interim transcripts.
type UserMessage struct {
	Type            typeOf[UserMessage] `json:"type"`
	FromText        bool                `json:"from_text"` // part of it was typed
	Interim         bool                `json:"interim"`
	Language        string              `json:"language,omitempty"` // BCP 47
	Message         ChatMessage         `json:"message"`
	Models          Inference           `json:"models"`
	Time            MillisecondInterval `json:"time"`
	CustomSessionID string              `json:"custom_session_id,omitempty"`
}

// AssistantMessage is about one sentence of an answer. It precedes the audio and
// the prosody with the same ID.
type AssistantMessage struct {
	Type            typeOf[AssistantMessage] `json:"type"`
	ID              string                   `json:"id,omitempty"`
	FromText        bool                     `json:"from_text"` // the client provided the words
	IsQuickResponse bool                     `json:"is_quick_response"`
	Language        string                   `json:"language,omitempty"` // BCP 47
	Message         ChatMessage              `json:"message"`
	Models          Inference                `json:"models"`
	CustomSessionID string                   `json:"custom_session_id,omitempty"`
}

// Sound is a piece of the sound of the AssistantMessage with the same ID, on its
// way to the line. A line for WebSockets turns it into AudioOutput.
type Sound struct {
	ID              string
	Index           int       // the number of the piece in its message, from 0
	PCM             []float32 // mono at OutputRateHz; must not be changed
	Last            bool      // the message has no more
	CustomSessionID string
}

// AudioOutput is one clip of speech: a complete WAV file of 48 kHz, 16-bit, mono.
// Index counts the clips of an ID, that of the AssistantMessage, from 0.
type AudioOutput struct {
	Type            typeOf[AudioOutput] `json:"type"`
	ID              string              `json:"id"`
	Index           int                 `json:"index"`
	Data            []byte              `json:"data"` // base64 on the wire
	CustomSessionID string              `json:"custom_session_id,omitempty"`
}

// AssistantProsody is the expression of the AssistantMessage with the same ID. It
// follows the last sound of that message.
type AssistantProsody struct {
	Type            typeOf[AssistantProsody] `json:"type"`
	ID              string                   `json:"id,omitempty"`
	Models          Inference                `json:"models"`
	CustomSessionID string                   `json:"custom_session_id,omitempty"`
}

// AssistantEnd marks the end of an answer.
type AssistantEnd struct {
	Type            typeOf[AssistantEnd] `json:"type"`
	CustomSessionID string               `json:"custom_session_id,omitempty"`
}

// UserInterruption reports that the user interrupted the answer, which has ended.
type UserInterruption struct {
	Type            typeOf[UserInterruption] `json:"type"`
	Time            int64                    `json:"time"` // Unix milliseconds
	CustomSessionID string                   `json:"custom_session_id,omitempty"`
}

// WebSocketError is an error. Code.Error returns one.
type WebSocketError struct {
	Type            typeOf[WebSocketError] `json:"type"`
	Code            Code                   `json:"code"`
	Slug            string                 `json:"slug"`
	Message         string                 `json:"message"`
	RequestID       string                 `json:"request_id,omitempty"`
	CustomSessionID string                 `json:"custom_session_id,omitempty"`
}

// ToolCallMessage requests a tool call or, with ResponseRequired false, reports
// that the box is calling a tool itself.
type ToolCallMessage struct {
	Type             typeOf[ToolCallMessage] `json:"type"`
	ToolCallID       string                  `json:"tool_call_id"`
	Name             string                  `json:"name"`
	Parameters       string                  `json:"parameters"` // JSON as text
	ResponseRequired bool                    `json:"response_required"`
	ToolType         ToolType                `json:"tool_type"`
	CustomSessionID  string                  `json:"custom_session_id,omitempty"`
}

// ToolResponseMessage is the result of a tool. It goes both ways.
type ToolResponseMessage struct {
	Type            typeOf[ToolResponseMessage] `json:"type"`
	ToolCallID      string                      `json:"tool_call_id"`
	Content         string                      `json:"content"`
	ToolName        string                      `json:"tool_name,omitempty"`
	ToolType        ToolType                    `json:"tool_type,omitempty"`
	CustomSessionID string                      `json:"custom_session_id,omitempty"`
}

// ToolErrorMessage reports that a tool failed. It goes both ways. Only Content
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
