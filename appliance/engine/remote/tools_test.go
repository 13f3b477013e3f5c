package remote

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/appliance/engine"
)

var taxi = engine.Tool{Name: "book_taxi", Description: "order a taxi",
	Parameters: json.RawMessage(`{"type":"object","properties":{"persons":{"type":"integer"}},"required":["persons"]}`)}

// streaming returns a model on a server that answers with these events; asked receives the request.
func streaming(t *testing.T, asked *[]byte, events ...string) *Model {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if asked != nil {
			*asked = body
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range append(events, "[DONE]") {
			_, _ = io.WriteString(w, "data: "+e+"\n\n")
		}
	}))
	t.Cleanup(s.Close)
	m, err := Open(Options{BaseURL: s.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// parts returns all parts of an answer.
func parts(t *testing.T, m *Model, p engine.Prompt) (text string, calls []engine.ToolCall, err error) {
	t.Helper()
	_, err = m.Generate(t.Context(), p, func(part engine.Part) error {
		text += part.Text
		if part.Call != nil {
			calls = append(calls, *part.Call)
		}
		return nil
	})
	return text, calls, err
}

func TestACallIsPutTogetherOfItsParts(t *testing.T) {
	var asked []byte
	m := streaming(t, &asked,
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"c1",`+
			`"type":"function","function":{"name":"book_taxi","arguments":""}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"pers"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"ons\":2}"}},{"index":1,`+
			`"id":"c2","function":{"name":"another","arguments":"{}"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`)
	p := engine.Prompt{Tools: []engine.Tool{taxi}, Messages: []engine.Message{
		{Role: engine.User, Content: "A taxi, please."},
		{Role: engine.Assistant, Calls: []engine.ToolCall{{ID: "c0", Name: "book_taxi", Arguments: `{"persons":1}`}}},
		{Role: engine.ToolRole, CallID: "c0", Content: "no taxi for one"},
		{Role: engine.User, Content: "For two, then."},
	}}
	text, calls, err := parts(t, m, p)
	if err != nil || text != "" || len(calls) != 1 ||
		calls[0] != (engine.ToolCall{ID: "c1", Name: "book_taxi", Arguments: `{"persons":2}`}) {
		t.Errorf("said %q, called %+v, error %v", text, calls, err)
	}
	var q struct {
		Messages []map[string]any
		Tools    []struct {
			Type     string
			Function struct {
				Name, Description string
				Parameters        map[string]any
			}
		}
		ToolChoice string `json:"tool_choice"`
		Parallel   *bool  `json:"parallel_tool_calls"`
	}
	if err := json.Unmarshal(asked, &q); err != nil {
		t.Fatal(err)
	}
	if len(q.Tools) != 1 || q.Tools[0].Type != "function" || q.Tools[0].Function.Name != "book_taxi" ||
		q.Tools[0].Function.Parameters["type"] != "object" ||
		q.ToolChoice != "auto" || q.Parallel == nil || *q.Parallel {
		t.Errorf("asked %s", asked)
	}
	if call, _ := json.Marshal(q.Messages[1]["tool_calls"]); string(
		call) != `[{"function":{"arguments":"{\"persons\":1}","name":"book_taxi"},"id":"c0","type":"function"}]` ||
		q.Messages[2]["role"] != "tool" || q.Messages[2]["tool_call_id"] != "c0" {
		t.Errorf("sent %v", q.Messages)
	}
}

func TestAnInvalidCallIsAnError(t *testing.T) {
	call := func(name, arguments string) string {
		b,
			_ := json.Marshal(map[string]any{
			"choices": []any{map[string]any{"index": 0, "finish_reason": "tool_calls", "delta": map[string]any{
				"tool_calls": []any{map[string]any{"index": 0, "id": "c",
					"function": map[string]string{"name": name, "arguments": arguments}}}}}}})
		return string(b)
	}
	for name, c := range map[string]struct{ event, want string }{
		"nameless": {call("", `{}`), "without its name"},
		"endless":  {call("book_taxi", `{"a":"`+strings.Repeat("x", 200<<10)+`"}`), "bytes"},
	} {
		events := []string{c.event}
		if name == "endless" {
			events = []string{c.event, c.event}
		}
		_, calls, err := parts(t, streaming(t, nil, events...),
			engine.Prompt{Tools: []engine.Tool{taxi}, Messages: hello.Messages})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(calls) > 0 {
			t.Errorf("%s: called %d, error %.200v, want %q", name, len(calls), err, c.want)
		}
	}
	// The provider of the tool tells the model what is wrong with its arguments.
	for sent, want := range map[string]string{"": "{}", `{"persons":`: `{"persons":`, `[1]`: `[1]`} {
		_, calls, err := parts(t, streaming(t, nil, call("book_taxi", sent)),
			engine.Prompt{Tools: []engine.Tool{taxi}, Messages: hello.Messages})
		if err != nil || len(calls) != 1 || calls[0].Arguments != want {
			t.Errorf("arguments %q: %+v, %v", sent, calls, err)
		}
	}
}

func TestChoicesAreMatchedByTheirFirstToken(t *testing.T) {
	event := `{"choices":[{"index":0,"delta":{"content":"Par"},"finish_reason":"length",` +
		`"logprobs":{"content":[{"token":"Par","logprob":-0.1,
		"top_logprobs":[{"token":"Par","logprob":-0.1},{"token":" ` +
		`Lon","logprob":-2.5},{"token":"L","logprob":-9}]}]}}]}`
	m := streaming(t, nil, strings.ReplaceAll(event, "\n", " "))
	got, err := m.Choose(t.Context(), hello, []string{"London", "Paris", "Rome"})
	if err != nil || got[0] != -2.5 || got[1] != -0.1 || !math.IsInf(got[2], -1) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := m.Choose(t.Context(), hello, []string{"Paris", "Parma"}); err == nil ||
		errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("two that begin alike: %v", err)
	}
	m = streaming(t, nil, delta("Paris"), stop)
	if _, err := m.Choose(t.Context(), hello, []string{"Paris", "Rome"}); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("a server that tells no probabilities: %v", err)
	}
	p := hello
	p.Grammar = `root ::= "a"`
	if _, err := m.Generate(t.Context(), p, func(engine.Part) error {
		return nil
	}); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("a grammar: %v", err)
	}
}

func TestARealServerSupportsToolsAndChoices(t *testing.T) {
	m, err := Open(Options{
		BaseURL: realServer(t),
		Model:   "smollm2",
		Key:     "right",
		Limits:  patientLimits,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	p := engine.Prompt{MaxTokens: 48, Messages: []engine.Message{
		{Role: engine.System, Content: "Answer with one word."},
		{Role: engine.User, Content: "What is the capital of France: London, Paris or Rome?"},
	}}
	weights, err := m.Choose(t.Context(), p, []string{"London", "Paris", "Rome"})
	if err != nil || weights[1] <= weights[0] || weights[1] <= weights[2] {
		t.Errorf("London, Paris, Rome: %v, %v", weights, err)
	}
	p.Tools = []engine.Tool{taxi}
	p.Messages = []engine.Message{{Role: engine.User, Content: "Please book a taxi for two persons."}}
	text, calls, err := parts(t, m, p)
	t.Logf("said %q, called %+v, %v", text, calls, err)
	if err != nil || text == "" && len(calls) != 1 {
		t.Errorf("said %q, called %+v, %v", text, calls, err)
	}
	p.Messages = append(p.Messages,
		engine.Message{Role: engine.Assistant,
			Calls: []engine.ToolCall{{ID: "c0", Name: "book_taxi", Arguments: `{"persons":2}`}}},
		engine.Message{Role: engine.ToolRole, CallID: "c0", Content: "The taxi comes at five."})
	if text, calls, err = parts(t, m, p); err != nil || text == "" && len(calls) != 1 {
		t.Errorf("after the tool: said %q, called %+v, %v", text, calls, err)
	}
}
