package appliance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/config"
	"parley/appliance/contract"
)

// constantModel runs a server with the OpenAI API that always gives the same answer.
func constantModel(t *testing.T, says string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		piece,
			_ := json.Marshal(map[string]any{
			"choices": []any{map[string]any{"index": 0, "delta": map[string]string{"content": says}}}})
		fmt.Fprintf(w, "data: %s\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"+
			"data: [DONE]\n\n", piece)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestConfigCreatedOverRESTAppliesToAChat(t *testing.T) {
	server := constantModel(t, "I am the model of the route.")
	b := startBox(t, withScriptedModel(t), func(c *config.Config) {
		c.StrictModels = true
		c.Routes = []config.Route{{Provider: "OPEN_AI", Model: "gpt-4o",
			To: config.LanguageModel{OpenAI: server, Model: "parrot"}}}
	})
	config := b.post(t, "/v0/evi/configs", `{"name":"museum","evi_version":"3","voice":{"name":"alan"},`+
		`"prompt":{"text":"You are {{who}}."},
		"language_model":{"model_provider":"OPEN_AI","model_resource":"gpt-4o"},
		"event_messages":{"on_new_chat":{"enabled":true,"text":"Welcome to the museum."}}}`)
	c := b.call(t, "&config_id="+config)
	heard := c.until("assistant_end", 1, waitLimit)
	if got := assistantText(heard); got != "Welcome to the museum." {
		t.Errorf("it greets with %q", got)
	}
	c.send(contract.UserInput{Text: "Who are you?"})
	heard = c.until("assistant_end", 2, waitLimit)
	if got := assistantText(heard); got != "Welcome to the museum. I am the model of the route." {
		t.Errorf("it said %q", got)
	}

	strange := b.post(t, "/v0/evi/configs", `{"name":"old","evi_version":"4-mini",`+
		`"language_model":{"model_provider":"ANTHROPIC","model_resource":"claude-opus-4-6"}}`)
	for query, code := range map[string]contract.Code{
		"&config_id=" + contract.NewID():             contract.ConfigNotFound,
		"&config_id=" + config + "&config_version=1": contract.ConfigNotFound,
		"&config_id=" + strange:                      contract.ModelUnavailable,
	} {
		c := b.call(t, query)
		heard := c.until("error", 1, waitLimit)
		if e := heard[len(heard)-1].ServerMessage.(contract.WebSocketError); e.Code != code {
			t.Errorf("%s: %+v, want %s", query, e, code)
		}
		if got := c.closeCode(t); got != contract.ClosePolicy {
			t.Errorf("%s: closed with %d", query, got)
		}
	}
}

// assistantText returns the assistant's text, sentence by sentence.
func assistantText(heard []receivedMessage) string {
	var lines []string
	for _, m := range heard {
		if a, ok := m.ServerMessage.(contract.AssistantMessage); ok {
			lines = append(lines, a.Message.Content)
		}
	}
	return strings.Join(lines, " ")
}

// closeCode waits until the box has closed the socket, and returns the code.
func (c *caller) closeCode(t *testing.T) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		c.mu.Lock()
		closed := c.closed
		c.mu.Unlock()
		if closed != nil {
			tick.Stop()
			return int(websocket.CloseStatus(closed))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the socket stays open")
		}
	}
}
