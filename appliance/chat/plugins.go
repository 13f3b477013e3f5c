package chat

import (
	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
)

// Plugins are those of the box.
type Plugins interface {
	// Advise asks a plugin about what a user has said.
	reply.Advisers
	// Installed are those that may be called now, and what they bring.
	Installed() []turn.Plugin
}

// PluginsChanged lets every conversation that is live know what plugins bring now;
// it holds from its next turn on.
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

func (c *Session) setPlugins(all []turn.Plugin) {
	c.post(turn.PluginsChanged{At: turn.At(c.clock()), Plugins: all})
}
