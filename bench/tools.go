package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/appliance/engine"
	"parley/appliance/engine/llama"
	"parley/appliance/engines"
)

// Tools measures how well the language model chooses when to call a tool, and with which
// arguments.
func Tools(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	if o.Half != "" && o.Half != tunedHalf && o.Half != heldHalf {
		return Report{}, &ErrOption{fmt.Sprintf("half is %q; allowed are %s and %s", o.Half, tunedHalf, heldHalf)}
	}
	sets, names, err := readToolsets()
	if err != nil {
		return Report{}, err
	}
	for _, part := range o.Only {
		if !slices.Contains(names, part) {
			return Report{},
				&ErrOption{fmt.Sprintf("only: %q is not an assistant; allowed are %s", part, strings.Join(names, ", "))}
		}
	}
	r := o.aboutModel("tools")
	opened, err := engines.Open(ctx, o.Config, engines.Thinking, o.Log)
	if err != nil {
		return r, err
	}
	defer opened.Close()
	for _, half := range []string{heldHalf, tunedHalf} {
		if o.Half != "" && half != o.Half {
			continue
		}
		t := toolCounts{model: opened.Model, announce: o.announce}
		for _, name := range names {
			if len(o.Only) > 0 && !slices.Contains(o.Only, name) {
				continue
			}
			o.announce("%s, %s", name, half)
			requests := sets[name].Held
			if half == tunedHalf {
				requests = sets[name].Tuned
			}
			for _, request := range requests {
				if err := t.measure(ctx, sets[name], request, o.RoutesOnly); err != nil {
					return r, err
				}
			}
		}
		t.report(&r, half)
	}
	return r, nil
}

// measure has the model route and answer one request. As while the user speaks, all but
// the last two words are prefilled.
func (t *toolCounts) measure(ctx context.Context, s toolset, request toolRequest, routesOnly bool) error {
	tools, messages := s.tools(), request.messages(s.Prompt)
	if request.afterResult() {
		return t.continueTurn(ctx, request, messages, tools, routesOnly)
	}
	t.requests++
	prompt := engine.Prompt{
		Conversation: "tools",
		Messages:     messages,
		Tools:        tools,
		MaxTokens:    replyTokens,
		Urgency:      engine.Live.Urgency(),
	}
	if err := t.route(ctx, request, prompt); err != nil || routesOnly {
		return err
	}
	defer t.model.Forget("tools")
	if request.Call == "" {
		if err := t.answerWithoutTools(ctx, prompt); err != nil {
			return err
		}
	}
	return t.answer(ctx, request, prompt)
}

// route times and counts the decision which tool the request needs. Models on servers
// decide that as they answer.
func (t *toolCounts) route(ctx context.Context, request toolRequest, prompt engine.Prompt) error {
	if err := t.prefill(ctx, prompt); err != nil {
		return err
	}
	m, ok := t.model.(*llama.Model)
	if !ok {
		return nil
	}
	begun := time.Now()
	tool, _, err := m.Route(ctx, prompt)
	if err != nil {
		return err
	}
	t.routes = append(t.routes, milliseconds(time.Since(begun)))
	t.countRoute(request, tool)
	return nil
}

// answerWithoutTools times the first words of the answer of an assistant that has no
// tools.
func (t *toolCounts) answerWithoutTools(ctx context.Context, p engine.Prompt) error {
	p.Conversation, p.Tools, p.MaxTokens = "plain", nil, 1
	defer t.model.Forget(p.Conversation)
	if err := t.prefill(ctx, p); err != nil {
		return err
	}
	_, _, first, err := t.generate(ctx, p)
	if err == nil {
		t.without = append(t.without, first)
	}
	return err
}

// answer has the model answer or call, and counts what it did.
func (t *toolCounts) answer(ctx context.Context, request toolRequest, p engine.Prompt) error {
	p.Conversation = "tools again"
	defer t.model.Forget(p.Conversation)
	if err := t.prefill(ctx, p); err != nil {
		return err
	}
	call, text, first, err := t.generate(ctx, p)
	if err != nil {
		return err
	}
	if request.Call == "" && call == nil {
		t.with = append(t.with, first)
	}
	t.without = t.without[:len(t.with)] // without the partner of an answer that was a call
	t.countCall(request, call, text)
	return nil
}

// continueTurn has the model go on with a turn after the result of a tool.
func (t *toolCounts) continueTurn(ctx context.Context, request toolRequest, messages []engine.Message,
	tools []engine.Tool, routesOnly bool) error {
	if routesOnly {
		return nil
	}
	defer t.model.Forget("goes on")
	call, text, _, err := t.generate(ctx, engine.Prompt{
		Conversation: "goes on",
		Messages:     messages,
		Tools:        tools,
		MaxTokens:    replyTokens,
		Urgency:      engine.Live.Urgency(),
	})
	if err != nil {
		return err
	}
	right := call != nil && call.Name == request.Call && request.argumentsMatch(call.Arguments)
	switch {
	case request.Call == "" && call == nil:
		t.finished++
	case request.Call == "":
		t.finished++
		t.repeated++
		t.announce("called %s %s once more: %q", call.Name, call.Arguments, request.Conversation[0])
	default:
		t.pairs++
		if right {
			t.secondRight++
		} else {
			t.announce("did %v and said %q instead of calling %s: %q", call, text, request.Call,
				request.Conversation[0])
		}
	}
	return nil
}

// prefill prefills the prompt without its last two words, which the user still speaks.
func (t *toolCounts) prefill(ctx context.Context, p engine.Prompt) error {
	p.Messages = slices.Clone(p.Messages)
	last := &p.Messages[len(p.Messages)-1]
	words := strings.Fields(last.Content)
	last.Content = strings.Join(words[:max(len(words)-2, 0)], " ")
	if last.Content == "" {
		p.Messages = p.Messages[:len(p.Messages)-1]
	}
	p.Urgency = engine.Prefetch.Urgency()
	return t.model.Prefill(ctx, p)
}

// generate returns the model's call, if it makes one, its text, and how long the first
// part took, in milliseconds.
func (t *toolCounts) generate(ctx context.Context, p engine.Prompt) (call *engine.ToolCall, text string, first float64,
	err error) {
	var said strings.Builder
	begun := time.Now()
	_, err = t.model.Generate(ctx, p, func(part engine.Part) error {
		if first == 0 {
			first = milliseconds(time.Since(begun))
		}
		if part.Call != nil {
			call = part.Call
		}
		said.WriteString(part.Text)
		return nil
	})
	return call, said.String(), first, err
}
