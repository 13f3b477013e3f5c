package turn

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"parley/appliance/contract"
)

// Settings are the settings in force for a conversation: the box's defaults, overridden by the config,
// overridden by the client's session_settings.
type Settings struct {
	// SystemPrompt is the prompt as written, its variables not filled in.
	SystemPrompt string
	// CustomPrompt means that SystemPrompt comes from a config or a client, not from the box.
	CustomPrompt bool
	// Examples are the config's; they belong to its prompt.
	Examples []contract.Example
	// Answers are the config's approved answers; nil if it has none. They are read-only.
	Answers   *contract.Answers
	Rules     Rules
	Variables map[string]string
	// Context is appended to the user's messages; only the model sees it. nil is none.
	Context *contract.Context
	// Voice names the voice; empty is the box's default.
	Voice           string
	Speed           float64
	Temperature     float64
	CustomSessionID string
	// ModelKey is the client's key for the language model's server. It is never written.
	ModelKey string
	// Audio is the format of headerless audio; nil if the audio comes in a container with a header.
	Audio *contract.AudioConfiguration

	// Threshold, PrefixPadding and EndOfTurnSilence are the config's turn_detection, MinInterruption its
	// interruption.
	Threshold float64
	// Semantic answers a sentence that sounds finished sooner than after EndOfTurnSilence, and one that does
	// not later.
	Semantic         bool
	PrefixPadding    time.Duration
	EndOfTurnSilence time.Duration
	MinInterruption  time.Duration
	Inactivity       time.Duration
	MaxDuration      time.Duration

	// Lead is how far ahead of its playback sound is sent.
	Lead time.Duration

	// QuickResponses allows a short answer before one that is late.
	QuickResponses bool

	// OnNewChat, OnInactivity and OnMaxDuration are the config's event_messages: what the assistant says
	// first, and before a chat ends by itself.
	OnNewChat, OnInactivity, OnMaxDuration contract.EventMessage

	// Nudge is the silence after which the user is asked to go on; 0: never.
	Nudge time.Duration
	// Tools are the tools that the model may call; names are unique.
	Tools []Tool
	// Plugins are those that every chat of the box has. TurnHooks are asked at every turn of this chat, and
	// EndHooks are notified of its end: see WithPlugins.
	Plugins, TurnHooks, EndHooks []string
	// ToolLimit is how long a tool may take. Filler is the delay after which the assistant says that it takes
	// long; 0: never.
	ToolLimit, Filler time.Duration

	// Verbose asks for interim user messages.
	Verbose bool

	userLanguage string // the language that the user speaks, BCP 47, once it is known
}

// OnlyAnswers reports whether the assistant says approved answers only, and nothing that a language model wrote.
func (s Settings) OnlyAnswers() bool {
	return s.Answers != nil && s.Answers.Mode == contract.AnswersOnly
}

// DefaultSettings returns the interface's defaults. They have no prompt.
func DefaultSettings() Settings {
	return Settings{
		Speed:            1,
		Threshold:        contract.DefaultSpeechThreshold,
		PrefixPadding:    contract.DefaultPrefixPaddingMS * time.Millisecond,
		EndOfTurnSilence: contract.DefaultEndOfTurnSilenceMS * time.Millisecond,
		MinInterruption:  contract.DefaultMinInterruptionMS * time.Millisecond,
		Inactivity:       contract.DefaultInactivity,
		MaxDuration:      contract.DefaultMaxDuration,
		ToolLimit:        DefaultToolLimit,
		Filler:           DefaultFiller,
		Lead:             DefaultLead,
	}
}

// applySettings puts the client's settings in force, all of them or none.
func (s *State) applySettings(out *effects, m contract.SessionSettings) {
	merged, fault := s.settings.Merge(m)
	if fault != nil {
		s.reportFault(out, *fault)
		return
	}
	before, prompt := s.settings, s.instructions()
	s.settings = merged
	s.prompt = merged.Prompt(s.startedAt)
	if !before.sameAnswers(merged) {
		s.dropPrepared(out)
	}
	if s.instructions() != prompt || m.Tools != nil || m.BuiltinTools != nil {
		out.add(Prefill{s.conversation()})
	}
	s.publishSettings(out, m)
	if m.Metadata != nil {
		s.publish(out, MetadataSet{m.Metadata})
	}
}

// sameAnswers reports whether answers under these settings and under o would be the same. Only fields that
// are known to have no effect on an answer may differ.
func (s Settings) sameAnswers(o Settings) bool {
	for _, x := range []*Settings{&s, &o} {
		x.CustomSessionID, x.Audio, x.Verbose = "", nil, false
		x.Threshold, x.PrefixPadding, x.EndOfTurnSilence, x.MinInterruption, x.Semantic = 0, 0, 0, 0, false
		x.Inactivity, x.MaxDuration, x.Nudge, x.ToolLimit, x.Filler = 0, 0, 0, 0, 0
		x.OnNewChat, x.OnInactivity, x.OnMaxDuration = contract.EventMessage{}, contract.EventMessage{},
			contract.EventMessage{}
	}
	return reflect.DeepEqual(s, o)
}

// publishSettings publishes the settings that the client asked for, if there are any.
func (s *State) publishSettings(out *effects, m contract.SessionSettings) {
	m.LanguageModelAPIKey = "" // a secret must not be in the history
	if !reflect.DeepEqual(m, contract.SessionSettings{}) {
		s.publish(out, SettingsApplied{m})
	}
}

// Merge returns the settings overridden by the client's, field by field. If they do not fit together, it
// returns a fault and the old settings. It does not change the old maps.
func (s Settings) Merge(m contract.SessionSettings) (Settings, *contract.Fault) {
	merged := s
	if m.SystemPrompt != nil {
		if strings.TrimSpace(*m.SystemPrompt) == "" {
			return s, invalid("system_prompt is empty; leave it out to keep the prompt in force")
		}
		merged.SystemPrompt, merged.CustomPrompt = *m.SystemPrompt, true
	}
	if m.Audio != nil {
		format := *m.Audio
		merged.Audio = &format
	}
	if m.Context != nil || m.ClearContext {
		merged.Context = m.Context
	}
	if m.CustomSessionID != "" {
		merged.CustomSessionID = m.CustomSessionID
	}
	if m.LanguageModelAPIKey != "" {
		merged.ModelKey = m.LanguageModelAPIKey
	}
	if m.VoiceID != "" {
		merged.Voice = m.VoiceID
	}
	if len(m.Variables) > 0 {
		merged.Variables = make(map[string]string, len(s.Variables)+len(m.Variables))
		maps.Copy(merged.Variables, s.Variables)
		for name, value := range m.Variables {
			merged.Variables[name] = value.String()
		}
	}
	if m.Tools != nil || m.BuiltinTools != nil {
		tools, why := s.withTools(m)
		if why != "" {
			return s, invalid(why)
		}
		merged.Tools = tools
	}
	if why := merged.Check(); why != "" {
		return s, invalid(why)
	}
	return merged, nil
}

func invalid(why string) *contract.Fault {
	return &contract.Fault{Code: contract.InvalidSettings, Detail: why}
}

// Check says what is too large in settings that were merged from parts, each of which is within its own
// limits. It returns "" if nothing is. It builds no text, so that an oversized one costs nothing.
func (s Settings) Check() string {
	if n := len(s.Variables); n > contract.MaxVariables {
		return fmt.Sprintf("variables: the chat would have %d; at most %d are allowed", n, contract.MaxVariables)
	}
	held := 0
	for name, value := range s.Variables {
		held += len(name) + len(value)
	}
	if held > contract.MaxPromptBytes {
		return fmt.Sprintf("variables: those of the chat would hold %d bytes; at most %d are allowed", held,
			contract.MaxPromptBytes)
	}
	if why := s.tooLong(s.SystemPrompt+examples(s.Examples), contract.MaxPromptBytes); why != "" {
		return "system_prompt: " + why
	}
	if why := s.answersTooLong(); why != "" {
		return why
	}
	for _, m := range [...]struct {
		on string
		contract.EventMessage
	}{{"on_new_chat", s.OnNewChat}, {"on_inactivity_timeout", s.OnInactivity},
		{"on_max_duration_timeout", s.OnMaxDuration}} {
		if !m.Enabled {
			continue
		}
		if why := s.tooLong(m.Text, contract.MaxEventTextBytes); why != "" {
			return "event_messages." + m.on + ".text: " + why
		}
	}
	return ""
}
