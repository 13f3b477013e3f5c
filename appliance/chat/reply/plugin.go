package reply

import (
	"context"
	"time"

	"parley/appliance/chat/turn"
)

// Caller says in whose conversation something of the box is called.
type Caller struct {
	Account         string
	ChatID, GroupID string
	ConfigID        string // empty: the chat has none
	CustomSessionID string // that the client gave the session; empty: none
}

// ToolRun is a call of one of the box's tools.
type ToolRun struct {
	Caller
	Tool      turn.Tool
	Arguments string // a JSON object
	// Conversation is what was said before.
	Conversation turn.Conversation
}

// Toolbox runs the tools of the box, but for those that the conversation itself
// does.
type Toolbox interface {
	// RunTool runs a tool. It returns what the model is to read. The error is for
	// people; it says why the tool failed.
	RunTool(ctx context.Context, r ToolRun) (content string, err error)
}

// Question asks a plugin about what the user said last.
type Question struct {
	Caller
	Plugin string
	// Speculative says that the user may go on: then the words are others.
	Speculative bool
	// Conversation ends with what the user said.
	Conversation turn.Conversation
}

// Advisers are the plugins of the box that are asked before the model is.
type Advisers interface {
	// Advise returns what a plugin says to the user's words, which may be nothing.
	Advise(ctx context.Context, q Question) (turn.Advice, error)
}

// Consult begins a turn by asking plugins, each at the same time. What each says
// is posted, also where that is nothing.
func (r *Replies) Consult(ctx context.Context, c turn.ConsultPlugins, customSessionID string) {
	begins := time.Now()
	if c.Speculative {
		begins = begins.Add(c.Due - r.Clock())
	}
	w := r.begin(ctx, c.Turn, newSchedule(!c.Speculative, begins))
	ctx, w.stopTools = context.WithCancel(w.ctx) // the conversation says when it has waited enough
	for _, plugin := range c.Plugins {
		q := Question{r.caller(customSessionID), plugin, c.Speculative, c.Conversation}
		r.Go(func() {
			a := turn.PluginAdvised{Turn: c.Turn, Advice: r.advise(ctx, q)}
			a.At = turn.At(r.Clock())
			r.Post(a)
		})
	}
}

func (r *Replies) advise(ctx context.Context, q Question) turn.Advice {
	nothing := turn.Advice{Plugin: q.Plugin}
	if r.Advisers == nil {
		return nothing
	}
	a, err := r.Advisers.Advise(ctx, q)
	if err != nil {
		if ctx.Err() == nil {
			r.Log.Warn("a plugin has nothing to say to a turn; the model is asked without it", "plugin", q.Plugin,
				"err", err)
		}
		return nothing
	}
	a.Plugin = q.Plugin
	return a
}

func (r *Replies) caller(customSessionID string) Caller {
	c := r.Caller
	c.CustomSessionID = customSessionID
	return c
}
