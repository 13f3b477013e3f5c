package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// tagged marshals fields, a struct without methods, with "type" in front. HTML
// characters stay as they are: this is never put into a page.
func tagged(kind string, fields any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"type":"` + kind + `"`)
	at := b.Len()
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(fields); err != nil {
		return nil, fmt.Errorf("writing a %s: %w", kind, err)
	}
	out := bytes.TrimRight(b.Bytes(), "\n")
	if out[at+1] == '}' { // no other fields
		return append(out[:at], '}'), nil
	}
	out[at] = ','
	return out, nil
}

// ParseServerMessage reads what a box sent, as a client or a test does.
func ParseServerMessage(data []byte) (ServerMessage, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("a server message that is not JSON: %w", err)
	}
	switch head.Type {
	case "chat_metadata":
		return as[ChatMetadata](data)
	case "user_message":
		return as[UserMessage](data)
	case "assistant_message":
		return as[AssistantMessage](data)
	case "audio_output":
		return as[AudioOutput](data)
	case "assistant_prosody":
		return as[AssistantProsody](data)
	case "assistant_end":
		return as[AssistantEnd](data)
	case "user_interruption":
		return as[UserInterruption](data)
	case "error":
		return as[WebSocketError](data)
	case "tool_call":
		return as[ToolCallMessage](data)
	case "tool_response":
		return as[ToolResponseMessage](data)
	case "tool_error":
		return as[ToolErrorMessage](data)
	case "session_settings":
		return as[SessionSettings](data)
	}
	return nil, fmt.Errorf("a server message of unknown type %q", Clip(head.Type))
}

func as[M ServerMessage](data []byte) (ServerMessage, error) {
	var m M
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("a %s of a wrong shape: %w", m.MessageType(), err)
	}
	return m, nil
}

// MessageType is the value of "type" on the wire, for every message.
func (ChatMetadata) MessageType() string { return "chat_metadata" }

func (UserMessage) MessageType() string            { return "user_message" }
func (AssistantMessage) MessageType() string       { return "assistant_message" }
func (AudioOutput) MessageType() string            { return "audio_output" }
func (AssistantProsody) MessageType() string       { return "assistant_prosody" }
func (AssistantEnd) MessageType() string           { return "assistant_end" }
func (UserInterruption) MessageType() string       { return "user_interruption" }
func (WebSocketError) MessageType() string         { return "error" }
func (ToolCallMessage) MessageType() string        { return "tool_call" }
func (ToolResponseMessage) MessageType() string    { return "tool_response" }
func (ToolErrorMessage) MessageType() string       { return "tool_error" }
func (SessionSettings) MessageType() string        { return "session_settings" }
func (AudioInput) MessageType() string             { return "audio_input" }
func (UserInput) MessageType() string              { return "user_input" }
func (AssistantInput) MessageType() string         { return "assistant_input" }
func (PauseAssistantMessage) MessageType() string  { return "pause_assistant_message" }
func (ResumeAssistantMessage) MessageType() string { return "resume_assistant_message" }

// WithCustomSessionID returns the message with the client's session id on it.
func (m ChatMetadata) WithCustomSessionID(id string) ServerMessage {
	m.CustomSessionID = id
	return m
}

func (m UserMessage) WithCustomSessionID(id string) ServerMessage {
	m.CustomSessionID = id
	return m
}

func (m AssistantMessage) WithCustomSessionID(id string) ServerMessage {
	m.CustomSessionID = id
	return m
}

func (m AudioOutput) WithCustomSessionID(id string) ServerMessage {
	m.CustomSessionID = id
	return m
}

func (m AssistantProsody) WithCustomSessionID(id string) ServerMessage {
	m.CustomSessionID = id
	return m
}

func (m AssistantEnd) WithCustomSessionID(id string) ServerMessage {
	m.CustomSessionID = id
	return m
}

func (m UserInterruption) WithCustomSessionID(id string) ServerMessage {
	m.CustomSessionID = id
	return m
}

func (m WebSocketError) WithCustomSessionID(id string) ServerMessage {
	m.CustomSessionID = id
	return m
}

func (m ToolCallMessage) WithCustomSessionID(id string) ServerMessage {
	m.CustomSessionID = id
	return m
}

func (m ToolResponseMessage) WithCustomSessionID(id string) ServerMessage {
	m.CustomSessionID = id
	return m
}

func (m ToolErrorMessage) WithCustomSessionID(id string) ServerMessage {
	m.CustomSessionID = id
	return m
}

func (m SessionSettings) WithCustomSessionID(id string) ServerMessage {
	m.CustomSessionID = id
	return m
}

// MarshalJSON writes the message with its type.
func (m ChatMetadata) MarshalJSON() ([]byte, error) {
	type fields ChatMetadata
	return tagged(m.MessageType(), fields(m))
}

func (m UserMessage) MarshalJSON() ([]byte, error) {
	type fields UserMessage
	return tagged(m.MessageType(), fields(m))
}

func (m AssistantMessage) MarshalJSON() ([]byte, error) {
	type fields AssistantMessage
	return tagged(m.MessageType(), fields(m))
}

func (m AudioOutput) MarshalJSON() ([]byte, error) {
	type fields AudioOutput
	return tagged(m.MessageType(), fields(m))
}

func (m AssistantProsody) MarshalJSON() ([]byte, error) {
	type fields AssistantProsody
	return tagged(m.MessageType(), fields(m))
}

func (m AssistantEnd) MarshalJSON() ([]byte, error) {
	type fields AssistantEnd
	return tagged(m.MessageType(), fields(m))
}

func (m UserInterruption) MarshalJSON() ([]byte, error) {
	type fields UserInterruption
	return tagged(m.MessageType(), fields(m))
}

func (m WebSocketError) MarshalJSON() ([]byte, error) {
	type fields WebSocketError
	return tagged(m.MessageType(), fields(m))
}

func (m ToolCallMessage) MarshalJSON() ([]byte, error) {
	type fields ToolCallMessage
	return tagged(m.MessageType(), fields(m))
}

func (m ToolResponseMessage) MarshalJSON() ([]byte, error) {
	type fields ToolResponseMessage
	return tagged(m.MessageType(), fields(m))
}

func (m ToolErrorMessage) MarshalJSON() ([]byte, error) {
	type fields ToolErrorMessage
	return tagged(m.MessageType(), fields(m))
}

func (m AudioInput) MarshalJSON() ([]byte, error) {
	type fields AudioInput
	return tagged(m.MessageType(), fields(m))
}

func (m UserInput) MarshalJSON() ([]byte, error) {
	type fields UserInput
	return tagged(m.MessageType(), fields(m))
}

func (m AssistantInput) MarshalJSON() ([]byte, error) {
	type fields AssistantInput
	return tagged(m.MessageType(), fields(m))
}

func (m PauseAssistantMessage) MarshalJSON() ([]byte, error) {
	type fields PauseAssistantMessage
	return tagged(m.MessageType(), fields(m))
}

func (m ResumeAssistantMessage) MarshalJSON() ([]byte, error) {
	type fields ResumeAssistantMessage
	return tagged(m.MessageType(), fields(m))
}

// MarshalJSON writes the settings with their type, and null for a context that
// was taken back.
func (m SessionSettings) MarshalJSON() ([]byte, error) {
	type fields SessionSettings
	type whole struct {
		fields
		EventLimit int `json:"event_limit,omitempty"`
	}
	all := whole{fields(m), m.EventLimit}
	if !m.ClearContext {
		return tagged(m.MessageType(), all)
	}
	return tagged(m.MessageType(), struct {
		whole
		Context *Context `json:"context"`
	}{whole: all})
}

// UnmarshalJSON reads settings as ParseClientMessage checked them.
func (m *SessionSettings) UnmarshalJSON(data []byte) error {
	type fields SessionSettings
	read := struct {
		*fields
		Context json.RawMessage `json:"context"`
	}{fields: (*fields)(m)}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	if len(read.Context) == 0 {
		return nil
	}
	m.ClearContext = kindOf(read.Context) == "null"
	return json.Unmarshal(read.Context, &m.Context)
}
