package contract

import (
	"encoding/json"
	"fmt"
)

// Role is whose message it is.
type Role string

// The roles of a ChatMessage.
const (
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAll       Role = "all"
	RoleTool      Role = "tool"
	RoleContext   Role = "context"
)

// Encoding is how headerless audio is encoded.
type Encoding string

// Linear16 is 16-bit little-endian PCM, channels interleaved.
const Linear16 Encoding = "linear16"

// ContextType is how long a Context lasts.
type ContextType string

// The kinds of context: for the rest of the chat, or for the next user message
// only (the default).
const (
	ContextPersistent ContextType = "persistent"
	ContextTemporary  ContextType = "temporary"

	// contextEditable is what clients up to 0.11 call a context that a later one
	// replaces, as every persistent one does.
	contextEditable ContextType = "editable"
)

// ToolType is whether a tool is the box's or the developer's.
type ToolType string

// The kinds of tools.
const (
	ToolBuiltin  ToolType = "builtin"
	ToolFunction ToolType = "function"
)

// BuiltInTool is the name of a tool of the box.
type BuiltInTool string

// The tools of the box.
const (
	WebSearch BuiltInTool = "web_search"
	HangUp    BuiltInTool = "hang_up"
	// Transfer hands a telephone call over to a person, and SendDigits presses keys in it. Chats
	// that are no telephone calls do not have them.
	Transfer   BuiltInTool = "transfer"
	SendDigits BuiltInTool = "send_digits"
)

// ErrorLevel is the severity of a tool's error; there is one level.
type ErrorLevel string

// LevelWarn is the one ErrorLevel.
const LevelWarn ErrorLevel = "warn"

// ChatMessage is one entry of the transcript.
type ChatMessage struct {
	Role       Role             `json:"role"`
	Content    string           `json:"content,omitempty"`
	ToolCall   *ToolCallMessage `json:"tool_call,omitempty"`
	ToolResult *ToolResult      `json:"tool_result,omitempty"`
}

// ToolResult is the result of a tool call: one of the two is set.
type ToolResult struct {
	Response *ToolResponseMessage
	Error    *ToolErrorMessage
}

// MarshalJSON writes the result that is set, or null.
func (r ToolResult) MarshalJSON() ([]byte, error) {
	switch {
	case r.Response != nil:
		return Marshal(r.Response)
	case r.Error != nil:
		return Marshal(r.Error)
	}
	return []byte("null"), nil
}

// UnmarshalJSON parses either result, told apart by "type".
func (r *ToolResult) UnmarshalJSON(data []byte) error {
	m, err := ParseServerMessage(data)
	if err != nil {
		return err
	}
	switch m := m.(type) {
	case ToolResponseMessage:
		*r = ToolResult{Response: &m}
	case ToolErrorMessage:
		*r = ToolResult{Error: &m}
	default:
		return fmt.Errorf("tool_result: a %s is neither tool_response nor tool_error", m.MessageType())
	}
	return nil
}

// Inference is what the expression models measured; {} if nothing was measured.
type Inference struct {
	Prosody *ProsodyInference `json:"prosody,omitempty"`
}

// ProsodyInference is the expression of a voice.
type ProsodyInference struct {
	Scores EmotionScores `json:"scores"`
}

// MillisecondInterval is a part of the chat, in ms since it began.
type MillisecondInterval struct {
	Begin int64 `json:"begin"`
	End   int64 `json:"end"`
}

// AudioConfiguration is the format of the headerless audio that the client sends.
type AudioConfiguration struct {
	Channels   int      `json:"channels"`
	Codec      string   `json:"codec,omitempty"`
	Encoding   Encoding `json:"encoding"`
	SampleRate int      `json:"sample_rate"` // Hz
}

// Context is text that the language model receives with the user's messages; it
// is not part of the transcript.
type Context struct {
	Text string      `json:"text"`
	Type ContextType `json:"type,omitempty"`
}

// BuiltinToolConfig enables a tool of the box.
type BuiltinToolConfig struct {
	Name            BuiltInTool `json:"name"`
	FallbackContent string      `json:"fallback_content,omitempty"`
	// Destinations are those of Transfer; the other tools have none.
	Destinations []TransferDestination `json:"destinations,omitempty"`
}

// TransferDestination is where the tool transfer may hand a call over to.
type TransferDestination struct {
	Name string `json:"name"` // by which the language model chooses it
	To   string `json:"to"`   // the number to call
	// Attended has the box call the person first, say who calls, and connect the caller only if the
	// person agrees. Otherwise the caller is connected at once.
	Attended bool `json:"attended"`
	// RingSecs is how long an attended transfer rings until nobody counts as there.
	RingSecs int `json:"ring_secs"`
}

// Tool is a tool that the developer runs.
type Tool struct {
	Type            ToolType `json:"type"`
	Name            string   `json:"name"`
	Parameters      string   `json:"parameters"` // JSON schema as text
	Description     string   `json:"description,omitempty"`
	FallbackContent string   `json:"fallback_content,omitempty"`
}

// VariableValue replaces a {{name}} in a prompt. On the wire it is a string, a
// number or a boolean; it is stored as it was written.
type VariableValue struct {
	text string
	bare bool // a number or a boolean, without quotes
}

// TextVariable returns a VariableValue that is a string.
func TextVariable(s string) VariableValue { return VariableValue{text: s} }

// String returns the value as it is inserted into a prompt.
func (v VariableValue) String() string { return v.text }

// MarshalJSON writes the value as it was received.
func (v VariableValue) MarshalJSON() ([]byte, error) {
	if v.bare {
		return []byte(v.text), nil
	}
	return json.Marshal(v.text)
}

// UnmarshalJSON parses a string, a number or a boolean.
func (v *VariableValue) UnmarshalJSON(data []byte) error {
	switch kindOf(data) {
	case "string":
		v.bare = false
		return json.Unmarshal(data, &v.text)
	case "number", "boolean":
		*v = VariableValue{text: string(data), bare: true}
		return nil
	}
	return fmt.Errorf("a variable is a string, a number or a boolean, not %s", kindOf(data))
}
