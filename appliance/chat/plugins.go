package chat

import (
	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
)

// Plugins are the plugins of the box.
type Plugins interface {
	reply.Advisers
	// Installed returns the plugins that may be called now, with their tools.
	Installed() []turn.Plugin
}

// PluginsChanged gives the installed plugins to all live conversations. They are in force from the next turn
// on.
func (h *Host) PluginsChanged() {
	all := h.Plugins.Installed()
	h.mu.Lock()
	live := make([]*Session, 0, len(h.live))
	for _, c := range h.live {
		live = append(live, c)
	}
	h.mu.Unlock()
	for _, c := range live {
		c.setPlugins(all)
	}
}

func (s *Session) setPlugins(all []turn.Plugin) {
	s.post(turn.PluginsChanged{At: turn.At(s.clock()), Plugins: all})
}
