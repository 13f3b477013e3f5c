package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/appliance/engine"
)

// The messages of a custom language model's WebSocket.

// socketRequest is sent for each answer.
type socketRequest struct {
	Messages        []socketMessage `json:"messages"`
	CustomSessionID *string         `json:"custom_session_id"`
	Temperature     float64         `json:"temperature,omitempty"`
	Tools           []wireTool      `json:"tools,omitempty"`
}

// socketMessage is one message of the conversation. Tool messages use the names of the chat
// protocol.
type socketMessage struct {
	Type       string      `json:"type"`
	Message    roleContent `json:"message"`
	Models     inference   `json:"models"`
	Time       *interval   `json:"time,omitempty"`
	ToolCallID string      `json:"tool_call_id,omitempty"`
	Name       string      `json:"name,omitempty"`
	Parameters string      `json:"parameters,omitempty"`
}

type roleContent struct {
	Role    engine.Role `json:"role"`
	Content string      `json:"content"`
}

// socketAnswer is a message from the model.
type socketAnswer struct {
	Type            string          `json:"type"`
	Text            string          `json:"text"`
	CustomSessionID string          `json:"custom_session_id"`
	ToolCallID      string          `json:"tool_call_id"`
	Name            string          `json:"name"`
	Parameters      json.RawMessage `json:"parameters"` // an object, or the text of one
}

// The types of socketAnswer.
const (
	typeText  = "assistant_input"
	typeEnd   = "assistant_end"
	typeCall  = "tool_call"
	typeError = "error"
)

// hasContent reports whether a message is part of the answer, or ends it.
func (s socketAnswer) hasContent() bool {
	return s.Type == typeText && s.Text != "" || s.Type == typeEnd || s.Type == typeCall || s.Type == typeError
}

// socketBody encodes p. If no tool may be called it lists none, since the protocol has no other way
// to say so.
func socketBody(p engine.Prompt) ([]byte, error) {
	q := socketRequest{Messages: []socketMessage{}, Temperature: p.Temperature}
	if !p.NoToolCalls {
		q.Tools = wireTools(p.Tools)
	}
	if p.Session != "" {
		q.CustomSessionID = &p.Session
	}
	for _, m := range p.Messages {
		q.Messages = append(q.Messages, socketMessages(m)...)
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("custom language model: %w", err)
	}
	return body, nil
}

// socketMessages converts a message; each tool call becomes a message of its own.
func socketMessages(m engine.Message) []socketMessage {
	msg := socketMessage{Type: string(m.Role) + "_message",
		Message: roleContent{m.Role, strings.ToValidUTF8(m.Content, "\uFFFD")}, ToolCallID: m.CallID}
	if when, how := timeAndProsody(m); how != nil {
		msg.Time, msg.Models = when, *how
	}
	if m.Role == engine.ToolRole {
		msg.Type = "tool_response"
	}
	var out []socketMessage
	if m.Content != "" || len(m.Calls) == 0 && m.Role != engine.System {
		out = append(out, msg)
	}
	for _, c := range m.Calls {
		out = append(out, socketMessage{
			Type:       typeCall,
			Message:    roleContent{Role: m.Role},
			ToolCallID: c.ID,
			Name:       c.Name,
			Parameters: c.Arguments,
		})
	}
	return out
}

// call returns the tool call in a message.
func (s socketAnswer) call() (*engine.ToolCall, error) {
	arguments := string(s.Parameters)
	if len(s.Parameters) > 0 && s.Parameters[0] == '"' {
		if err := json.Unmarshal(s.Parameters, &arguments); err != nil {
			return nil, err
		}
	}
	if len(arguments) > maxCallBytes {
		return nil, errCallSize
	}
	if s.Name == "" {
		return nil, errors.New("the answer calls a tool without its name")
	}
	return &engine.ToolCall{ID: s.ToolCallID, Name: s.Name, Arguments: arguments}, nil
}

// missingSpace returns the space that is missing between two texts that were sent as complete
// sentences. A stream of tokens has its own spaces.
func missingSpace(before, text string) string {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(text)
	if !strings.ContainsRune(".!?…:;)\"”»。！？।॥؟۔", last) || unicode.IsLower(first) ||
		!unicode.IsLetter(first) && !strings.ContainsRune("¿¡\"“«(", first) {
		return ""
	}
	return " "
}
