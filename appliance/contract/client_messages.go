package contract

import "encoding/json"

// A ClientMessage is what a client sends over a live chat: one of AudioInput,
// SessionSettings, UserInput, AssistantInput, ToolResponseMessage,
// ToolErrorMessage, PauseAssistantMessage and ResumeAssistantMessage.
// ParseClientMessage makes one from its JSON.
type ClientMessage interface {
	MessageType() string
	isClientMessage()
}

// AudioInput carries what the microphone heard: bytes of a container as a
// browser's MediaRecorder makes it, cut anywhere, or of the headerless PCM
// that session settings announced.
type AudioInput struct {
	Type            typeOf[AudioInput] `json:"type"`
	Data            []byte             `json:"data"` // base64 on the wire
	CustomSessionID string             `json:"custom_session_id,omitempty"`
}

// SessionSettings change how the chat goes on; they are merged field by field
// into what is in force. A field that was absent or null is the zero value: a
// nil pointer, slice or map, an empty string. A list that was sent empty is
// empty and not nil.
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

	// ClearContext says that "context" was null, which takes back the context
	// in force, where every other null changes nothing. Context is then nil.
	ClearContext bool `json:"-"`

	// EventLimit is that of the connect, ConnectSettings.EventLimit, where the
	// settings are noted in the history. A message brings none.
	EventLimit int `json:"-"`
}

// UserInput is text that counts as said by the user.
type UserInput struct {
	Type            typeOf[UserInput] `json:"type"`
	Text            string            `json:"text"`
	CustomSessionID string            `json:"custom_session_id,omitempty"`
}

// AssistantInput is text for the assistant to speak as it stands.
type AssistantInput struct {
	Type            typeOf[AssistantInput] `json:"type"`
	Text            string                 `json:"text"`
	CustomSessionID string                 `json:"custom_session_id,omitempty"`
}

// PauseAssistantMessage makes the assistant silent until the matching resume.
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
