package turn

import (
	"fmt"
	"slices"

	"parley/appliance/contract"
)

// builtins are the box's own tools.
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

// Builtin returns a tool of the box as a config enables it.
func Builtin(c contract.BuiltinToolConfig) Tool {
	t := Tool{Name: string(c.Name), Builtin: true, OnBox: true}
	switch c.Name {
	case contract.Transfer:
		t = transferTool(c.Destinations)
	case contract.SendDigits:
		t = sendDigitsTool()
	default:
		if i := slices.IndexFunc(builtins[:], func(b Tool) bool { return b.Name == t.Name }); i >= 0 {
			t = builtins[i]
		}
	}
	t.Fallback = c.FallbackContent
	return t
}

// withTools returns the tools with those that the client sent. A list replaces all tools of its kind; a tool
// that was enabled must be in it, and may have another description or schema. Tools from plugins stay. A tool
// that the box runs is still run by it, under the client's description. why says what is wrong.
func (s Settings) withTools(m contract.SessionSettings) (tools []Tool, why string) {
	client, plugin, builtin := s.splitTools()
	if m.Tools != nil {
		sent := make([]Tool, len(m.Tools))
		for i, t := range m.Tools {
			sent[i] = s.clientTool(t)
		}
		if why := missingTool("tools", client, sent); why != "" {
			return nil, why
		}
		client = sent
		plugin = slices.DeleteFunc(plugin, func(t Tool) bool {
			return slices.ContainsFunc(sent, func(x Tool) bool { return x.Name == t.Name })
		})
	}
	if m.BuiltinTools != nil {
		sent := make([]Tool, len(m.BuiltinTools))
		for i, t := range m.BuiltinTools {
			if len(t.Destinations) == 0 {
				t.Destinations = s.tool(string(t.Name)).Destinations
			}
			sent[i] = Builtin(t)
		}
		if why := missingTool("builtin_tools", builtin, sent); why != "" {
			return nil, why
		}
		builtin = sent
	}
	tools = slices.Concat(client, plugin, builtin)
	return tools, duplicateTool(tools)
}

// clientTool returns a tool as the client sent it. If a tool of that name exists, the same side goes on
// running it.
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

// splitTools returns the client's tools, those from plugins and the box's own.
func (s Settings) splitTools() (client, plugin, builtin []Tool) {
	for _, t := range s.Tools {
		switch {
		case t.Builtin:
			builtin = append(builtin, t)
		case t.FromPlugin:
			plugin = append(plugin, t)
		default:
			client = append(client, t)
		}
	}
	return client, plugin, builtin
}

// missingTool says which of the tools before is not among those sent.
func missingTool(field string, before, sent []Tool) string {
	for _, t := range before {
		if !slices.ContainsFunc(sent, func(x Tool) bool { return x.Name == t.Name }) {
			return fmt.Sprintf("%s: %q is enabled and missing in the list; a tool that is enabled cannot be removed, "+
				"so send all of them", field, t.Name)
		}
	}
	return ""
}

// duplicateTool says which name is used twice, or is the name of a built-in tool.
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
