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

// PrefillDefault has the model read the box's own prompt, which chats without a
// config have. It returns when that is read: from then on the first chat is
// answered as quickly as the second.
func (h *Host) PrefillDefault(ctx context.Context) error {
	return h.prefill(ctx, h.Model, h.withPlugins(h.Defaults))
}

// PrefillRules has the model read the box's rules, with one or the other of which every
// prompt begins that a client brings, so that of a new one only the rest is new.
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

// Prefill has the model that a config names read the config's prompt, for all
// chats that will have it. It gives way to everybody else, so it may take long.
// A config that no chat can be opened with is no error.
func (h *Host) Prefill(ctx context.Context, c contract.ReturnConfig) error {
	if isCustom(c) {
		return nil // there is nothing to read before a chat begins
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
