package chat

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/chat/record"
	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// caller is a model that says or calls one thing after the other.
type caller struct {
	*fakes
	mu     sync.Mutex
	says   []engine.Part
	seen   []engine.Prompt
	result func(ctx context.Context) (string, error) // of the box's own tool
}

func (c *caller) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	c.mu.Lock()
	c.seen = append(c.seen, p)
	if len(c.says) == 0 {
		c.mu.Unlock()
		return engine.Usage{}, errors.New("it was asked once too often")
	}
	next := c.says[0]
	c.says = c.says[1:]
	c.mu.Unlock()
	return engine.Usage{}, emit(next)
}

func (c *caller) RunTool(ctx context.Context, r reply.ToolRun) (string, error) {
	return c.result(ctx)
}

// last returns the model's last prompt.
func (c *caller) last() engine.Prompt {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[len(c.seen)-1]
}

// asked returns how often the model was asked.
func (c *caller) asked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.seen)
}

// newestOf returns the newest message of a type.
func newestOf[M contract.ServerMessage](t *testing.T, f *fakes) (m M) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := len(f.sent) - 1; i >= 0; i-- {
		if m, ok := f.sent[i].(M); ok {
			return m
		}
	}
	t.Fatalf("no %s was sent", m.MessageType())
	return m
}

func call(name, arguments string) engine.Part {
	return engine.Part{Call: &engine.ToolCall{ID: "x", Name: name, Arguments: arguments}}
}

var weatherTool = turn.Tool{
	Name: "weather", Parameters: `{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}`,
	Fallback: "Nobody knows the weather.",
}

// with begins a chat whose model says these things, in a bubble of its own.
func with(t *testing.T, f func(t *testing.T, c *caller, s *Session), says ...engine.Part) {
	synctest.Test(t, func(t *testing.T) {
		c := &caller{fakes: newFakes(), says: says}
		host := hostOf(c, func(p *Parts) {
			p.Tools = c
			search := turn.Builtin(contract.BuiltinToolConfig{Name: contract.WebSearch})
			p.Defaults.Tools = []turn.Tool{weatherTool, search}
		})
		f(t, c, begin(t, host, connection.Opening{Line: c}))
	})
}

func tells(t *testing.T, s *Session, m contract.ClientMessage) {
	t.Helper()
	if err := s.Receive(m); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func TestTheClientsToolAnswersAndTheModelGoesOn(t *testing.T) {
	with(t, func(t *testing.T, c *caller, s *Session) {
		tells(t, s, contract.UserInput{Text: "Does it rain in Graz?"})
		m := newestOf[contract.ToolCallMessage](t, c.fakes)
		if !m.ResponseRequired || m.Name != "weather" || m.Parameters != `{"town":"Graz"}` ||
			m.ToolType != contract.ToolFunction {
			t.Fatalf("%+v", m)
		}
		along, err := s.Listen(false)
		if err != nil {
			t.Fatal(err)
		}
		tells(t, s, contract.ToolResponseMessage{ToolCallID: m.ToolCallID, Content: "Rain."})
		last := c.last()
		if n := len(last.Messages); n != 4 || last.Messages[n-1].Content != "Rain." ||
			last.Messages[n-1].CallID != m.ToolCallID || last.Messages[n-2].Calls[0].ID != m.ToolCallID {
			t.Errorf("the model went on with %+v", last.Messages)
		}
		if said := newestOf[contract.AssistantMessage](t, c.fakes); said.Message.Content != "It rains." {
			t.Errorf("the assistant said %q", said.Message.Content)
		}
		if strings.Contains(c.messages(), "tool_response") {
			t.Error("the client receives its message back")
		}
		for {
			copied, err := along.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := copied.Message.(contract.ToolResponseMessage); ok {
				if r.Content != "Rain." || r.ToolName != "weather" {
					t.Errorf("the listener received %+v", r)
				}
				break
			}
		}
		c.fakes.mu.Lock()
		history := record.History(c.stored)
		c.fakes.mu.Unlock()
		if len(history) != 4 || history[1].Role != turn.ToolCall || history[1].Name != "weather" ||
			history[2].Text != "Rain." || history[3].Text != "It rains." {
			t.Errorf("the resumed history is %+v", history)
		}
	}, call("weather", `{"town":"Graz"}`), engine.Part{Text: "It rains."})
}

func TestInvalidArgumentsGoBackOnce(t *testing.T) {
	with(t, func(t *testing.T, c *caller, s *Session) {
		tells(t, s, contract.UserInput{Text: "Does it rain?"})
		if m := newestOf[contract.ToolCallMessage](t, c.fakes); m.Parameters != `{"town":"Graz"}` {
			t.Errorf("%+v", m)
		}
		again := c.last().Messages
		if said := again[len(again)-1].Content; !strings.Contains(said, "town") {
			t.Errorf("the model receives %q", said)
		}
	}, call("weather", `{"town":3}`), call("weather", `{"town":"Graz"}`))

	with(t, func(t *testing.T, c *caller, s *Session) {
		tells(t, s, contract.UserInput{Text: "Does it rain?"})
		if strings.Contains(c.messages(), "tool_call") {
			t.Error("the client is asked to run it")
		}
		if last := c.last(); !last.NoToolCalls || last.Messages[len(last.Messages)-1].Content != weatherTool.Fallback {
			t.Errorf("the model goes on with %+v", last)
		}
	}, call("nothing", `{}`), call("weather", `{`), engine.Part{Text: "Nobody knows."})
}

func TestTheBoxRunsItsOwnTools(t *testing.T) {
	with(t, func(t *testing.T, c *caller, s *Session) {
		c.result = func(context.Context) (string, error) { return "Rain on the web.", nil }
		tells(t, s, contract.UserInput{Text: "Search for rain."})
		if m := newestOf[contract.ToolCallMessage](t, c.fakes); m.ResponseRequired ||
			m.ToolType != contract.ToolBuiltin {
			t.Errorf("%+v", m)
		}
		if m := newestOf[contract.ToolResponseMessage](t, c.fakes); m.Content != "Rain on the web." ||
			m.ToolType != contract.ToolBuiltin {
			t.Errorf("%+v", m)
		}
	}, call("web_search", `{"query":"rain"}`), engine.Part{Text: "It rains."})
}

// A tool of the box that hangs is stopped with its turn, or after its limit.
func TestAHangingToolOfTheBoxIsStopped(t *testing.T) {
	with(t, func(t *testing.T, c *caller, s *Session) {
		given := make(chan error, 2)
		c.result = func(ctx context.Context) (string, error) {
			<-ctx.Done()
			given <- ctx.Err()
			return "", ctx.Err()
		}
		tells(t, s, contract.UserInput{Text: "Search for rain."})
		tells(t, s, contract.UserInput{Text: "No, for snow."})
		<-given
		time.Sleep(turn.DefaultToolLimit)
		<-given
		synctest.Wait()
		if m := newestOf[contract.ToolErrorMessage](t, c.fakes); !strings.Contains(m.Error, "30s") {
			t.Errorf("%+v", m)
		}
		if m := newestOf[contract.AssistantMessage](t, c.fakes); m.Message.Content != "I'm sorry, that did not work." {
			t.Errorf("the assistant says %q", m.Message.Content)
		}
	}, call("web_search", `{"query":"rain"}`), call("web_search", `{"query":"snow"}`))
}

// A resumed conversation has its tool calls and results. A call without an answer is left out, and so are
// quick answers.
func TestAResumedConversationHasItsToolCalls(t *testing.T) {
	tool := func(kind store.EventType, id, text string) store.Event {
		return store.Event{Type: kind, MessageText: text,
			Metadata: `{"tool_call_id":"` + id + `","name":"weather","tool_type":"function"}`}
	}
	got := record.History([]store.Event{
		{Type: store.UserMessage, MessageText: "Does it rain?"},
		tool(store.FunctionCall, "a", `{"town":"Graz"}`),
		{Type: store.AgentMessage, MessageText: "One moment, please.",
			Metadata: `{"from_text":false,"is_quick_response":true}`},
		tool(store.FunctionCall, "b", `{"truncated": 9`),
		{Type: store.FunctionCallResponse,
			Metadata: `{"tool_call_id":"a","name":"weather","tool_type":"function","error":"boom"}`},
		tool(store.FunctionCallResponse, "c", "Nobody asked."),
		tool(store.FunctionCall, "d", `{"town":"Linz"}`),
		tool(store.FunctionCallResponse, "d", ""),
		{Type: store.AgentMessage, MessageText: "I do not know."},
	})
	want := []turn.Entry{
		{Role: turn.User, Text: "Does it rain?"},
		{
			Role: turn.ToolCall,
			ID:   "a",
			Name: "weather",
			Text: `{"town":"Graz"}`,
		}, {Role: turn.ToolResult, ID: "a", Text: turn.FailedResult},
		{
			Role: turn.ToolCall,
			ID:   "d",
			Name: "weather",
			Text: `{"town":"Linz"}`,
		}, {Role: turn.ToolResult, ID: "d", Text: turn.EmptyResult},
		{Role: turn.Assistant, Text: "I do not know."},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i].Role != want[i].Role || got[i].ID != want[i].ID || got[i].Text != want[i].Text ||
			got[i].Name != want[i].Name {
			t.Errorf("%d: %+v", i, got[i])
		}
	}
}
