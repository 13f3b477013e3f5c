package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"parley/appliance/engine"
)

// The OpenAI API's POST /chat/completions, as far as it is used here.

// chatRequest is the body of the request.
type chatRequest struct {
	address, key        string         // where it is sent, and with which bearer token
	Model               string         `json:"model"`
	Messages            []message      `json:"messages"`
	Temperature         *float64       `json:"temperature,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	Tools               []wireTool     `json:"tools,omitempty"`
	ToolChoice          string         `json:"tool_choice,omitempty"`
	ParallelToolCalls   *bool          `json:"parallel_tool_calls,omitempty"`
	Logprobs            bool           `json:"logprobs,omitempty"`
	TopLogprobs         int            `json:"top_logprobs,omitempty"`
}

type wireTool struct {
	Type     string       `json:"type"` // "function"
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// wireCall is a call of a tool; in a stream a part of one.
type wireCall struct {
	Index    *int           `json:"index,omitempty"` // of a part: which call it is of
	ID       string         `json:"id,omitempty"`
	Type     string         `json:"type,omitempty"`
	Function calledFunction `json:"function"`
}

type calledFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type message struct {
	Role       engine.Role `json:"role"`
	Content    string      `json:"content"`
	ToolCalls  []wireCall  `json:"tool_calls,omitempty"`
	ToolCallID string      `json:"tool_call_id,omitempty"`
	// What a custom language model is told beside the API's own.
	Time   *interval  `json:"time,omitempty"`
	Models *inference `json:"models,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// chunk is one event of the answer.
type chunk struct {
	Choices []struct {
		Index        int      `json:"index"`
		Delta        part     `json:"delta"`
		Message      part     `json:"message"` // the whole, where a server does not stream
		Logprobs     logprobs `json:"logprobs"`
		FinishReason string   `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		TotalTokens      int `json:"total_tokens"`
		Details          struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error failure `json:"error"`
	// SystemFingerprint is how a custom language model names the session.
	SystemFingerprint string `json:"system_fingerprint"`
}

// part is a part of a reply.
type part struct {
	Content textContent `json:"content"`
	Refusal string      `json:"refusal"`
	// ToolCalls are parts of calls.
	ToolCalls []wireCall `json:"tool_calls"`
	// FunctionCall is a part of the one call that there was before ToolCalls.
	FunctionCall *calledFunction `json:"function_call"`
	// What a model thinks before it answers, under the names that servers have for
	// it. It is not read, but shows that the answer goes on.
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
}

// calls are the parts of calls that p brings.
func (p part) calls() []wireCall {
	if len(p.ToolCalls) == 0 && p.FunctionCall != nil {
		return []wireCall{{Index: new(int), Function: *p.FunctionCall}}
	}
	return p.ToolCalls
}

// hasContent reports whether a part brings anything.
func (p part) hasContent() bool {
	empty := func(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" || string(raw) == `""` }
	return p.Content != "" || p.Refusal != "" || len(p.calls()) > 0 || !empty(p.Reasoning) || !empty(p.ReasoningContent)
}

// hasContent reports whether an event brings anything of the answer, or its end. With
// others a server only shows that it is there, and the user hears nothing.
func (c chunk) hasContent() bool {
	for _, choice := range c.Choices {
		if choice.FinishReason != "" || choice.Delta.hasContent() || choice.Message.hasContent() {
			return true
		}
	}
	return false
}

// textContent is a text, which some servers send as a list of parts.
type textContent string

// UnmarshalJSON takes "…", null or [{"type": "text", "text": "…"}].
func (s *textContent) UnmarshalJSON(data []byte) error {
	var parts []struct {
		Text string `json:"text"`
	}
	if len(data) > 0 && data[0] == '[' {
		if err := json.Unmarshal(data, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			*s += textContent(p.Text)
		}
		return nil
	}
	return json.Unmarshal(data, (*string)(s))
}

// failure is what went wrong in a server's words. Some send a text where others
// send an object.
type failure struct {
	present    bool
	message    string
	overloaded bool // it says that it has too much to do, not what else is wrong
}

// UnmarshalJSON takes {"message": "…", "type": …, "code": …} or "…". In a stream,
// whose status is 200, the code is the only place for what the status would say:
// a number, or a name as OpenAI's and Anthropic's servers have them.
func (f *failure) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	f.present = true
	var object struct {
		Message string          `json:"message"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	if json.Unmarshal(data, &f.message) != nil && json.Unmarshal(data, &object) == nil {
		f.message = object.Message
		for _, raw := range []json.RawMessage{object.Type, object.Code} {
			f.overloaded = f.overloaded || slices.Contains(overloadedCodes, strings.Trim(string(raw), `"`))
		}
	}
	return nil
}

// overloadedCodes are types and codes of errors that pass by themselves.
var overloadedCodes = []string{
	"429", "502", "503", "529", "rate_limit_exceeded", "rate_limit_error", "rate_limit", "overloaded_error",
	"overloaded", "server_overloaded",
}

// wireMessage is m in the server's words.
func wireMessage(m engine.Message) message {
	out := message{Role: m.Role, Content: strings.ToValidUTF8(m.Content, "\uFFFD"), ToolCallID: m.CallID}
	for _, c := range m.Calls {
		call := wireCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Name, c.Arguments
		out.ToolCalls = append(out.ToolCalls, call)
	}
	return out
}

// wireTools are tools in the server's words.
func wireTools(tools []engine.Tool) []wireTool {
	var out []wireTool
	for _, t := range tools {
		out = append(out, wireTool{"function", wireFunction{t.Name, t.Description, t.Parameters}})
	}
	return out
}

// chatRequest is p in the server's words.
func (m *Model) chatRequest(p engine.Prompt) chatRequest {
	q := chatRequest{
		Model:         m.model,
		Temperature:   &p.Temperature,
		Stream:        true,
		StreamOptions: &streamOptions{IncludeUsage: true},
		address:       m.address,
		key:           cmp.Or(m.key, p.Key),
	}
	for _, said := range p.Messages {
		q.Messages = append(q.Messages, wireMessage(said))
	}
	q.Tools = wireTools(p.Tools)
	if len(q.Tools) > 0 {
		q.ToolChoice, q.ParallelToolCalls = "auto", new(bool)
		if p.NoToolCalls {
			q.ToolChoice = "none"
		}
	}
	if m.noTemperature.Load() {
		q.Temperature = nil
	}
	tokens := p.MaxTokens
	if tokens <= 0 {
		tokens = defaultTokens
	}
	if m.newTokenName.Load() {
		q.MaxCompletionTokens = tokens
	} else {
		q.MaxTokens = tokens
	}
	return q
}

// post sends the request and returns the answer of a 200; a *statusError for
// every other status.
func (m *Model) post(ctx context.Context, q chatRequest) (*http.Response, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, q.address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("User-Agent", "parley")
	if q.key != "" {
		r.Header.Set("Authorization", "Bearer "+q.key)
	}
	response, err := m.client.Do(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	return nil, readStatus(response)
}

// maxErrorBytes bounds what is read of an answer that only says what is wrong.
const maxErrorBytes = 64 << 10

// A statusError is an answer whose status is not 200.
type statusError struct {
	status     int
	retryAfter string // the header
	message    string // the server's words; empty when they are not its own
}

func (e *statusError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.status, e.message) }

// readStatus reads the words of an error as servers have them: the OpenAI
// API's {"error": …}, {"message": …}, {"detail": …}, or plain text. A web page
// says nothing.
func readStatus(from *http.Response) *statusError {
	e := &statusError{status: from.StatusCode, retryAfter: from.Header.Get("Retry-After")}
	// What breaks off is as good as what is there; the status is known.
	body, _ := io.ReadAll(io.LimitReader(from.Body, maxErrorBytes))
	var said struct {
		Error   failure `json:"error"`
		Message string  `json:"message"`
		Detail  string  `json:"detail"`
	}
	switch {
	case json.Unmarshal(body, &said) == nil:
		for _, words := range []string{said.Error.message, said.Message, said.Detail} {
			if e.message == "" {
				e.message = words
			}
		}
	case strings.HasPrefix(from.Header.Get("Content-Type"), "text/plain"):
		e.message = string(body)
	}
	return e
}
