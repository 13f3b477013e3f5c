package appliance

import (
	"context"

	"parley/appliance/chat/reply"
	"parley/appliance/search"
)

// toolbox are the tools of the box, but for those that a conversation does
// itself: web_search and what plugins bring.
type toolbox struct{ search search.Server }

// RunTool is chat/reply's Toolbox.
func (t toolbox) RunTool(ctx context.Context, r reply.ToolRun) (string, error) {
	return t.search.RunTool(ctx, r.Tool.Name, r.Arguments)
}
