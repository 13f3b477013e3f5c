package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of a chat completion.
const (
	// MaxOpenAIMessages bounds the messages: each takes at least four tokens with its markup, and the longest
	// context of an embedded model is 8,192 tokens.
	MaxOpenAIMessages = 2048
	// MaxOpenAITools is OpenAI's own limit.
	MaxOpenAITools = 128
	// MaxOpenAIStops is OpenAI's own limit, and MaxOpenAIStopChars a line.
	MaxOpenAIStops, MaxOpenAIStopChars = 4, 200
	// MaxOpenAITokens bounds a reply: half of the longest context. A larger number counts as this.
	MaxOpenAITokens = 4096
	// DefaultOpenAITokens is the longest reply without a limit: a page and a half.
	DefaultOpenAITokens = 1024
	// MaxOpenAIDescriptionChars bounds the description of a function or a schema: OpenAI allows half of it.
	MaxOpenAIDescriptionChars = 2048
	// MaxOpenAISchemaBytes bounds a JSON Schema: see package schema.
	MaxOpenAISchemaBytes = 64 << 10
)

// PostedOpenAIChat requests the next message of a conversation.
type PostedOpenAIChat struct {
	// One of GET /v1/models that answers, such as parley.
	Model    string          `json:"model"`
	Messages []OpenAIMessage `json:"messages"`
	// The functions that the model may call, at most one in a message.
	Tools []OpenAITool `json:"tools,omitempty"`
	// Whether the model calls a function: none, auto (the default), required, or an object that names one.
	ToolChoice OpenAIToolChoice `json:"tool_choice,omitzero"`
	// The form of the message: text (the default), json_object, or json_schema.
	ResponseFormat *OpenAIResponseFormat `json:"response_format,omitempty"`
	// Sends the message while it is written, as server-sent events.
	Stream        bool                 `json:"stream,omitempty"`
	StreamOptions *OpenAIStreamOptions `json:"stream_options,omitempty"`
	// The longest message, in tokens; default: 1024.
	MaxCompletionTokens int `json:"max_completion_tokens,omitempty"`
	// The older name of max_completion_tokens.
	MaxTokens int `json:"max_tokens,omitempty"`
	// How much the message varies, 0 to 2; default: 1.
	Temperature float64 `json:"temperature,omitempty"`
	// The message ends before any of these texts.
	Stop []string `json:"stop,omitempty"`
	// Names the conversation, so that its next message begins sooner.
	PromptCacheKey string `json:"prompt_cache_key,omitempty"`
}

// OpenAIMessage is a message of a conversation.
type OpenAIMessage struct {
	Role OpenAIRole `json:"role"`
	// The text, or a list of parts of type text.
	Content string `json:"content,omitempty"`
	// The functions that the assistant called.
	ToolCalls []OpenAIToolCall `json:"tool_calls,omitempty"`
	// The call that a message of the role tool answers.
	ToolCallID string `json:"tool_call_id,omitempty"`
}

// OpenAIRole is who wrote a message.
type OpenAIRole string

// The roles.
const (
	OpenAISystem    OpenAIRole = "system"
	OpenAIDeveloper OpenAIRole = "developer" // the newer name of system
	OpenAIUser      OpenAIRole = "user"
	OpenAIAssistant OpenAIRole = "assistant"
	OpenAIToolRole  OpenAIRole = "tool"
)

// OpenAIToolCall is a call of a function.
type OpenAIToolCall struct {
	ID       string             `json:"id"`
	Type     string             `json:"type"` // function
	Function OpenAICalledByName `json:"function"`
}

// OpenAICalledByName is a function with its arguments, a JSON object.
type OpenAICalledByName struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// OpenAITool is a function that a model may call.
type OpenAITool struct {
	Type     string         `json:"type"` // function
	Function OpenAIFunction `json:"function"`
}

// OpenAIFunction describes a function.
type OpenAIFunction struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// The JSON Schema of the arguments.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// OpenAIToolChoice is none, auto, required, or the name of a function.
type OpenAIToolChoice struct {
	Mode string // none, auto or required
	Name string // of a function; Mode is required
}

// OpenAIResponseFormat is the form of a message.
type OpenAIResponseFormat struct {
	Type OpenAIFormatType `json:"type"`
	// For json_schema.
	JSONSchema *OpenAISchema `json:"json_schema,omitempty"`
}

// OpenAIFormatType is a form of messages.
type OpenAIFormatType string

// The forms.
const (
	OpenAIFormText   OpenAIFormatType = "text"
	OpenAIFormObject OpenAIFormatType = "json_object"
	OpenAIFormSchema OpenAIFormatType = "json_schema"
)

// OpenAISchema is a JSON Schema with its name.
type OpenAISchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
}

// OpenAIStreamOptions are the options of a stream.
type OpenAIStreamOptions struct {
	// Sends the tokens before the end of the stream.
	IncludeUsage bool `json:"include_usage,omitempty"`
}

// chatFields are the fields that are read, refused or ignored.
func chatFields() []string {
	return []string{"model", "messages", "tools", "tool_choice", "response_format", "stream", "stream_options",
		"max_completion_tokens", "max_tokens", "temperature", "stop", "prompt_cache_key",
		"n", "logprobs", "top_logprobs", "logit_bias", "modalities", "audio", "functions", "function_call",
		"web_search_options", "moderation",
		// Hints, and what OpenAI stores or bills.
		"top_p", "frequency_penalty", "presence_penalty", "seed", "user", "safety_identifier", "store", "metadata",
		"service_tier", "parallel_tool_calls", "reasoning_effort", "verbosity", "prediction", "prompt_cache_retention",
	}
}

func (PostedOpenAIChat) read(o object) PostedOpenAIChat {
	o.require("model", "messages")
	o.refuseOthers(chatFields()...)
	o.refuse("n", "the box writes one message", "1")
	o.refuse("logprobs", "the box has no log probabilities", "false")
	o.refuse("top_logprobs", "the box has no log probabilities", "0")
	o.refuse("logit_bias", "the box does not change single tokens", "{}")
	o.refuse("modalities", "the message is a text; POST /v1/audio/speech speaks it", `["text"]`)
	o.refuse("audio", "the message is a text; POST /v1/audio/speech speaks it")
	o.refuse("functions", "use tools", "[]")
	o.refuse("function_call", "use tool_choice", `"none"`, `"auto"`)
	o.refuse("web_search_options", "the box does not search for completions")
	p := PostedOpenAIChat{
		Model:               o.nonBlank("model", MaxOpenAIModelChars),
		Messages:            each(o, "messages", MaxOpenAIMessages, readOpenAIMessage),
		Tools:               each(o, "tools", MaxOpenAITools, readOpenAITool),
		ToolChoice:          readOpenAIToolChoice(o),
		ResponseFormat:      optional(o, "response_format", readOpenAIResponseFormat),
		Stream:              o.boolean("stream"),
		MaxCompletionTokens: o.integer("max_completion_tokens", 1, 1<<30),
		MaxTokens:           o.integer("max_tokens", 1, 1<<30),
		Temperature:         *orDefault(o.numberOrNil("temperature", 0, 2), 1),
		Stop:                readOpenAIStops(o),
		PromptCacheKey:      o.text("prompt_cache_key", MaxCustomSessionIDChars),
		StreamOptions: optional(o, "stream_options", func(s object) OpenAIStreamOptions {
			s.refuseOthers("include_usage", "include_obfuscation")
			return OpenAIStreamOptions{IncludeUsage: s.boolean("include_usage")}
		}),
	}
	p.check(o)
	return p
}

// check notes fields that do not go together.
func (p PostedOpenAIChat) check(o object) {
	if p.Messages != nil && len(p.Messages) == 0 {
		o.note("messages", "wrong_value", "empty; expected at least one message")
	}
	if p.StreamOptions != nil && !p.Stream {
		o.note("stream_options", "wrong_value", "only for streams: set stream to true, or leave this out")
	}
	names := map[string]bool{}
	for i, t := range p.Tools {
		if name := t.Function.Name; names[name] && name != "" {
			o.in("tools").note(i, "wrong_value", fmt.Sprintf("the name %q comes twice", Clip(name)))
		}
		names[t.Function.Name] = true
	}
	switch choice := p.ToolChoice; {
	case choice.Mode == "" || o.shape != nil:
	case len(p.Tools) == 0 && choice.Mode != "none" && choice.Mode != "auto":
		o.note("tool_choice", "wrong_value", "there are no tools")
	case choice.Name != "" && !names[choice.Name]:
		o.note("tool_choice", "wrong_value", fmt.Sprintf("no tool has the name %q", Clip(choice.Name)))
	}
	calls := map[string]bool{}
	for i, m := range p.Messages {
		for _, c := range m.ToolCalls {
			calls[c.ID] = true
		}
		if m.Role == OpenAIToolRole && m.ToolCallID != "" && !calls[m.ToolCallID] {
			o.in("messages").in(fmt.Sprint(i)).note("tool_call_id", "wrong_value",
				fmt.Sprintf("no message before has a call with the id %q", Clip(m.ToolCallID)))
		}
	}
}

// Tokens returns the longest message.
func (p PostedOpenAIChat) Tokens() int {
	most := max(p.MaxCompletionTokens, p.MaxTokens)
	if p.MaxCompletionTokens > 0 && p.MaxTokens > 0 {
		most = min(p.MaxCompletionTokens, p.MaxTokens)
	}
	if most == 0 {
		return DefaultOpenAITokens
	}
	return min(most, MaxOpenAITokens)
}

// IncludesUsage reports whether a stream ends with the tokens that it took.
func (p PostedOpenAIChat) IncludesUsage() bool {
	return p.StreamOptions != nil && p.StreamOptions.IncludeUsage
}

func readOpenAIMessage(m object) OpenAIMessage {
	m.require("role")
	m.refuse("audio", "the box reads texts")
	m.refuse("function_call", "use tool_calls")
	read := OpenAIMessage{
		Role:      choice(m, "role", OpenAISystem, OpenAIDeveloper, OpenAIUser, OpenAIAssistant, OpenAIToolRole),
		Content:   readOpenAIContent(m),
		ToolCalls: each(m, "tool_calls", MaxOpenAITools, readOpenAIToolCall),
	}
	read.ToolCallID = m.text("tool_call_id", MaxCustomSessionIDChars)
	_, hasContent := m.get("content")
	switch {
	case m.shape != nil || read.Role == "":
	case read.Role == OpenAIToolRole && read.ToolCallID == "":
		m.note("tool_call_id", "missing", "missing; a message of the role tool answers a call")
	case len(read.ToolCalls) > 0 && read.Role != OpenAIAssistant:
		m.note("tool_calls", "wrong_value", "only for the role assistant")
	case !hasContent && (read.Role != OpenAIAssistant || len(read.ToolCalls) == 0):
		m.note("content", "missing", "missing; it is required")
	}
	return read
}

// readOpenAIContent parses a text, or parts of type text, which are joined.
func readOpenAIContent(m object) string {
	const name = "content"
	m.expect(name, Shape{}) // a text or a list
	raw, ok := m.get(name)
	if !ok {
		return ""
	}
	if kindOf(raw) != "list" {
		return m.text(name, MaxPromptChars)
	}
	var all []string
	for _, part := range m.list(name, MaxOpenAIMessages) {
		switch kind := part.text("type", MaxModelResourceChars); kind {
		case "text":
			part.require("text")
			all = append(all, part.text("text", MaxPromptChars))
		case "refusal":
			all = append(all, part.text("refusal", MaxPromptChars))
		default:
			part.note("type", "wrong_value", fmt.Sprintf("%q is not supported; the box reads parts of type text",
				Clip(kind)))
		}
	}
	text := strings.Join(all, "")
	if n := utf8.RuneCountInString(text); n > MaxPromptChars {
		m.note(name, "wrong_value", fmt.Sprintf("%d characters; at most %d are allowed", n, MaxPromptChars))
	}
	return text
}

func readOpenAIToolCall(c object) OpenAIToolCall {
	c.require("id", "function")
	read := OpenAIToolCall{ID: c.nonBlank("id", MaxCustomSessionIDChars), Type: choice(c, "type", "function")}
	if f, ok := c.object("function"); ok {
		f.require("name", "arguments")
		read.Function = OpenAICalledByName{
			Name:      f.nonBlank("name", MaxToolNameChars),
			Arguments: f.text("arguments", MaxPromptChars),
		}
	}
	return read
}

func readOpenAITool(t object) OpenAITool {
	t.require("type", "function")
	read := OpenAITool{Type: choice(t, "type", "function")}
	f, ok := t.object("function")
	if !ok {
		return read
	}
	f.refuseOthers("name", "description", "parameters", "strict")
	f.require("name")
	read.Function = OpenAIFunction{
		Name:        f.text("name", MaxToolNameChars),
		Description: f.text("description", MaxOpenAIDescriptionChars),
		Parameters:  f.openAISchema("parameters"),
	}
	if f.shape == nil && read.Function.Name != "" && !functionName.MatchString(read.Function.Name) {
		f.note("name", "wrong_value", fmt.Sprintf("%q is not allowed; expected letters, digits, _ and -",
			Clip(read.Function.Name)))
	}
	return read
}

var functionName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// openAISchema parses a field that is a JSON Schema.
func (o object) openAISchema(name string) json.RawMessage {
	o.expect(name, Shape{Kind: "object"})
	raw, ok := o.get(name)
	switch {
	case !ok:
		return nil
	case kindOf(raw) != "object":
		o.wrongType(name, "an object", raw)
	case len(raw) > MaxOpenAISchemaBytes:
		o.note(name, "wrong_value", fmt.Sprintf("%d bytes; at most %d are allowed", len(raw), MaxOpenAISchemaBytes))
	}
	return bytes.Clone(raw)
}

func readOpenAIToolChoice(o object) OpenAIToolChoice {
	const name = "tool_choice"
	o.expect(name, Shape{}) // a word or an object
	raw, ok := o.get(name)
	if !ok {
		return OpenAIToolChoice{}
	}
	if kindOf(raw) != "object" {
		var word string
		if json.Unmarshal(raw, &word) != nil || !slices.Contains([]string{"none", "auto", "required"}, word) {
			o.note(name, "wrong_value", excerpt(raw)+
				` is not allowed; allowed: "none", "auto", "required", or {"type":"function","function":{"name":…}}`)
		}
		return OpenAIToolChoice{Mode: word}
	}
	c, _ := o.object(name)
	c.require("type", "function")
	choice(c, "type", "function")
	f, ok := c.object("function")
	if !ok {
		return OpenAIToolChoice{}
	}
	f.require("name")
	return OpenAIToolChoice{Mode: "required", Name: f.nonBlank("name", MaxToolNameChars)}
}

func readOpenAIResponseFormat(f object) OpenAIResponseFormat {
	f.require("type")
	read := OpenAIResponseFormat{
		Type: choice(f, "type", OpenAIFormText, OpenAIFormObject, OpenAIFormSchema),
		JSONSchema: optional(f, "json_schema", func(s object) OpenAISchema {
			s.require("name", "schema")
			s.refuseOthers("name", "description", "schema", "strict")
			return OpenAISchema{
				Name:        s.nonBlank("name", MaxToolNameChars),
				Description: s.text("description", MaxOpenAIDescriptionChars),
				Schema:      s.openAISchema("schema"),
			}
		}),
	}
	if read.Type == OpenAIFormSchema && f.shape == nil {
		f.require("json_schema")
	}
	return read
}

// readOpenAIStops parses a text or a list of texts.
func readOpenAIStops(o object) []string {
	const name = "stop"
	o.expect(name, Shape{}) // a text or a list
	raw, ok := o.get(name)
	if !ok {
		return nil
	}
	if kindOf(raw) == "string" {
		if s := o.text(name, MaxOpenAIStopChars); s != "" {
			return []string{s}
		}
		return nil
	}
	var all []string
	for i, item := range o.items(name, MaxOpenAIStops) {
		var s string
		if json.Unmarshal(item, &s) != nil || s == "" || utf8.RuneCountInString(s) > MaxOpenAIStopChars {
			o.in(name).note(i, "wrong_value", fmt.Sprintf("%s is not allowed; expected a text of 1 to %d characters",
				excerpt(item), MaxOpenAIStopChars))
		}
		all = append(all, s)
	}
	return all
}
