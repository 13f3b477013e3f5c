package chat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// Configs finds the configs that chats are opened with.
type Configs interface {
	// Config returns a version of the account's config, the newest if version is nil. It returns
	// store.ErrNotFound if there is none.
	Config(ctx context.Context, account, id string, version *int) (contract.ReturnConfig, error)
}

// setup is the configuration of a chat when it begins.
type setup struct {
	settings  turn.Settings
	model     engine.LanguageModel
	custom    bool // the model is a custom language model, opened for this chat
	fallback  []reply.Fallback
	config    store.ConfigRef
	requested contract.SessionSettings // by the client, at connect
	metadata  string                   // of the chat, JSON
	webhooks  []contract.Webhook       // to be notified
	approved  reply.ApprovedAnswers    // of the config
}

// setUp returns the defaults overridden by the client's config and by what the client sent at connect. If
// something is not available, the error is a contract.Fault.
func (h *Host) setUp(ctx context.Context, o connection.Opening) (setup, error) {
	p := o.Settings
	c := setup{settings: h.withRules(h.Defaults, h.Model), model: h.Model, requested: p.SessionSettings}
	c.requested.VoiceID, c.requested.EventLimit = p.VoiceID, p.EventLimit
	c.metadata = o.Call.Metadata(p.SessionSettings.Metadata)
	if p.ConfigID != "" {
		config, err := h.Configs.Config(ctx, o.Account, p.ConfigID, p.ConfigVersion)
		if errors.Is(err, store.ErrNotFound) {
			return c, contract.Fault{Code: contract.ConfigNotFound, Detail: configNotFound(p)}
		}
		if err != nil {
			return c, fmt.Errorf("beginning a chat: %w", err)
		}
		c.config = store.ConfigRef{ID: config.ID, Version: config.Version}
		c.webhooks = config.Webhooks
		if c.model, err = h.modelOf(config, o.RequestID); err != nil {
			return c, err
		}
		c.settings = h.Settings(config, c.model)
		c.custom = isCustom(config)
		if c.fallback, err = h.fallbackOf(config, c.model, o.RequestID); err != nil {
			return c, err
		}
	} else {
		c.settings = h.withPlugins(c.settings)
		c.fallback = h.boxFallback(c.model)
	}
	var err error
	if c.settings, err = h.withConnectSettings(o.Account, c.settings, p); err != nil {
		return c, err
	}
	c.approved = h.approvedAnswers(ctx, c, o)
	if o.Tools == nil {
		c.settings = c.settings.WithoutLineTools()
	}
	if fault := promptTooLong(ctx, c.settings, c.models()); fault != nil {
		return c, *fault
	}
	return c, nil
}

func configNotFound(p contract.ConnectSettings) string {
	if p.ConfigVersion != nil {
		return fmt.Sprintf("config_id: no version %d of a config %q", *p.ConfigVersion, p.ConfigID)
	}
	return fmt.Sprintf("config_id: no config %q", p.ConfigID)
}

// Settings returns the settings of a chat with a config that is answered by model m.
func (p Parts) Settings(c contract.ReturnConfig, m engine.LanguageModel) turn.Settings {
	s := withConfig(p.withRules(p.Defaults, m), c)
	if c.Prompt != nil && c.Prompt.PromptExpansion != nil && c.Prompt.PromptExpansion.Enabled != nil &&
		!*c.Prompt.PromptExpansion.Enabled {
		s.Rules.Factual, s.Rules.Persona = "", "" // the author wants the prompt to stand alone
	}
	return p.withPlugins(s)
}

// withPlugins adds the box's installed plugins to s.
func (p Parts) withPlugins(s turn.Settings) turn.Settings {
	if p.Plugins == nil {
		return s
	}
	return s.WithPlugins(p.Plugins.Installed())
}

// withRules adds the box's rules for a model to s.
func (p Parts) withRules(s turn.Settings, m engine.LanguageModel) turn.Settings {
	if p.Rules != nil {
		s.Rules = p.Rules(m)
	}
	return s
}

// withConfig returns s overridden by a config. A stored config has every field, at least as a default; if its
// prompt was deleted, it has none.
func withConfig(s turn.Settings, c contract.ReturnConfig) turn.Settings {
	if isCustom(c) {
		s.SystemPrompt, s.Rules = "", turn.Rules{} // a custom language model has its own prompt
	}
	if c.Prompt != nil && c.Prompt.Text != "" {
		s.SystemPrompt, s.CustomPrompt = c.Prompt.Text, true
	}
	s.Examples, s.Answers = c.Examples, c.Answers
	if c.Voice != nil {
		s.Voice = c.Voice.ID
	}
	if m := c.LanguageModel; m != nil && m.Temperature != nil {
		s.Temperature = *m.Temperature
	}
	if mode := c.TurnDetection.Mode; mode != "" {
		s.Semantic = mode == contract.TurnSemantic
	}
	s.Threshold = *c.TurnDetection.SpeechDetectionThreshold
	s.PrefixPadding = milli(c.TurnDetection.PrefixPaddingMS)
	s.EndOfTurnSilence = milli(c.TurnDetection.EndOfTurnSilenceMS)
	s.MinInterruption = milli(c.Interruption.MinInterruptionMS)
	s.Inactivity = timeout(c.Timeouts.Inactivity)
	s.MaxDuration = timeout(c.Timeouts.MaxDuration)
	s.OnNewChat, s.OnInactivity, s.OnMaxDuration = event(c.EventMessages.OnNewChat),
		event(c.EventMessages.OnInactivityTimeout), event(c.EventMessages.OnMaxDurationTimeout)
	if c.Nudges.Enabled {
		s.Nudge = time.Duration(*c.Nudges.IntervalSecs) * time.Second
	}
	s.QuickResponses = *c.EllmModel.AllowShortResponses
	for _, t := range c.Tools {
		s.Tools = append(s.Tools, turn.Tool{
			Name:        t.Name,
			Description: t.Description,
			Parameters:  t.Parameters,
			Fallback:    t.FallbackContent,
			Plugin:      t.Plugin,
			FromPlugin:  t.Plugin != "",
			Stored:      t.Plugin == "",
		})
	}
	for _, t := range c.BuiltinTools {
		s.Tools = append(s.Tools, turn.Builtin(contract.BuiltinToolConfig{
			Name:            t.Name,
			FallbackContent: t.FallbackContent,
			Destinations:    t.Destinations,
		}))
	}
	return s
}

// event returns an event message; nil is a disabled one.
func event(m *contract.EventMessage) contract.EventMessage {
	if m == nil {
		return contract.EventMessage{}
	}
	return *m
}

func milli(ms *int) time.Duration { return time.Duration(*ms) * time.Millisecond }

// timeout returns a timeout of a chat. A disabled one is the longest possible.
func timeout(t *contract.Timeout) time.Duration {
	if !t.Enabled {
		return contract.MaxTimeout
	}
	return time.Duration(*t.DurationSecs) * time.Second
}

// DefaultPrompt is the prompt for chats whose config has none. It states what the assistant is and gives
// examples, because a small model otherwise names the maker that its training texts mention most. It is short,
// because every chat begins with its prefill.
const DefaultPrompt = `You are the voice assistant on this box: friendly, a program and no human. Everything you ` +
	`write is spoken aloud, so answer in one or two short, natural sentences, without lists, markup, emoji or code. ` +
	`Answer from what you were told and from common knowledge. If you do not know, say so plainly. You cannot do ` +
	`things in the world: never say that you have done, booked, sent, called or changed anything. If you did not ` +
	`understand, ask one short question.

Question: Who made you? Answer: I'm the voice assistant on this box, more I don't know about myself.
Question: What is your name? Answer: I have none, I'm the voice assistant on this box.
Question: Are you a human? Answer: No, I'm the voice assistant on this box.

The time now is {{now}}.{{answer_language}}`

// DefaultSettings returns the interface's defaults with the box's own prompt.
func DefaultSettings() turn.Settings {
	s := turn.DefaultSettings()
	s.SystemPrompt = DefaultPrompt
	return s
}

// withConnectSettings returns s overridden by what the client sent at connect.
func (h *Host) withConnectSettings(account string, s turn.Settings, p contract.ConnectSettings) (turn.Settings, error) {
	s, fault := s.Merge(p.SessionSettings)
	if fault != nil {
		return s, *fault
	}
	if p.VoiceID != "" {
		s.Voice = p.VoiceID
	}
	if err := h.Voices.Prepare(account, s.Voice); err != nil {
		return s, voiceFault(contract.VoiceNotFound, err)
	}
	s.Verbose = p.VerboseTranscription
	if p.SoundAheadSecs > 0 {
		s.Lead = time.Duration(p.SoundAheadSecs) * time.Second
	}
	return s, nil
}
