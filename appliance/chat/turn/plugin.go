package turn

import (
	"cmp"
	"slices"
)

// Plugin is what a plugin of the box adds to conversations.
type Plugin struct {
	Name string
	// Tools are the tools that it runs. Each has Plugin and FromPlugin set.
	Tools []Tool
	// OnTurn plugins are asked about the user's words before the model; OnEnd plugins are notified when a
	// chat has ended.
	OnTurn, OnEnd bool
}

// PluginsChanged holds the plugins of the box after some were installed, changed or removed.
type PluginsChanged struct {
	At
	Plugins []Plugin
}

// WithPlugins returns the settings with the plugins as they are now. A tool that a config took from a plugin
// is updated, or dropped if the plugin no longer has it. A developer's own tool with the name of a plugin's
// tool is run by that plugin. The tools of the plugins that every chat has follow; if two tools have the same
// name, the first one stays.
func (s Settings) WithPlugins(all []Plugin) Settings {
	by := map[string]Tool{} // by name
	for _, p := range all {
		for _, t := range p.Tools {
			if _, taken := by[t.Name]; !taken {
				by[t.Name] = t
			}
		}
	}
	tools := make([]Tool, 0, len(s.Tools))
	for _, t := range s.Tools {
		switch run, found := by[t.Name]; {
		case t.FromPlugin && !s.inEveryChat(t.Plugin):
			if now, there := pluginTool(all, t.Plugin, t.Name); there {
				tools = append(tools, now)
			}
		case t.FromPlugin: // added again below
		case t.Stored:
			t.OnBox, t.Plugin, t.Limit = found, run.Plugin, run.Limit
			t.Fallback = cmp.Or(t.Fallback, run.Fallback)
			tools = append(tools, t)
		default:
			tools = append(tools, t)
		}
	}
	s.Tools = s.withBoxPlugins(tools, all)
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

// hooksOf returns the plugins to ask at every turn and those to notify of the end, among the plugins that
// take part in the chat: those that every chat has, and those whose tools it has.
func (s Settings) hooksOf(all []Plugin) (advisers, notified []string) {
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
			notified = append(notified, p.Name)
		}
	}
	return advisers, notified
}

// pluginTool returns a tool as its plugin defines it now.
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

// replacePlugins puts the changed plugins in force. A prepared answer may have been prepared for other tools,
// so it is dropped.
func (s *State) replacePlugins(out *effects, e PluginsChanged) {
	before := s.settings
	s.settings = s.settings.WithPlugins(e.Plugins)
	if before.sameAnswers(s.settings) {
		return
	}
	s.dropPrepared(out)
	out.add(Prefill{s.conversation()})
}
