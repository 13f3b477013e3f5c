package reply

import (
	"context"
	"errors"

	"parley/appliance/engine"
	"parley/appliance/engine/markup"
)

// unmarked is a language model whose replies are stripped of everything that is not to be spoken. Tool calls
// that the model writes as text become calls.
type unmarked struct {
	engine.LanguageModel
	throughput *Throughput
}

// errOver stops a model when nothing more of its reply will be said.
var errOver = errors.New("the reply is over")

// Generate calls the model and filters its reply.
func (m unmarked) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	tools := p.Tools
	if p.NoToolCalls {
		tools = nil
	}
	f := markup.New(tools, m.throughput.opensThought())
	called := false
	u, err := m.LanguageModel.Generate(ctx, p, func(part engine.Part) error {
		called = called || part.Call != nil
		written := part.Text != ""
		if part.Text = f.Push(part.Text); part.Text != "" || !written {
			if err := emit(part); err != nil {
				return err
			}
		}
		if f.Over() {
			return errOver
		}
		return context.Cause(ctx)
	})
	if errors.Is(err, errOver) {
		err = nil
	}
	whole := err == nil && (p.MaxTokens == 0 || u.ReplyTokens < p.MaxTokens)
	if rest := f.Rest(whole); rest != "" {
		if err := errors.Join(err, emit(engine.Part{Text: rest})); err != nil {
			return u, err
		}
	}
	if whole || f.UnopenedThought() {
		m.throughput.noteOpenThought(f.UnopenedThought())
	}
	if c := f.Call(); c != nil && !called && err == nil {
		return u, emit(engine.Part{Call: c})
	}
	return u, err
}
