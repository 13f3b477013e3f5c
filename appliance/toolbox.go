package appliance

import (
	"context"

	"parley/appliance/chat/reply"
	"parley/appliance/plugins"
	"parley/appliance/search"
)

// toolbox are the tools of the box, but for those that a conversation does
// itself: what plugins bring, and web_search.
type toolbox struct {
	plugins *plugins.Plugins
	search  search.Server
}

// RunTool is chat/reply's Toolbox.
func (t toolbox) RunTool(ctx context.Context, r reply.ToolRun) (string, error) {
	if r.Tool.Plugin != "" {
		return t.plugins.Run(ctx, r)
	}
	return t.search.RunTool(ctx, r.Tool.Name, r.Arguments)
}
