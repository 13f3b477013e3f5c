package turn

import (
	"maps"
	"reflect"
	"strings"
	"time"

	"parley/appliance/contract"
)

// Settings are what holds for a conversation: the box's defaults, over them
// the config's, over them what the client sent in session_settings.
type Settings struct {
	// SystemPrompt is the prompt as written, its variables not filled in.
	SystemPrompt string
	Variables    map[string]string
	// Context is appended to the user's messages for the model's eyes only;
	// nil is none.
	Context *contract.Context
	// Voice names the voice; empty is the box's default.
	Voice           string
	Speed           float64
	Temperature     float64
	CustomSessionID string
	// Audio is the format of headerless audio; nil is a container that says
	// itself what it is.
	Audio *contract.AudioConfiguration

	// Threshold, PrefixPadding and EndOfTurnSilence are the config's
	// turn_detection, MinInterruption its interruption.
	Threshold        float64
	PrefixPadding    time.Duration
	EndOfTurnSilence time.Duration
	MinInterruption  time.Duration
	Inactivity       time.Duration
	MaxDuration      time.Duration

	// OnNewChat is what the assistant says first, if it is to: the config's
	// event_messages.on_new_chat.
	OnNewChat contract.EventMessage

	// Verbose asks for interim user messages.
	Verbose bool
}

// DefaultSettings are the interface's defaults; of a prompt it has none.
func DefaultSettings() Settings {
	return Settings{
		Speed:            1,
		Threshold:        contract.DefaultSpeechThreshold,
		PrefixPadding:    contract.DefaultPrefixPaddingMS * time.Millisecond,
		EndOfTurnSilence: contract.DefaultEndOfTurnSilenceMS * time.Millisecond,
		MinInterruption:  contract.DefaultMinInterruptionMS * time.Millisecond,
		Inactivity:       contract.DefaultInactivity,
		MaxDuration:      contract.DefaultMaxDuration,
	}
}

// apply puts in force what the client sent, all of it or nothing.
func (s *State) apply(out *effects, m contract.SessionSettings) {
	merged, fault := s.settings.Merge(m)
	if fault != nil {
		s.faulty(out, *fault)
		return
	}
	before := s.prompt
	s.settings, s.prompt = merged, merged.Prompt(s.begun)
	if s.prompt != before {
		out.add(Prefill{s.conversation()})
	}
	s.tellSettings(out, m)
	if m.Metadata != nil {
		s.tell(out, Noted{m.Metadata})
	}
}

// tellSettings tells what was asked for and applied, where it is anything.
func (s *State) tellSettings(out *effects, m contract.SessionSettings) {
	m.LanguageModelAPIKey = "" // a secret has no place in the history
	if !reflect.DeepEqual(m, contract.SessionSettings{}) {
		s.tell(out, SettingsApplied{m})
	}
}

// Merge lays what the client sent over what is in force, field by field. Like
// every method of a State it leaves the old maps as they are.
func (s Settings) Merge(m contract.SessionSettings) (Settings, *contract.Fault) {
	if m.SystemPrompt != nil {
		if strings.TrimSpace(*m.SystemPrompt) == "" {
			return s, &contract.Fault{Code: contract.InvalidSettings, Detail: "system_prompt is empty; leave it out to keep the prompt in force"}
		}
		s.SystemPrompt = *m.SystemPrompt
	}
	if m.Audio != nil {
		format := *m.Audio
		s.Audio = &format
	}
	if m.Context != nil || m.ClearContext {
		s.Context = m.Context
	}
	if m.CustomSessionID != "" {
		s.CustomSessionID = m.CustomSessionID
	}
	if m.VoiceID != "" {
		s.Voice = m.VoiceID
	}
	if len(m.Variables) > 0 {
		s.Variables = maps.Clone(s.Variables)
		if s.Variables == nil {
			s.Variables = make(map[string]string, len(m.Variables))
		}
		for name, value := range m.Variables {
			s.Variables[name] = value.String()
		}
	}
	return s, nil
}

// Prompt is the system prompt with its variables filled in. {{now}} is when the
// chat began: a prompt that changed with every turn would have to be read anew.
func (s Settings) Prompt(begun time.Time) string { return s.Fill(s.SystemPrompt, begun) }

// Fill puts the values of variables into a text, and of {{now}} where nobody
// set it. A variable that nobody set is empty.
func (s Settings) Fill(text string, now time.Time) string {
	return fill(text, func(name string) string {
		if v, ok := s.Variables[name]; ok {
			return v
		}
		if name == "now" {
			return now.UTC().Format(time.RFC3339)
		}
		return ""
	})
}

// fill replaces each {{name}} in a prompt by value(name).
func fill(prompt string, value func(name string) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(prompt, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			b.WriteString(prompt)
			return b.String()
		}
		b.WriteString(before)
		b.WriteString(value(strings.TrimSpace(name)))
		prompt = after
	}
}
