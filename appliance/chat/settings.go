package chat

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
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

	// Greeting is what the assistant says first, if it is to: the config's
	// event_messages.on_new_chat.
	Greeting contract.EventMessage

	// Verbose asks for interim user messages.
	Verbose bool
}

// DefaultSettings are the interface's defaults.
func DefaultSettings() Settings {
	o := engine.DefaultSegmentOptions()
	return Settings{
		Speed:            1,
		Threshold:        o.Threshold,
		PrefixPadding:    o.PrefixPadding,
		EndOfTurnSilence: o.EndSilence,
		MinInterruption:  800 * time.Millisecond,
		Inactivity:       600 * time.Second,
		MaxDuration:      1800 * time.Second,
	}
}

// segment is what the ear needs of s.
func (s Settings) segment() engine.SegmentOptions {
	o := engine.DefaultSegmentOptions()
	o.Threshold = s.Threshold
	o.PrefixPadding = s.PrefixPadding
	o.EndSilence = s.EndOfTurnSilence
	return o
}

// settle applies what the client sent, all of it or nothing.
func (s *State) settle(out *effects, m contract.SessionSettings) {
	merged, fault := s.settings.merge(m)
	if fault != nil {
		s.faulty(out, *fault)
		return
	}
	before := s.settings.prompt(s.begun)
	s.settings = merged
	if merged.prompt(s.begun) != before {
		out.add(Read{s.messages()})
	}
	s.recordSettings(out, m)
	if m.Metadata != nil {
		out.add(Note{asJSON(m.Metadata)})
	}
}

// recordSettings writes what was asked for and applied, where it is anything.
func (s *State) recordSettings(out *effects, m contract.SessionSettings) {
	m.LanguageModelAPIKey = "" // a secret has no place in the history
	if text := asJSON(m); text != asJSON(contract.SessionSettings{}) {
		out.add(Record{*s.record(store.SessionSettings, store.System, text)})
	}
}

// asJSON writes what is made of texts, numbers and JSON, which never fails.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}

// merge lays what the client sent over what is in force, field by field. Like
// every method of a State it leaves the old maps as they are.
func (s Settings) merge(m contract.SessionSettings) (Settings, *contract.Fault) {
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
