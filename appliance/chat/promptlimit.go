package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// models returns the models that may answer in a chat.
func (s setup) models() []engine.LanguageModel {
	all := []engine.LanguageModel{s.model}
	for _, f := range s.fallback {
		all = append(all, f.Model)
	}
	return all
}

// promptTooLong returns the fault for settings that none of the models can read together with a user's
// message, or nil. Without this check, the chat would fail at the user's first words.
func promptTooLong(ctx context.Context, s turn.Settings, models []engine.LanguageModel) *contract.Fault {
	userContext := ""
	if s.Context != nil {
		userContext = s.Context.Text
	}
	err := reply.CheckPromptFits(ctx, turn.NewState(s, time.Now(), nil).Conversation(), userContext, models...)
	tooLong, ok := errors.AsType[engine.ErrTooLong](err)
	if !ok {
		return nil
	}
	return &contract.Fault{Code: contract.InvalidSettings, Detail: fmt.Sprintf(
		"system_prompt: together with the rest of the prompt (examples, variables, tools, the context, the box's "+
			"rules, %d words of the user) it is %d tokens for the language model; at most %d are allowed. Make one "+
			"of them shorter, or choose a language model with a larger context.",
		reply.MinUserWords, tooLong.Tokens, tooLong.Limit)}
}

// changesPrompt reports whether settings change what the model reads before each answer.
func changesPrompt(m contract.SessionSettings) bool {
	return m.SystemPrompt != nil || m.Context != nil || len(m.Variables) > 0 || m.Tools != nil || m.BuiltinTools != nil
}

// promptTooLong checks the settings in force overridden by m. The caller holds s.settingsLock.
func (s *Session) promptTooLong(m contract.SessionSettings) *contract.Fault {
	if !changesPrompt(m) {
		return nil
	}
	merged, fault := s.settings.Merge(m)
	if fault != nil {
		return nil // the state machine reports it
	}
	return promptTooLong(context.Background(), merged, s.models)
}
