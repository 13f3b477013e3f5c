package reply

import (
	"context"
	"time"

	"parley/appliance/chat/turn"
)

// Caller identifies the conversation that calls a tool or a plugin.
type Caller struct {
	Account         string
	ChatID, GroupID string
	ConfigID        string // empty if the chat has none
	CustomSessionID string // set by the client; may be empty
}

// ToolRun is a call of one of the box's tools.
type ToolRun struct {
	Caller
	Tool      turn.Tool
	Arguments string // a JSON object
	// Conversation is what was said before the call.
	Conversation turn.Conversation
}

// Toolbox runs the box's tools, except those that the state machine runs itself.
type Toolbox interface {
	// RunTool runs a tool and returns what the model reads. The error says, for people, why the tool failed.
	RunTool(ctx context.Context, r ToolRun) (content string, err error)
}

// Question asks a plugin about what the user said last.
type Question struct {
	Caller
	Plugin string
	// Speculative means that the user may go on, so that the words may change.
	Speculative bool
	// Conversation ends with what the user said.
	Conversation turn.Conversation
}

// Advisers are the box's plugins that are asked before the model.
type Advisers interface {
	// Advise returns a plugin's advice on the user's words, which may be empty.
	Advise(ctx context.Context, q Question) (turn.Advice, error)
}

// Consult begins a turn by asking plugins in parallel. The advice of each is posted, even if it is empty.
func (r *Replies) Consult(ctx context.Context, c turn.ConsultPlugins, customSessionID string) {
	begins := time.Now()
	if c.Speculative {
		begins = begins.Add(c.Due - r.Clock())
	}
	w := r.begin(ctx, c.Turn, newSchedule(!c.Speculative, begins))
	ctx, w.stopTools = context.WithCancel(w.ctx) // the state machine decides how long to wait
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
			r.Log.Warn("plugin failed to advise on a turn; asking the model without it", "plugin", q.Plugin,
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
