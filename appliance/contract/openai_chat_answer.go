package contract

// OpenAIFinish is why a message ended.
type OpenAIFinish string

// The reasons.
const (
	OpenAIStop         OpenAIFinish = "stop"       // it is complete, or a text of stop came
	OpenAILength       OpenAIFinish = "length"     // it is as long as allowed
	OpenAICalledTools  OpenAIFinish = "tool_calls" // it calls a function
	openAIChat                      = "chat.completion"
	openAIChatChunk                 = "chat.completion.chunk"
	openAIChatIDPrefix              = "chatcmpl-"
)

// OpenAIChat is a chat completion.
type OpenAIChat struct {
	ID      string             `json:"id"`
	Object  string             `json:"object"`  // chat.completion
	Created int64              `json:"created"` // Unix time
	Model   string             `json:"model"`   // as the request names it
	Choices []OpenAIChatChoice `json:"choices"` // one
	Usage   OpenAIChatUsage    `json:"usage"`
}

// OpenAIChatChoice is the message of a completion.
type OpenAIChatChoice struct {
	Index        int              `json:"index"`
	Message      OpenAIChatAnswer `json:"message"`
	Logprobs     *struct{}        `json:"logprobs"` // null
	FinishReason OpenAIFinish     `json:"finish_reason"`
}

// OpenAIChatAnswer is the next message of a conversation.
type OpenAIChatAnswer struct {
	Role      OpenAIRole       `json:"role"` // assistant
	Content   *string          `json:"content"`
	Refusal   *string          `json:"refusal"` // null
	ToolCalls []OpenAIToolCall `json:"tool_calls,omitempty"`
}

// OpenAIChatUsage counts tokens.
type OpenAIChatUsage struct {
	PromptTokens     int                    `json:"prompt_tokens"`
	CompletionTokens int                    `json:"completion_tokens"`
	TotalTokens      int                    `json:"total_tokens"`
	Details          OpenAIPromptTokenUsage `json:"prompt_tokens_details"`
}

// OpenAIPromptTokenUsage says how many tokens of the prompt were computed before.
type OpenAIPromptTokenUsage struct {
	CachedTokens int `json:"cached_tokens"`
}

// OpenAIChatChunk is an event of a chat completion.
type OpenAIChatChunk struct {
	ID      string                  `json:"id"`
	Object  string                  `json:"object"` // chat.completion.chunk
	Created int64                   `json:"created"`
	Model   string                  `json:"model"`
	Choices []OpenAIChatChunkChoice `json:"choices"`
	Usage   *OpenAIChatUsage        `json:"usage,omitempty"`
}

// OpenAIChatChunkChoice is the next part of a message.
type OpenAIChatChunkChoice struct {
	Index        int             `json:"index"`
	Delta        OpenAIChatDelta `json:"delta"`
	FinishReason *OpenAIFinish   `json:"finish_reason"`
}

// OpenAIChatDelta is what a message gains.
type OpenAIChatDelta struct {
	Role      OpenAIRole            `json:"role,omitempty"`
	Content   *string               `json:"content,omitempty"`
	ToolCalls []OpenAIToolCallDelta `json:"tool_calls,omitempty"`
}

// OpenAIToolCallDelta is a whole call with its number among those of the message.
type OpenAIToolCallDelta struct {
	Index int `json:"index"`
	OpenAIToolCall
}

// NewOpenAIChat returns a completion without its choice, begun at a Unix time.
func NewOpenAIChat(model string, created int64) OpenAIChat {
	return OpenAIChat{ID: openAIChatIDPrefix + NewID(), Object: openAIChat, Created: created, Model: model}
}

// Chunk returns an event of the completion.
func (c OpenAIChat) Chunk(choices ...OpenAIChatChunkChoice) OpenAIChatChunk {
	if choices == nil {
		choices = []OpenAIChatChunkChoice{}
	}
	return OpenAIChatChunk{ID: c.ID, Object: openAIChatChunk, Created: c.Created, Model: c.Model, Choices: choices}
}
