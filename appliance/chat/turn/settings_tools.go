package turn

import (
	"fmt"
	"slices"

	"parley/appliance/contract"
)

// builtins are the tools that the box brings, by name.
var builtins = [...]Tool{
	{
		Name:        HangUp,
		Builtin:     true,
		OnBox:       true,
		Parameters:  `{"type":"object","properties":{}}`,
		Description: "End the call. For when the user says goodbye or asks to hang up or to end the call.",
	},
	{
		Name:    string(contract.WebSearch),
		Builtin: true,
		OnBox:   true,
		Parameters: `{"type":"object","properties":{"query":{"type":"string","description":"what to search for, in ` +
			`a few words"}},"required":["query"]}`,
		Description: "Search the web. For when the user asks for news, weather or other current facts, or asks to " +
			"look something up online.",
	},
}

// Builtin is a tool of the box, with a fallback of the config's.
func Builtin(name contract.BuiltInTool, fallback string) Tool {
	for _, t := range builtins {
		if t.Name == string(name) {
			t.Fallback = fallback
			return t
		}
	}
	return Tool{
		Name:     string(name),
		Builtin:  true,
		OnBox:    true,
		Fallback: fallback,
	}
}

// withTools lays the tools that the client sent over those in force. A list says
// all that there are of its kind from then on; one that was enabled stays, and
// may come with another description or schema. What plugins bring is not the
// client's: it stays, and whoever runs a tool does so under the client's words.
// why says what is wrong.
func (s Settings) withTools(m contract.SessionSettings) (tools []Tool, why string) {
	own, plugged, brought := s.splitTools()
	if m.Tools != nil {
		sent := make([]Tool, len(m.Tools))
		for i, t := range m.Tools {
			sent[i] = s.clientTool(t)
		}
		if why := missingTool("tools", own, sent); why != "" {
			return nil, why
		}
		own = sent
		plugged = slices.DeleteFunc(plugged, func(t Tool) bool {
			return slices.ContainsFunc(sent, func(x Tool) bool { return x.Name == t.Name })
		})
	}
	if m.BuiltinTools != nil {
		sent := make([]Tool, len(m.BuiltinTools))
		for i, t := range m.BuiltinTools {
			sent[i] = Builtin(t.Name, t.FallbackContent)
		}
		if why := missingTool("builtin_tools", brought, sent); why != "" {
			return nil, why
		}
		brought = sent
	}
	tools = slices.Concat(own, plugged, brought)
	return tools, duplicateTool(tools)
}

// clientTool is a tool as the client sends it. Who runs one of that name goes on doing
// so.
func (s Settings) clientTool(m contract.Tool) Tool {
	t := Tool{}
	if there := s.tool(m.Name); !there.Builtin {
		t = there
	}
	t.Name, t.Description, t.Parameters = m.Name, m.Description, m.Parameters
	if m.FallbackContent != "" || t.Plugin == "" {
		t.Fallback = m.FallbackContent
	}
	return t
}

// splitTools are the client's tools, those that plugins bring, and those of the box
// itself.
func (s Settings) splitTools() (own, plugged, brought []Tool) {
	for _, t := range s.Tools {
		switch {
		case t.Builtin:
			brought = append(brought, t)
		case t.FromPlugin:
			plugged = append(plugged, t)
		default:
			own = append(own, t)
		}
	}
	return own, plugged, brought
}

// missingTool says which tool of before is not among those sent.
func missingTool(field string, before, sent []Tool) string {
	for _, t := range before {
		if !slices.ContainsFunc(sent, func(x Tool) bool { return x.Name == t.Name }) {
			return fmt.Sprintf("%s: %q is enabled and missing in the list; a tool that is enabled cannot be removed, "+
				"so send all of them", field, t.Name)
		}
	}
	return ""
}

// duplicateTool says which name is that of two tools, or of one of the box's as well.
func duplicateTool(tools []Tool) string {
	seen := map[string]bool{}
	for _, t := range tools {
		switch {
		case seen[t.Name]:
			return fmt.Sprintf("tools: two tools have the name %q", t.Name)
		case !t.Builtin && slices.ContainsFunc(builtins[:], func(b Tool) bool { return b.Name == t.Name }):
			return fmt.Sprintf(
				"tools: %q is the name of a built-in tool; enable that in builtin_tools, or choose another name",
				t.Name)
		}
		seen[t.Name] = true
	}
	return ""
}
