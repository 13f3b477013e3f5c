package appliance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"parley/appliance/config"
)

// scriptedModel runs a server with the OpenAI API that answers and calls tools by a script:
// its answers follow from the questions, so tests can check what clients of a real box
// hear. It returns the base URL.
func scriptedModel(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q modelRequest
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if strings.Contains(q.last().Content, "break down") {
			http.Error(w, "as it was asked to", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		why := "stop"
		say, tool, arguments := q.answer()
		delta := map[string]any{"role": "assistant", "content": say}
		if tool != "" {
			why = "tool_calls"
			delta = map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": "call", "type": "function",
				"function": map[string]string{"name": tool, "arguments": arguments}}}}
		}
		for _, choice := range []map[string]any{{"index": 0, "delta": delta},
			{"index": 0, "delta": map[string]any{}, "finish_reason": why}} {
			piece, _ := json.Marshal(map[string]any{"choices": []any{choice}})
			fmt.Fprintf(w, "data: %s\n\n", piece)
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// withScriptedModel sets the scripted model. The box starts sooner with it than with an
// embedded model, and the answers are short.
func withScriptedModel(t *testing.T) func(*config.Config) {
	t.Helper()
	model := config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
	return func(c *config.Config) { c.Engines.LanguageModel = model }
}

// modelRequest is a request of the box to the model.
type modelRequest struct {
	Messages []message
	Tools    []struct{ Function struct{ Name string } }
}

type message struct{ Role, Content string }

// story takes about 25 seconds to speak, long enough to be interrupted.
const story = "The key was made in a village by the sea. A smith worked on it for a whole winter. " +
	"He gave it to his daughter when she went away. She carried it over the mountains and through two wars. " +
	"In the end she came back to the village. The house was gone, and so was the door. " +
	"But the key is still here, and it hangs on the wall of the town hall."

// answer returns the answer, or the tool call.
func (r modelRequest) answer() (say, tool, arguments string) {
	last := r.last()
	text := strings.ToLower(last.Content)
	switch {
	case last.Role == "tool" && strings.Contains(last.Content, "story"):
		return story, "", ""
	case last.Role == "tool":
		return "The tool says: " + last.Content, "", ""
	case strings.Contains(text, "pound key") && r.mayCall("greet"):
		return "", "greet", `{"who":"Ada"}`
	case strings.Contains(text, "pound key") && r.mayCall("press_key"):
		return "", "press_key", `{"key":"pound"}`
	case strings.Contains(text, "lamp") && r.mayCall("switch_lamp"):
		return "", "switch_lamp", `{"on":true}`
	case strings.Contains(text, "train to linz") && r.mayCall("next_train"):
		return "", "next_train", `{"town":"Linz"}`
	case strings.HasPrefix(text, "use "):
		return "", strings.Fields(text)[1], "{}"
	case strings.Contains(text, "remember"):
		return "I remember: " + r.memory(), "", ""
	}
	return "You said: " + last.Content, "", ""
}

// last returns the message to answer: the newest of a user or a tool. Messages that a
// client had the assistant say may follow it.
func (r modelRequest) last() (m message) {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role != "assistant" {
			return m
		}
	}
	return m
}

// mayCall reports whether the model has the tool and has not called one yet.
func (r modelRequest) mayCall(name string) bool {
	for _, m := range r.Messages {
		if m.Role == "tool" && name == "press_key" {
			return false
		}
	}
	for _, t := range r.Tools {
		if t.Function.Name == name {
			return true
		}
	}
	return false
}

// memory returns what users and tools said before the last message.
func (r modelRequest) memory() string {
	var all []string
	for _, m := range r.Messages[:len(r.Messages)-1] {
		if m.Role == "user" || m.Role == "tool" {
			all = append(all, strings.TrimRight(m.Content, "."))
		}
	}
	return strings.Join(all, ", ")
}
