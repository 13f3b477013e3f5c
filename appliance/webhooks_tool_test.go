package appliance

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"parley/appliance/chat"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/webhook"
	"parley/store"
)

// bookingModel is a model that calls a tool, and repeats the tool's answer.
type bookingModel struct{ fakeEngines }

func (bookingModel) Generate(_ context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	last := p.Messages[len(p.Messages)-1]
	if last.Role == engine.ToolRole {
		return engine.Usage{}, emit(engine.Part{Text: "The taxi comes " + last.Content + "."})
	}
	return engine.Usage{},
		emit(engine.Part{Call: &engine.ToolCall{ID: "call-1", Name: "book_taxi", Arguments: `{"persons":2}`}})
}

// A server that knows a chat only by its webhooks answers a tool call through the control
// plane, and the assistant uses the answer.
func TestToolCallIsAnsweredByItsWebhook(t *testing.T) {
	b := startFakeBox(t, func(p *chat.Parts) { p.Model, p.Defaults.ToolLimit = bookingModel{}, time.Minute })
	sender := webhook.Start(webhook.Parts{
		Outbox:       b.records,
		AllowPrivate: true,
		Agent:        "Parley/test",
		Log:          slog.New(slog.DiscardHandler),
	})
	defer sender.Close()
	url, got := receiveWebhooks(t)
	tool := b.post(t, "/v0/evi/tools", `{"name":"book_taxi","description":"order a `+
		`taxi","parameters":"{\"type\":\"object\",\"properties\":{\"persons\":{\"type\":\"integer\"}}}"}`)
	id := b.post(t, "/v0/evi/configs", `{"name":"desk","evi_version":"4-mini","tools":[{"id":"`+tool+
		`"}],"webhooks":[{"url":"`+url+`","events":["tool_call","chat_ended"]}]}`)
	c := b.call(t, "&config_id="+id)
	chatID := c.chatID()
	c.send(contract.UserInput{Text: "Order a taxi for two."})
	h, call := nextWebhook(t, got)
	t.Logf("tool_call came %v after its fact", h.at.Sub(time.UnixMilli(int64(call["timestamp"].(float64)))))
	m, _ := call["tool_call_message"].(map[string]any)
	if call["event_name"] != "tool_call" || call["chat_id"] != chatID || m["name"] != "book_taxi" ||
		m["parameters"] != `{"persons":2}` || m["response_required"] != true || m["tool_type"] != "function" {
		t.Fatalf("got %s", h.body)
	}
	answer := `{"type":"tool_response","tool_call_id":"` + m["tool_call_id"].(string) + `","content":"in five minutes"}`
	if status, body := b.send(t, b.key, call["chat_id"].(string), answer); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	heard := c.until("assistant_end", 1, waitLimit)
	if text := assistantText(heard); text != "The taxi comes in five minutes." {
		t.Errorf("it said %q", text)
	}
	c.conn.CloseNow()
	if h, ended := nextWebhook(t, got); ended["event_name"] != "chat_ended" ||
		ended["end_reason"] != string(store.UserEnded) {
		t.Errorf("got %s", h.body)
	}
}
