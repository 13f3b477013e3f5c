package bench

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"parley/appliance/engine"
)

// The two halves of the requests. The router's prompt and margin were chosen with the
// tuned half; the held half was never looked at.
const (
	tunedHalf = "tuned"
	heldHalf  = "held"
)

// toolsets hold assistants with tools, and what users ask of them.
//
//go:embed toolsets/*.json
var toolsets embed.FS

// toolset is an assistant with tools.
type toolset struct {
	Prompt string `json:"prompt"`
	Tools  []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"tools"`
	Tuned []toolRequest `json:"tune"`
	Held  []toolRequest `json:"held"`
}

// toolRequest is a conversation whose last message asks for a tool, or for none.
type toolRequest struct {
	// Conversation has a line for each message: "user: …", "assistant: …",
	// "call: NAME {…}" or "result: …".
	Conversation []string `json:"said"`
	Call         string   `json:"call"` // the tool that should be called; empty: none
	// Arguments are the texts that the arguments of a right call contain, by name. A |
	// separates alternatives, and an & texts that must all be there.
	Arguments map[string]string `json:"arguments"`
	Missing   string            `json:"missing"`  // what the user has not said, so the model must ask for it
	Undoable  bool              `json:"undoable"` // the user asks for something that no tool does
}

func (s toolset) tools() []engine.Tool {
	out := make([]engine.Tool, len(s.Tools))
	for i, t := range s.Tools {
		out[i] = engine.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
	}
	return out
}

// messages returns the conversation, with prompt as its system prompt.
func (r toolRequest) messages(prompt string) []engine.Message {
	out := []engine.Message{{Role: engine.System, Content: prompt}}
	for i, line := range r.Conversation {
		who, what, _ := strings.Cut(line, ": ")
		id := fmt.Sprintf("call-%d", i)
		switch who {
		case "call":
			name, arguments, _ := strings.Cut(what, " ")
			out = append(out, engine.Message{Role: engine.Assistant,
				Calls: []engine.ToolCall{{ID: id, Name: name, Arguments: arguments}}})
		case "result":
			out = append(out, engine.Message{Role: engine.ToolRole, CallID: out[len(out)-1].Calls[0].ID, Content: what})
		default:
			out = append(out, engine.Message{Role: engine.Role(who), Content: what})
		}
	}
	return out
}

// lastLine returns the last message of the conversation.
func (r toolRequest) lastLine() string { return r.Conversation[len(r.Conversation)-1] }

// afterResult reports whether the conversation ends with the result of a tool, so that
// the turn goes on.
func (r toolRequest) afterResult() bool { return strings.HasPrefix(r.lastLine(), "result: ") }

// argumentsMatch reports whether the arguments of a call (JSON) contain what the request
// requires.
func (r toolRequest) argumentsMatch(arguments string) bool {
	var got map[string]any
	if json.Unmarshal([]byte(arguments), &got) != nil {
		return false
	}
	for name, want := range r.Arguments {
		value := strings.ToLower(fmt.Sprint(got[name]))
		if got[name] == nil || !slices.ContainsFunc(strings.Split(want, "|"), func(one string) bool {
			return !slices.ContainsFunc(strings.Split(one, "&"), func(part string) bool {
				return !strings.Contains(value, strings.ToLower(part))
			})
		}) {
			return false
		}
	}
	return true
}

// readToolsets returns the toolsets by name, and their names in order.
func readToolsets() (map[string]toolset, []string, error) {
	entries, err := toolsets.ReadDir("toolsets")
	if err != nil {
		return nil, nil, err
	}
	all := map[string]toolset{}
	var names []string
	for _, e := range entries {
		raw, err := toolsets.ReadFile(path.Join("toolsets", e.Name()))
		if err != nil {
			return nil, nil, err
		}
		var s toolset
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		name := strings.TrimSuffix(e.Name(), ".json")
		all[name], names = s, append(names, name)
	}
	return all, names, nil
}
