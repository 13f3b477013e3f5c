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

// The messages of the OpenAI API's POST /chat/completions, as far as they are used here.

// chatRequest is the body of the request.
type chatRequest struct {
	address, key        string         // URL and bearer token
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
	// PromptCacheKey is the same for all prompts of a conversation, so that a server finds what it has computed.
	PromptCacheKey string `json:"prompt_cache_key,omitempty"`
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

// wireCall is a tool call; in a stream it is a part of one.
type wireCall struct {
	Index    *int           `json:"index,omitempty"` // which call a part belongs to
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
	// Additional fields for a custom language model.
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
		Message      part     `json:"message"` // the whole message, if a server does not stream
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
	// SystemFingerprint is a custom language model's name for the session.
	SystemFingerprint string `json:"system_fingerprint"`
}

// part is a part of a reply.
type part struct {
	Content textContent `json:"content"`
	Refusal string      `json:"refusal"`
	// ToolCalls are parts of tool calls.
	ToolCalls []wireCall `json:"tool_calls"`
	// FunctionCall is a part of the single call of the API before ToolCalls.
	FunctionCall *calledFunction `json:"function_call"`
	// The model's reasoning, under the names of different servers. It is not used, but shows that
	// the answer continues.
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
}

// calls returns the parts of calls.
func (p part) calls() []wireCall {
	if len(p.ToolCalls) == 0 && p.FunctionCall != nil {
		return []wireCall{{Index: new(int), Function: *p.FunctionCall}}
	}
	return p.ToolCalls
}

// hasContent reports whether the part has any content.
func (p part) hasContent() bool {
	empty := func(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" || string(raw) == `""` }
	return p.Content != "" || p.Refusal != "" || len(p.calls()) > 0 || !empty(p.Reasoning) || !empty(p.ReasoningContent)
}

// hasContent reports whether the event is part of the answer, or ends it. Other events only show
// that the server is alive, and the user hears nothing.
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

// UnmarshalJSON accepts "…", null and [{"type": "text", "text": "…"}].
func (t *textContent) UnmarshalJSON(data []byte) error {
	var parts []struct {
		Text string `json:"text"`
	}
	if len(data) > 0 && data[0] == '[' {
		if err := json.Unmarshal(data, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			*t += textContent(p.Text)
		}
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

// failure is an error in a server's words. Some servers send a text where others send an object.
type failure struct {
	present    bool
	message    string
	overloaded bool // the server has too much to do
}

// UnmarshalJSON accepts {"message": "…", "type": …, "code": …} and "…". A stream has the status
// 200, so the code takes the place of the status: a number, or a name as in OpenAI's and
// Anthropic's servers.
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

// overloadedCodes are types and codes of temporary errors.
var overloadedCodes = []string{
	"429", "502", "503", "529", "rate_limit_exceeded", "rate_limit_error", "rate_limit", "overloaded_error",
	"overloaded", "server_overloaded",
}

// wireMessage converts a message.
func wireMessage(m engine.Message) message {
	out := message{Role: m.Role, Content: strings.ToValidUTF8(m.Content, "\uFFFD"), ToolCallID: m.CallID}
	for _, c := range m.Calls {
		call := wireCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Name, c.Arguments
		out.ToolCalls = append(out.ToolCalls, call)
	}
	return out
}

// wireTools converts tools.
func wireTools(tools []engine.Tool) []wireTool {
	var out []wireTool
	for _, t := range tools {
		out = append(out, wireTool{"function", wireFunction{t.Name, t.Description, t.Parameters}})
	}
	return out
}

// chatRequest converts p.
func (m *Model) chatRequest(p engine.Prompt) chatRequest {
	q := chatRequest{
		Model:         m.model,
		Temperature:   &p.Temperature,
		Stream:        true,
		StreamOptions: &streamOptions{IncludeUsage: true},
		address:       m.address,
		key:           cmp.Or(m.key, p.Key),
	}
	for _, parsed := range p.Messages {
		q.Messages = append(q.Messages, wireMessage(parsed))
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
	if !m.custom && !m.noCacheKey.Load() {
		q.PromptCacheKey = p.Conversation
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

// post sends the request and returns the response if its status is 200, and a *statusError
// otherwise.
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
	return m.send(r, q.key)
}

// maxErrorBytes limits how much of an error response is read.
const maxErrorBytes = 64 << 10

// A statusError is a response with another status than 200.
type statusError struct {
	status     int
	retryAfter string // the header
	message    string // the server's words; empty if there are none
}

func (e *statusError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.status, e.message) }

// readStatus reads the error message of a response, in the forms that servers use: the OpenAI API's
// {"error": …}, {"message": …}, {"detail": …}, or plain text. Web pages are ignored.
func readStatus(from *http.Response) *statusError {
	e := &statusError{status: from.StatusCode, retryAfter: from.Header.Get("Retry-After")}
	// a partial body is good enough, since the status is known
	body, _ := io.ReadAll(io.LimitReader(from.Body, maxErrorBytes))
	var parsed struct {
		Error   failure `json:"error"`
		Message string  `json:"message"`
		Detail  string  `json:"detail"`
	}
	switch {
	case json.Unmarshal(body, &parsed) == nil:
		for _, words := range []string{parsed.Error.message, parsed.Message, parsed.Detail} {
			if e.message == "" {
				e.message = words
			}
		}
	case strings.HasPrefix(from.Header.Get("Content-Type"), "text/plain"):
		e.message = string(body)
	}
	return e
}
