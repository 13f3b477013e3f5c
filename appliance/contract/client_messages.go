package contract

import "encoding/json"

// A ClientMessage is a message that a client sends over a live chat: an
// AudioInput, SessionSettings, UserInput, AssistantInput, ToolResponseMessage,
// ToolErrorMessage, PauseAssistantMessage or ResumeAssistantMessage.
// ParseClientMessage parses one.
type ClientMessage interface {
	MessageType() string
	isClientMessage()
}

// AudioInput is sound of the microphone: bytes of a container as a browser's
// MediaRecorder makes it, cut anywhere, or the headerless PCM that session
// settings announced.
type AudioInput struct {
	Type            typeOf[AudioInput] `json:"type"`
	Data            []byte             `json:"data"` // base64 on the wire
	CustomSessionID string             `json:"custom_session_id,omitempty"`
}

// SessionSettings change a live chat; they are merged field by field into the
// settings in force. A field that was absent or null has its zero value. A list
// that was sent empty is empty and not nil.
type SessionSettings struct {
	Type                typeOf[SessionSettings]    `json:"type"`
	Audio               *AudioConfiguration        `json:"audio,omitzero"`
	BuiltinTools        []BuiltinToolConfig        `json:"builtin_tools,omitzero"`
	Context             *Context                   `json:"context,omitzero"`
	CustomSessionID     string                     `json:"custom_session_id,omitempty"`
	LanguageModelAPIKey string                     `json:"language_model_api_key,omitempty"`
	Metadata            map[string]json.RawMessage `json:"metadata,omitzero"`
	SystemPrompt        *string                    `json:"system_prompt,omitzero"`
	Tools               []Tool                     `json:"tools,omitzero"`
	Variables           map[string]VariableValue   `json:"variables,omitzero"`
	VoiceID             string                     `json:"voice_id,omitempty"`

	// ClearContext reports that "context" was null, which removes the context in
	// force; every other null changes nothing. Context is then nil.
	ClearContext bool `json:"-"`

	// EventLimit is ConnectSettings.EventLimit, in settings that are recorded in
	// the history. Messages do not set it.
	EventLimit int `json:"-"`
}

// UserInput is text that counts as said by the user.
type UserInput struct {
	Type            typeOf[UserInput] `json:"type"`
	Text            string            `json:"text"`
	CustomSessionID string            `json:"custom_session_id,omitempty"`
	// Digits are the keys that a caller pressed, as they are. A telephone line sets them; Text says
	// the same in words, and is empty while more keys may follow. Messages do not have them.
	Digits string `json:"-"`
}

// AssistantInput is text that the assistant speaks as it is.
type AssistantInput struct {
	Type            typeOf[AssistantInput] `json:"type"`
	Text            string                 `json:"text"`
	CustomSessionID string                 `json:"custom_session_id,omitempty"`
}

// PauseAssistantMessage keeps the assistant silent until a
// resume_assistant_message.
type PauseAssistantMessage struct {
	Type            typeOf[PauseAssistantMessage] `json:"type"`
	CustomSessionID string                        `json:"custom_session_id,omitempty"`
}

// ResumeAssistantMessage lets the assistant answer again.
type ResumeAssistantMessage struct {
	Type            typeOf[ResumeAssistantMessage] `json:"type"`
	CustomSessionID string                         `json:"custom_session_id,omitempty"`
}

func (AudioInput) isClientMessage()             {}
func (SessionSettings) isClientMessage()        {}
func (UserInput) isClientMessage()              {}
func (AssistantInput) isClientMessage()         {}
func (ToolResponseMessage) isClientMessage()    {}
func (ToolErrorMessage) isClientMessage()       {}
func (PauseAssistantMessage) isClientMessage()  {}
func (ResumeAssistantMessage) isClientMessage() {}
