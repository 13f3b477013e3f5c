package chat

import (
	"context"
	"errors"
	"time"

	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// PrefillDefault prefills the box's prompt, which chats without a config have. When it returns, the first chat
// is answered as quickly as the second.
func (h *Host) PrefillDefault(ctx context.Context) error {
	return h.prefill(ctx, h.Model, h.withPlugins(h.Defaults))
}

// PrefillRules prefills each set of the box's rules. One of them precedes every custom prompt, so only the rest
// of a new prompt remains to be prefilled.
func (h *Host) PrefillRules(ctx context.Context) error {
	s := h.withRules(h.Defaults, h.Model)
	for _, rules := range [...]string{s.Rules.Factual, s.Rules.Persona} {
		if rules == "" {
			continue
		}
		s.SystemPrompt = rules
		if err := h.prefill(ctx, h.Model, h.withPlugins(s)); err != nil {
			return err
		}
	}
	return nil
}

// Prefill prefills a config's prompt in the config's model, for all later chats with that config. It yields to
// all other work, so it may take long. A config that cannot open a chat is not an error.
func (h *Host) Prefill(ctx context.Context, c contract.ReturnConfig) error {
	if isCustom(c) {
		return nil // custom language models do not prefill
	}
	if c.Answers != nil && c.Answers.Mode == contract.AnswersOnly && len(c.Tools)+len(c.BuiltinTools) == 0 {
		return nil // the model has nothing to write
	}
	model, err := h.modelOf(c, "")
	if _, unusable := errors.AsType[contract.Fault](err); unusable {
		return nil
	}
	if err != nil {
		return err
	}
	return h.prefill(ctx, model, h.Settings(c, model))
}

func (h *Host) prefill(ctx context.Context, m engine.LanguageModel, s turn.Settings) error {
	return reply.Prefill(ctx, m, turn.NewState(s, time.Now(), nil).Conversation())
}
