package openai

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/schema"
)

// Message says how a message ended, and what it took.
type Message struct {
	Finish contract.OpenAIFinish
	Usage  contract.OpenAIChatUsage
}

// Chat writes the next message of a conversation of an account, part by part. The errors are those of package contract.
func (s *Service) Chat(ctx context.Context, account string, p contract.PostedOpenAIChat,
	emit func(engine.Part) error) (Message, error) {
	model, err := s.languageModel(p.Model)
	if err != nil {
		return Message{}, err
	}
	if err := checkTools(model, p); err != nil {
		return Message{}, err
	}
	leave, err := enter(ctx, s.chats, account, "chat completions")
	if err != nil {
		return Message{}, err
	}
	defer leave()
	urgency, stop := s.urgency(ctx)
	defer stop()
	w := &writer{model: model, posted: p, prompt: promptOf(account, p, urgency), emit: emit}
	err = w.write(ctx)
	if err != nil && !errors.Is(err, errStopped) {
		return Message{}, refusal(p, err)
	}
	return w.message(), nil
}

// languageModel returns the model with a name.
func (s *Service) languageModel(name string) (engine.LanguageModel, error) {
	names := []string{Default}
	for i, m := range s.LanguageModels {
		if slices.Contains(m.Names, name) || i == 0 && name == Default {
			return m.LanguageModel, nil
		}
		names = append(names, m.Names...)
	}
	return nil, noModel(name, "answer", names)
}

// checkTools returns an error for a tool that a model cannot call.
func checkTools(model engine.LanguageModel, p contract.PostedOpenAIChat) error {
	checks, ok := model.(engine.ToolChecker)
	if !ok {
		return nil
	}
	for i, t := range p.Tools {
		if err := checks.CheckTool(t.Function.Name, t.Function.Parameters); err != nil {
			return contract.ErrInvalid{Field: fmt.Sprintf("tools[%d].function.parameters", i), Why: err.Error()}
		}
	}
	return nil
}

// promptOf returns the prompt of a request.
func promptOf(account string, p contract.PostedOpenAIChat, u *engine.Urgency) engine.Prompt {
	prompt := engine.Prompt{
		MaxTokens:   p.Tokens(),
		Temperature: p.Temperature,
		Urgency:     u,
	}
	prompt.Conversation = conversationOf(account, p)
	for _, m := range p.Messages {
		message := engine.Message{Role: engine.Role(m.Role), Content: m.Content, CallID: m.ToolCallID}
		if m.Role == contract.OpenAIDeveloper {
			message.Role = engine.System
		}
		for _, c := range m.ToolCalls {
			message.Calls = append(message.Calls,
				engine.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		prompt.Messages = append(prompt.Messages, message)
	}
	return prompt
}

// conversationOf names the conversation of a request, so that what was computed for its last message is reused: by
// prompt_cache_key or, as clients rarely send one, by how it begins.
func conversationOf(account string, p contract.PostedOpenAIChat) string {
	key := p.PromptCacheKey
	if key == "" {
		begin := sha256.New()
		for _, m := range p.Messages {
			fmt.Fprintf(begin, "%s %d %s", m.Role, len(m.Content), m.Content)
			if m.Role == contract.OpenAIUser {
				break
			}
		}
		key = string(begin.Sum(nil))
	}
	return "openai\x00" + account + "\x00" + key
}

// writer writes one message.
type writer struct {
	model  engine.LanguageModel
	posted contract.PostedOpenAIChat
	prompt engine.Prompt
	emit   func(engine.Part) error

	usage  engine.Usage // of all calls of the model
	last   int          // tokens of the last reply
	called bool
	cut    bool // a text of Stop came
}

// errStopped ends a reply at a text of Stop.
var errStopped = errors.New("openai: a stop text came")

// errWords ends a reply that is to be written again in another form.
var errWords = errors.New("openai: the model answers in words")

// write writes the message: a call if the request requires one, a call or words if it allows both, else words.
func (w *writer) write(ctx context.Context) error {
	grammar, err := w.grammar()
	if err != nil {
		return err
	}
	choice := w.posted.ToolChoice
	switch {
	case choice.Mode == "required":
		return w.call(ctx, choice.Name)
	case len(w.posted.Tools) == 0 || choice.Mode == "none" && grammar != "":
		return w.words(ctx, grammar, nil)
	case grammar == "":
		return w.words(ctx, "", w.tools())
	}
	// An engine applies a grammar to words only, so it is first asked whether it calls a tool.
	p := w.prompt
	p.Tools = w.tools()
	err = w.generate(ctx, p, func(part engine.Part) error {
		if part.Call == nil {
			return errWords
		}
		return w.take(part)
	})
	if errors.Is(err, errWords) || err == nil && !w.called {
		return w.words(ctx, grammar, nil)
	}
	return err
}

// words writes words, which a grammar constrains, or a call of one of the tools.
func (w *writer) words(ctx context.Context, grammar string, tools []engine.Tool) error {
	p := w.prompt
	p.Grammar, p.Tools, p.NoToolCalls = grammar, tools, w.posted.ToolChoice.Mode == "none"
	if grammar != "" {
		p.Messages = withInstruction(p.Messages, w.formInstruction())
	}
	stops := newStopper(w.posted.Stop, func(text string) error { return w.emit(engine.Part{Text: text}) })
	err := w.generate(ctx, p, func(part engine.Part) error {
		if part.Call != nil {
			return w.take(part)
		}
		return stops.add(part.Text)
	})
	w.cut = errors.Is(err, errStopped)
	if err == nil {
		err = stops.end()
	}
	return err
}

// take passes a call on.
func (w *writer) take(part engine.Part) error {
	w.called = true
	return w.emit(part)
}

// call writes a call of the tool with a name, or of the one that the model chooses.
func (w *writer) call(ctx context.Context, name string) error {
	if name == "" {
		var err error
		if name, err = w.chooseTool(ctx); err != nil {
			return err
		}
	}
	i := slices.IndexFunc(w.posted.Tools, func(t contract.OpenAITool) bool { return t.Function.Name == name })
	f := w.posted.Tools[i].Function
	arguments := "{}"
	if len(f.Parameters) > 0 {
		grammar, err := schema.Grammar(f.Parameters)
		if err != nil {
			return contract.ErrInvalid{Field: fmt.Sprintf("tools[%d].function.parameters", i), Why: err.Error()}
		}
		says := fmt.Sprintf("Call the function %s now: %s\nWrite its arguments as JSON that fits this schema:\n%s",
			f.Name, f.Description, f.Parameters)
		if arguments, err = w.constrained(ctx, grammar, says); err != nil {
			return err
		}
	}
	return w.take(engine.Part{Call: &engine.ToolCall{ID: "call_" + contract.NewID(), Name: name, Arguments: arguments}})
}

// chooseTool has the model write the name of a tool.
func (w *writer) chooseTool(ctx context.Context) (string, error) {
	if len(w.posted.Tools) == 1 {
		return w.posted.Tools[0].Function.Name, nil
	}
	var says strings.Builder
	says.WriteString("Write the name of the function that fits the last message best:\n")
	var names []json.RawMessage
	for _, t := range w.posted.Tools {
		fmt.Fprintf(&says, "%s: %s\n", t.Function.Name, t.Function.Description)
		name, err := json.Marshal(t.Function.Name)
		if err != nil {
			return "", err
		}
		names = append(names, name)
	}
	one, err := json.Marshal(map[string]any{"enum": names})
	if err != nil {
		return "", err
	}
	grammar, err := schema.Grammar(one)
	if err != nil {
		return "", err
	}
	text, err := w.constrained(ctx, grammar, says.String())
	if err != nil {
		return "", err
	}
	var name string
	err = json.Unmarshal([]byte(text), &name)
	return name, err
}

// constrained returns a reply that a grammar constrains.
func (w *writer) constrained(ctx context.Context, grammar, instruction string) (string, error) {
	p := w.prompt
	p.Grammar, p.Messages = grammar, withInstruction(p.Messages, instruction)
	var text strings.Builder
	err := w.generate(ctx, p, func(part engine.Part) error {
		text.WriteString(part.Text)
		return nil
	})
	return text.String(), err
}

// generate calls the model, and counts what it took.
func (w *writer) generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) error {
	u, err := w.model.Generate(ctx, p, emit)
	w.usage.PromptTokens += u.PromptTokens
	w.usage.CachedTokens += u.CachedTokens
	w.usage.ReplyTokens += u.ReplyTokens
	w.last = u.ReplyTokens
	return err
}

func (w *writer) tools() []engine.Tool {
	var all []engine.Tool
	for _, t := range w.posted.Tools {
		all = append(all, engine.Tool{
			Name:        t.Function.Name,
			Description: t.Function.Description,
			Parameters:  t.Function.Parameters,
		})
	}
	return all
}

// grammar returns the grammar of the form that the request asks for; empty: none.
func (w *writer) grammar() (string, error) {
	f := w.posted.ResponseFormat
	switch {
	case f == nil || f.Type == contract.OpenAIFormText:
		return "", nil
	case f.Type == contract.OpenAIFormObject:
		return schema.Grammar([]byte(`{"type":"object"}`))
	}
	g, err := schema.Grammar(f.JSONSchema.Schema)
	if err != nil {
		err = contract.ErrInvalid{Field: "response_format.json_schema.schema", Why: err.Error()}
	}
	return g, err
}

// formInstruction tells the model the form, since a small model writes nonsense in a form that it does not know.
func (w *writer) formInstruction() string {
	f := w.posted.ResponseFormat.JSONSchema
	if f == nil {
		return "Answer with a JSON object and nothing else."
	}
	says := "Answer with JSON that fits this schema, and nothing else:\n" + string(f.Schema)
	if f.Description != "" {
		says = f.Description + "\n" + says
	}
	return says
}

// withInstruction adds an instruction to the system message.
func withInstruction(messages []engine.Message, says string) []engine.Message {
	if len(messages) == 0 || messages[0].Role != engine.System {
		return append([]engine.Message{{Role: engine.System, Content: says}}, messages...)
	}
	all := slices.Clone(messages)
	all[0].Content += "\n\n" + says
	return all
}

// message says how the message ended.
func (w *writer) message() Message {
	m := Message{Finish: contract.OpenAIStop, Usage: contract.OpenAIChatUsage{
		PromptTokens:     w.usage.PromptTokens,
		CompletionTokens: w.usage.ReplyTokens,
		TotalTokens:      w.usage.PromptTokens + w.usage.ReplyTokens,
		Details:          contract.OpenAIPromptTokenUsage{CachedTokens: w.usage.CachedTokens},
	}}
	switch {
	case w.called:
		m.Finish = contract.OpenAICalledTools
	case !w.cut && w.last >= w.prompt.MaxTokens:
		m.Finish = contract.OpenAILength
	}
	return m
}

// refusal returns an error of an engine as one of package contract.
func refusal(p contract.PostedOpenAIChat, err error) error {
	_, long := errors.AsType[engine.ErrTooLong](err)
	switch {
	case long:
		return errors.Join(contract.ErrInvalid{Field: "messages", Why: err.Error()}, err)
	case errors.Is(err, engine.ErrUnsupported):
		field, what := "response_format", "a form"
		if p.ToolChoice.Mode == "required" {
			field, what = "tool_choice", "a call that is required"
		}
		return contract.ErrInvalid{Field: field,
			Why: fmt.Sprintf("the model %s runs on another server, where the box cannot enforce %s", p.Model, what)}
	}
	for _, remote := range []error{engine.ErrUnreachable, engine.ErrConnection, engine.ErrTimedOut,
		engine.ErrOverloaded, engine.ErrBroken} {
		if errors.Is(err, remote) {
			return errors.Join(contract.ErrUnavailable{Why: remote.Error(), RetryAfter: retryAfter}, err)
		}
	}
	return err
}
