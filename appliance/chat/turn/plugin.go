package turn

import (
	"cmp"
	"slices"
)

// Plugin is what a plugin of the box brings to conversations.
type Plugin struct {
	Name string
	// Tools are those that it runs. Each says Plugin and Brought.
	Tools []Tool
	// OnTurn has it told of what the user says before the model is, and OnEnd of
	// chats that have ended.
	OnTurn, OnEnd bool
}

// PluginsChanged says what the plugins of the box bring from now on: some were
// installed, changed or removed.
type PluginsChanged struct {
	At
	Plugins []Plugin
}

// WithPlugins gives the settings what the plugins of the box bring now. What a
// config names stays, as far as it is there still: a tool that a plugin brought
// is as the plugin says now, and one of the developer's that has the name of a
// plugin's tool is run by that. Behind these come the tools of the plugins that
// every chat of the box has; where two tools have a name, the first stays.
func (s Settings) WithPlugins(all []Plugin) Settings {
	by := map[string]Tool{} // name
	for _, p := range all {
		for _, t := range p.Tools {
			if _, taken := by[t.Name]; !taken {
				by[t.Name] = t
			}
		}
	}
	kept := make([]Tool, 0, len(s.Tools))
	for _, t := range s.Tools {
		switch run, found := by[t.Name]; {
		case t.FromPlugin && !s.inEveryChat(t.Plugin):
			if now, there := pluginTool(all, t.Plugin, t.Name); there {
				kept = append(kept, now)
			}
		case t.FromPlugin: // comes again below
		case t.Stored:
			t.OnBox, t.Plugin, t.Limit = found, run.Plugin, run.Limit
			t.Fallback = cmp.Or(t.Fallback, run.Fallback)
			kept = append(kept, t)
		default:
			kept = append(kept, t)
		}
	}
	s.Tools = s.withBoxPlugins(kept, all)
	s.TurnHooks, s.EndHooks = s.hooksOf(all)
	return s
}

// inEveryChat reports whether every chat of the box has the tools of a plugin.
func (s Settings) inEveryChat(plugin string) bool { return slices.Contains(s.Plugins, plugin) }

// withBoxPlugins adds the tools of the plugins that every chat has.
func (s Settings) withBoxPlugins(tools []Tool, all []Plugin) []Tool {
	for _, name := range s.Plugins {
		for _, p := range all {
			for _, t := range p.Tools {
				if p.Name == name && !slices.ContainsFunc(tools, func(o Tool) bool { return o.Name == t.Name }) {
					tools = append(tools, t)
				}
			}
		}
	}
	if len(tools) == 0 {
		return nil
	}
	return tools
}

// hooksOf are the plugins that are asked at every turn, and those that are told of
// the end of the chat: of those that take part in it, which every chat of the box
// has, or of which it has a tool.
func (s Settings) hooksOf(all []Plugin) (advisers, heirs []string) {
	for _, p := range all {
		if !s.inEveryChat(p.Name) && !slices.ContainsFunc(s.Tools, func(t Tool) bool {
			return t.FromPlugin && t.Plugin == p.Name
		}) {
			continue
		}
		if p.OnTurn {
			advisers = append(advisers, p.Name)
		}
		if p.OnEnd {
			heirs = append(heirs, p.Name)
		}
	}
	return advisers, heirs
}

// pluginTool is a tool as its plugin has it now.
func pluginTool(all []Plugin, plugin, name string) (Tool, bool) {
	for _, p := range all {
		for _, t := range p.Tools {
			if p.Name == plugin && t.Name == name {
				return t, true
			}
		}
	}
	return Tool{}, false
}

// replacePlugins: the plugins of the box have changed. What is prepared was prepared for
// other tools, perhaps.
func (s *State) replacePlugins(out *effects, e PluginsChanged) {
	before := s.settings
	s.settings = s.settings.WithPlugins(e.Plugins)
	if before.sameAnswers(s.settings) {
		return
	}
	s.dropPrepared(out)
	out.add(Prefill{s.conversation()})
}
