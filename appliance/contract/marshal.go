package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// Marshal encodes a value for the wire. It does not escape HTML, because the
// result is never part of a page.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("writing a %T: %w", v, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// typeOf is the field "type" of a message M. It has no size: its value follows
// from M.
type typeOf[M interface{ MessageType() string }] struct{}

// MarshalJSON writes the type.
func (typeOf[M]) MarshalJSON() ([]byte, error) {
	var m M
	return json.Marshal(m.MessageType())
}

// UnmarshalJSON ignores the type, which the caller has checked.
func (*typeOf[M]) UnmarshalJSON([]byte) error { return nil }

// ParseServerMessage parses a message of the box, for clients and tests.
func ParseServerMessage(data []byte) (ServerMessage, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("a server message that is not JSON: %w", err)
	}
	for _, m := range ServerMessages() {
		if m.MessageType() != head.Type {
			continue
		}
		read := reflect.New(reflect.TypeOf(m))
		if err := json.Unmarshal(data, read.Interface()); err != nil {
			return nil, fmt.Errorf("a %s of a wrong shape: %w", head.Type, err)
		}
		return read.Elem().Interface().(ServerMessage), nil
	}
	return nil, fmt.Errorf("a server message of unknown type %q", Clip(head.Type))
}

// WithCustomSessionID returns m with the session id that the client chose, which
// every later message carries.
func WithCustomSessionID(m ServerMessage, id string) ServerMessage {
	named := reflect.New(reflect.TypeOf(m)).Elem()
	named.Set(reflect.ValueOf(m))
	named.FieldByName("CustomSessionID").SetString(id)
	return named.Interface().(ServerMessage)
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

// MarshalJSON writes null for a context that was removed.
func (m SessionSettings) MarshalJSON() ([]byte, error) {
	type fields SessionSettings
	type whole struct {
		fields
		EventLimit int `json:"event_limit,omitempty"`
	}
	all := whole{fields(m), m.EventLimit}
	if !m.ClearContext {
		return Marshal(all)
	}
	return Marshal(struct {
		whole
		Context *Context `json:"context"`
	}{whole: all})
}

// UnmarshalJSON parses settings that ParseClientMessage has checked.
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
