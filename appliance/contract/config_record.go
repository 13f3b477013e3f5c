package contract

import "time"

// Record is the config as it is returned, with the defaults of all that was not
// posted. What others know is not in it yet: ids, times, voice, prompt, tools.
func (c PostedConfigVersion) Record() ReturnConfig {
	return ReturnConfig{
		VersionDescription: c.VersionDescription,
		EVIVersion:         c.EVIVersion,
		PromptExpansion:    c.PromptExpansion,
		Examples:           c.Examples,
		LanguageModel:      c.LanguageModel,
		EllmModel:          EllmModel{or(field(c.EllmModel).AllowShortResponses, true)},
		Tools:              []ReturnUserDefinedTool{},
		BuiltinTools:       c.builtinRecords(),
		EventMessages:      field(c.EventMessages).record(),
		Timeouts:           field(c.Timeouts).record(),
		TurnDetection:      field(c.TurnDetection).record(),
		Interruption:       Interruption{or(field(c.Interruption).MinInterruptionMS, DefaultMinInterruptionMS)},
		Nudges:             field(c.Nudges).record(),
		Webhooks:           append([]Webhook{}, c.Webhooks...),
	}
}

// field is what p points to, or one with nothing set.
func field[T any](p *T) T {
	if p == nil {
		var none T
		return none
	}
	return *p
}

// or is p, or the default where it is nil.
func or[T any](p *T, otherwise T) *T {
	if p == nil {
		return &otherwise
	}
	return p
}

func (c PostedConfigVersion) builtinRecords() []ReturnBuiltinTool {
	tools := make([]ReturnBuiltinTool, len(c.BuiltinTools))
	for i, t := range c.BuiltinTools {
		tools[i] = ReturnBuiltinTool{RecordBuiltin, t.Name, t.FallbackContent}
	}
	return tools
}

func (e EventMessages) record() EventMessages {
	return EventMessages{
		OnNewChat:            or(e.OnNewChat, EventMessage{}),
		OnInactivityTimeout:  or(e.OnInactivityTimeout, EventMessage{}),
		OnMaxDurationTimeout: or(e.OnMaxDurationTimeout, EventMessage{}),
	}
}

func (t Timeouts) record() Timeouts {
	return Timeouts{
		Inactivity:  t.Inactivity.record(DefaultInactivity),
		MaxDuration: t.MaxDuration.record(DefaultMaxDuration),
	}
}

// record is on where nothing was said of it.
func (t *Timeout) record(otherwise time.Duration) *Timeout {
	r := *or(t, Timeout{Enabled: true})
	r.DurationSecs = or(r.DurationSecs, int(otherwise.Seconds()))
	return &r
}

func (t TurnDetection) record() TurnDetection {
	return TurnDetection{
		Mode:                     t.Mode,
		EndOfTurnSilenceMS:       or(t.EndOfTurnSilenceMS, DefaultEndOfTurnSilenceMS),
		SpeechDetectionThreshold: or(t.SpeechDetectionThreshold, DefaultSpeechThreshold),
		PrefixPaddingMS:          or(t.PrefixPaddingMS, DefaultPrefixPaddingMS),
	}
}

func (n Nudges) record() Nudges {
	return Nudges{Enabled: n.Enabled, IntervalSecs: or(n.IntervalSecs, DefaultNudgeSecs)}
}
