package contract

import "time"

// Record returns the record of a config with the defaults of absent fields. The
// caller fills in ids, times, voice, prompt and tools.
func (c PostedConfigVersion) Record() ReturnConfig {
	return ReturnConfig{
		VersionDescription: c.VersionDescription,
		EVIVersion:         c.EVIVersion,
		PromptExpansion:    c.PromptExpansion,
		Examples:           c.Examples,
		Answers:            c.Answers,
		LanguageModel:      c.LanguageModel,
		EllmModel:          EllmModel{orDefault(deref(c.EllmModel).AllowShortResponses, true)},
		Tools:              []ReturnUserDefinedTool{},
		BuiltinTools:       c.builtinRecords(),
		EventMessages:      deref(c.EventMessages).record(),
		Timeouts:           deref(c.Timeouts).record(),
		TurnDetection:      deref(c.TurnDetection).record(),
		Interruption:       Interruption{orDefault(deref(c.Interruption).MinInterruptionMS, DefaultMinInterruptionMS)},
		Nudges:             deref(c.Nudges).record(),
		Webhooks:           append([]Webhook{}, c.Webhooks...),
	}
}

// deref returns what p points to, or the zero value.
func deref[T any](p *T) T {
	if p == nil {
		var none T
		return none
	}
	return *p
}

// orDefault returns p, or a pointer to the default if p is nil.
func orDefault[T any](p *T, otherwise T) *T {
	if p == nil {
		return &otherwise
	}
	return p
}

func (c PostedConfigVersion) builtinRecords() []ReturnBuiltinTool {
	tools := make([]ReturnBuiltinTool, len(c.BuiltinTools))
	for i, t := range c.BuiltinTools {
		tools[i] = ReturnBuiltinTool{
			ToolType:        RecordBuiltin,
			Name:            t.Name,
			FallbackContent: t.FallbackContent,
			Destinations:    t.Destinations,
		}
	}
	return tools
}

func (e EventMessages) record() EventMessages {
	return EventMessages{
		OnNewChat:            orDefault(e.OnNewChat, EventMessage{}),
		OnInactivityTimeout:  orDefault(e.OnInactivityTimeout, EventMessage{}),
		OnMaxDurationTimeout: orDefault(e.OnMaxDurationTimeout, EventMessage{}),
		OnMailbox:            e.OnMailbox,
	}
}

func (t Timeouts) record() Timeouts {
	return Timeouts{
		Inactivity:  t.Inactivity.record(DefaultInactivity),
		MaxDuration: t.MaxDuration.record(DefaultMaxDuration),
	}
}

// record returns the timeout with its defaults: enabled, unless it says
// otherwise.
func (t *Timeout) record(otherwise time.Duration) *Timeout {
	r := *orDefault(t, Timeout{Enabled: true})
	r.DurationSecs = orDefault(r.DurationSecs, int(otherwise.Seconds()))
	return &r
}

func (t TurnDetection) record() TurnDetection {
	return TurnDetection{
		Mode:                     t.Mode,
		EndOfTurnSilenceMS:       orDefault(t.EndOfTurnSilenceMS, DefaultEndOfTurnSilenceMS),
		SpeechDetectionThreshold: orDefault(t.SpeechDetectionThreshold, DefaultSpeechThreshold),
		PrefixPaddingMS:          orDefault(t.PrefixPaddingMS, DefaultPrefixPaddingMS),
	}
}

func (n Nudges) record() Nudges {
	return Nudges{Enabled: n.Enabled, IntervalSecs: orDefault(n.IntervalSecs, DefaultNudgeSecs)}
}
