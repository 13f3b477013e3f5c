package chat

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// plugs is a box whose plugins the tests change.
type plugs struct {
	mu        sync.Mutex
	installed []turn.Plugin
	runs      []reply.ToolRun
	asked     []reply.Question
	advise    func(ctx context.Context, q reply.Question) (turn.Advice, error)
}

func (p *plugs) Installed() []turn.Plugin {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.installed
}

func (p *plugs) Advise(ctx context.Context, q reply.Question) (turn.Advice, error) {
	p.mu.Lock()
	p.asked = append(p.asked, q)
	p.mu.Unlock()
	if p.advise == nil {
		return turn.Advice{}, nil
	}
	return p.advise(ctx, q)
}

func (p *plugs) RunTool(_ context.Context, r reply.ToolRun) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs = append(p.runs, r)
	return "At ten.", nil
}

var hoursPlugin = turn.Plugin{Name: "hours", OnTurn: true, Tools: []turn.Tool{{
	Name:       "opening_hours",
	Parameters: `{"type":"object"}`,
	OnBox:      true,
	Plugin:     "hours",
	Limit:      2 * time.Second,
	FromPlugin: true,
}}}

// plugged begins a chat of a box whose chats all have the plugin "hours".
func plugged(t *testing.T, p *plugs, f func(t *testing.T, c *caller, h *Host, s *Session), says ...engine.Part) {
	synctest.Test(t, func(t *testing.T) {
		c := &caller{fakes: newFakes(), says: says}
		host := hostOf(c, func(parts *Parts) {
			parts.Tools, parts.Plugins = p, p
			parts.Defaults.Plugins = []string{"hours"}
		})
		f(t, c, host, begin(t, host,
			connection.Opening{Line: c, Settings: contract.ConnectSettings{
				SessionSettings: contract.SessionSettings{CustomSessionID: "desk"},
			}}))
	})
}

func TestAPluginsToolIsRunWithItsCaller(t *testing.T) {
	p := &plugs{installed: []turn.Plugin{hoursPlugin}}
	plugged(t, p, func(t *testing.T, c *caller, _ *Host, s *Session) {
		tells(t, s, contract.UserInput{Text: "When do you open?"})
		called := newestOf[contract.ToolCallMessage](t, c.fakes)
		if called.ResponseRequired || called.ToolType != contract.ToolFunction || called.Name != "opening_hours" {
			t.Errorf("%+v", called)
		}
		if m := newestOf[contract.ToolResponseMessage](t, c.fakes); m.Content != "At ten." ||
			m.ToolCallID != called.ToolCallID {
			t.Errorf("%+v", m)
		}
		r := p.runs[0]
		if r.Account != "a" || r.ChatID != s.ID() || r.CustomSessionID != "desk" || r.Tool.Plugin != "hours" ||
			r.Arguments != `{"place":"museum"}` || r.Conversation.History[0].Text != "When do you open?" {
			t.Errorf("the plugin received %+v", r)
		}
		if q := p.asked[0]; q.Plugin != "hours" || q.Speculative || q.Account != "a" || q.ChatID != s.ID() {
			t.Errorf("the plugin is asked %+v", q)
		}
	}, call("opening_hours", `{"place":"museum"}`), engine.Part{Text: "At ten."})
}

// A plugin installed during a conversation is in force in its next turn.
func TestAnInstalledPluginIsInForceInTheNextTurn(t *testing.T) {
	p := &plugs{}
	plugged(t, p, func(t *testing.T, c *caller, h *Host, s *Session) {
		tells(t, s, contract.UserInput{Text: "Hello."})
		if got := c.last().Tools; len(got) != 0 {
			t.Errorf("%+v", got)
		}
		p.installed = []turn.Plugin{hoursPlugin}
		h.PluginsChanged()
		tells(t, s, contract.UserInput{Text: "When do you open?"})
		if got := c.last().Tools; len(got) != 1 || got[0].Name != "opening_hours" {
			t.Errorf("%+v", got)
		}
	}, engine.Part{Text: "Hello."}, engine.Part{Text: "At ten."})
}

func TestAPluginAddsContextOrAnswers(t *testing.T) {
	p := &plugs{installed: []turn.Plugin{hoursPlugin}}
	p.advise = func(_ context.Context, q reply.Question) (turn.Advice, error) {
		h := q.Conversation.History
		if strings.Contains(h[len(h)-1].Text, "time") {
			return turn.Advice{Answer: "It is noon. Have a nice day."}, nil
		}
		return turn.Advice{Context: "The user is Ann."}, nil
	}
	plugged(t, p, func(t *testing.T, c *caller, _ *Host, s *Session) {
		tells(t, s, contract.UserInput{Text: "Who am I?"})
		seen := c.last().Messages
		if got := seen[len(seen)-1].Content; got != "Who am I? {Context: The user is Ann.}" {
			t.Errorf("the model sees %q", got)
		}
		tells(t, s, contract.UserInput{Text: "What time is it?"})
		if m := newestOf[contract.AssistantMessage](t, c.fakes); m.Message.Content != "Have a nice day." {
			t.Errorf("the assistant says %q", m.Message.Content)
		}
	}, engine.Part{Text: "You are Ann."}) // the model is asked once
}

// A plugin that hangs is given up, and the answer comes without it.
func TestAHangingPluginDelaysATurnByItsLimit(t *testing.T) {
	p := &plugs{installed: []turn.Plugin{hoursPlugin}}
	p.advise = func(ctx context.Context, _ reply.Question) (turn.Advice, error) {
		<-ctx.Done()
		return turn.Advice{Context: "late"}, ctx.Err()
	}
	plugged(t, p, func(t *testing.T, c *caller, _ *Host, s *Session) {
		tells(t, s, contract.UserInput{Text: "Who am I?"})
		time.Sleep(turn.AdviceLimit - time.Millisecond)
		synctest.Wait()
		if c.asked() > 0 {
			t.Error("the plugin has no time")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		seen := c.last().Messages
		if got := seen[len(seen)-1].Content; got != "Who am I?" {
			t.Errorf("the model sees %q", got)
		}
	}, engine.Part{Text: "I do not know."})
}
