package contract

// EVIVersion is the version of the assistant that a config is written for.
type EVIVersion string

// The versions. The box treats them alike; old programs still ask for 1 and 2.
const (
	EVI1     EVIVersion = "1"
	EVI2     EVIVersion = "2"
	EVI3     EVIVersion = "3"
	EVI4Mini EVIVersion = "4-mini"
)

// ModelProvider is the provider of a language model, as configs name it. The
// operator decides which model the box runs for it.
type ModelProvider string

// The providers that the box treats specially. ProviderBox has its own models.
const (
	ProviderCustom ModelProvider = "CUSTOM_LANGUAGE_MODEL"
	ProviderBox    ModelProvider = "HUME_AI"
)

// ModelProviders lists every provider that a config may name.
func ModelProviders() []ModelProvider {
	return []ModelProvider{
		"GROQ", "OPEN_AI", "FIREWORKS", "ANTHROPIC", ProviderCustom, "GOOGLE", ProviderBox,
		"AMAZON_BEDROCK", "PERPLEXITY", "SAMBANOVA", "CEREBRAS", "X_AI",
	}
}

// VoiceProvider is where a voice comes from.
type VoiceProvider string

// The library of the box, and the voices that accounts have saved.
const (
	VoiceLibrary VoiceProvider = "HUME_AI"
	VoiceCustom  VoiceProvider = "CUSTOM_VOICE"
)

// WebhookEvent is an event that webhooks report.
type WebhookEvent string

// The events.
const (
	WebhookChatStarted WebhookEvent = "chat_started"
	WebhookChatEnded   WebhookEvent = "chat_ended"
	WebhookToolCall    WebhookEvent = "tool_call"
)

// PostedConfig is the body of a new config.
type PostedConfig struct {
	Name string `json:"name"`
	PostedConfigVersion
}

// PostedConfigVersion is the body of a config's next version. Absent fields are
// nil; ReturnConfig has their defaults.
type PostedConfigVersion struct {
	EVIVersion         EVIVersion    `json:"evi_version"`
	VersionDescription string        `json:"version_description,omitempty"`
	Prompt             *ConfigPrompt `json:"prompt,omitempty"`
	Examples           []Example     `json:"examples,omitempty"`
	Answers            *Answers      `json:"answers,omitempty"`
	// ZERO turns it off for a custom language model
	PromptExpansion string              `json:"prompt_expansion,omitempty"`
	Voice           *VoiceRef           `json:"voice,omitempty"`
	LanguageModel   *LanguageModel      `json:"language_model,omitempty"`
	EllmModel       *EllmModel          `json:"ellm_model,omitempty"`
	Tools           []ToolRef           `json:"tools,omitempty"`
	BuiltinTools    []BuiltinToolConfig `json:"builtin_tools,omitempty"`
	EventMessages   *EventMessages      `json:"event_messages,omitempty"`
	Timeouts        *Timeouts           `json:"timeouts,omitempty"`
	TurnDetection   *TurnDetection      `json:"turn_detection,omitempty"`
	Interruption    *Interruption       `json:"interruption,omitempty"`
	Nudges          *Nudges             `json:"nudges,omitempty"`
	Webhooks        []Webhook           `json:"webhooks,omitempty"`
}

// ConfigPrompt refers to a prompt, by default to its newest version, or contains
// the text of a new one.
type ConfigPrompt struct {
	ID              string           `json:"id,omitempty"`
	Version         *int             `json:"version,omitempty"`
	Text            string           `json:"text,omitempty"`
	PromptExpansion *PromptExpansion `json:"prompt_expansion,omitempty"`
}

// Example is a question and the answer that the assistant should give. The
// language model receives a config's examples with its prompt. Examples are an
// extension of Parley.
type Example struct {
	User      string `json:"user"`
	Assistant string `json:"assistant"`
}

// ToolRef refers to a tool, by default to its newest version.
type ToolRef struct {
	ID      string `json:"id"`
	Version *int   `json:"version,omitempty"`
}

// VoiceRef refers to a voice by its id or its name.
type VoiceRef struct {
	ID       string        `json:"id,omitempty"`
	Name     string        `json:"name,omitempty"`
	Provider VoiceProvider `json:"provider,omitempty"`
}

// LanguageModel names a language model. With CUSTOM_LANGUAGE_MODEL, the resource
// is the URL of the developer's server.
type LanguageModel struct {
	Provider    ModelProvider `json:"model_provider,omitempty"`
	Resource    string        `json:"model_resource,omitempty"`
	Temperature *float64      `json:"temperature,omitempty"`
	// The models that answer if this one fails, in order; an extension of Parley.
	// If absent, the setting of the box applies; an empty list means none.
	Fallback []LanguageModelRef `json:"fallback,omitzero"`
}

// LanguageModelRef names a language model like a LanguageModel.
type LanguageModelRef struct {
	Provider ModelProvider `json:"model_provider,omitempty"`
	Resource string        `json:"model_resource,omitempty"`
}

// EllmModel are the settings of short generated responses.
type EllmModel struct {
	AllowShortResponses *bool `json:"allow_short_responses,omitempty"`
}

// EventMessage is what the assistant says on an event. Without a text, the
// language model writes one.
type EventMessage struct {
	Enabled bool   `json:"enabled"`
	Text    string `json:"text,omitempty"`
}

// EventMessages are the events on which the assistant speaks.
type EventMessages struct {
	OnNewChat            *EventMessage `json:"on_new_chat,omitempty"`
	OnInactivityTimeout  *EventMessage `json:"on_inactivity_timeout,omitempty"`
	OnMaxDurationTimeout *EventMessage `json:"on_max_duration_timeout,omitempty"`
	OnMailbox            *EventMessage `json:"on_mailbox,omitempty"` // for a mailbox that answers a call of the box
}

// Timeout ends a chat after so many seconds, 30 to 1800.
type Timeout struct {
	Enabled      bool `json:"enabled"`
	DurationSecs *int `json:"duration_secs,omitempty"`
}

// Timeouts end a chat in which nobody speaks, and a chat that has lasted long.
type Timeouts struct {
	Inactivity  *Timeout `json:"inactivity,omitempty"`
	MaxDuration *Timeout `json:"max_duration,omitempty"`
}

// TurnMode is how the end of a turn is detected: by silence, or also by whether
// the words sound finished.
type TurnMode string

// The modes of a TurnDetection.
const (
	TurnBySilence TurnMode = "silence"
	TurnSemantic  TurnMode = "semantic"
)

// TurnDetection sets when a user's turn has ended. Mode is an extension of
// Parley; if absent, the setting of the box applies.
type TurnDetection struct {
	Mode                     TurnMode `json:"mode,omitempty"`
	EndOfTurnSilenceMS       *int     `json:"end_of_turn_silence_ms,omitempty"`
	SpeechDetectionThreshold *float64 `json:"speech_detection_threshold,omitempty"`
	PrefixPaddingMS          *int     `json:"prefix_padding_ms,omitempty"`
}

// Interruption sets how long a user must speak to interrupt the assistant.
type Interruption struct {
	MinInterruptionMS *int `json:"min_interruption_ms,omitempty"`
}

// Nudges are short prompts that the assistant speaks after so many seconds of
// silence.
type Nudges struct {
	Enabled      bool `json:"enabled"`
	IntervalSecs *int `json:"interval_secs,omitempty"`
}

// Webhook is a URL that receives events.
type Webhook struct {
	URL    string         `json:"url"`
	Events []WebhookEvent `json:"events"`
}

// ReturnBuiltinTool is a tool of the box in the record of a config.
type ReturnBuiltinTool struct {
	ToolType        RecordToolType        `json:"tool_type"`
	Name            BuiltInTool           `json:"name"`
	FallbackContent string                `json:"fallback_content,omitempty"`
	Destinations    []TransferDestination `json:"destinations,omitempty"` // of the tool transfer
}

// ReturnConfig is the record of one version of a config: all that was posted,
// the defaults of what was not, and the prompt and tools that it uses as they
// are now. Of those that were deleted nothing is left in it.
type ReturnConfig struct {
	ID                 string                  `json:"id"`
	Version            int                     `json:"version"`
	Name               string                  `json:"name"`
	VersionDescription string                  `json:"version_description,omitempty"`
	EVIVersion         EVIVersion              `json:"evi_version"`
	Prompt             *ReturnPrompt           `json:"prompt,omitempty"`
	Examples           []Example               `json:"examples,omitempty"`
	Answers            *Answers                `json:"answers,omitempty"`
	PromptExpansion    string                  `json:"prompt_expansion,omitempty"`
	Voice              *ReturnVoice            `json:"voice,omitempty"`
	LanguageModel      *LanguageModel          `json:"language_model,omitempty"`
	EllmModel          EllmModel               `json:"ellm_model"`
	Tools              []ReturnUserDefinedTool `json:"tools"`
	BuiltinTools       []ReturnBuiltinTool     `json:"builtin_tools"`
	EventMessages      EventMessages           `json:"event_messages"`
	Timeouts           Timeouts                `json:"timeouts"`
	TurnDetection      TurnDetection           `json:"turn_detection"`
	Interruption       Interruption            `json:"interruption"`
	Nudges             Nudges                  `json:"nudges"`
	Webhooks           []Webhook               `json:"webhooks"`
	CreatedOn          int64                   `json:"created_on"`
	ModifiedOn         int64                   `json:"modified_on"`
	// A page that would be too large leaves the answers of some configs out; their
	// own records have them.
	AnswersOmitted bool `json:"answers_omitted,omitempty"`
}

// ReturnPagedConfigs is a page of configs.
type ReturnPagedConfigs struct {
	Paging
	ConfigsPage []ReturnConfig `json:"configs_page"`
}

// LanguageModelEntry is a language model that the box can serve, as a config
// names it.
type LanguageModelEntry struct {
	Provider     ModelProvider `json:"model_provider"`
	Resource     string        `json:"model_resource"` // * is every one of the provider that has no entry before
	ServedBy     string        `json:"served_by"`      // the model that answers
	Embedded     bool          `json:"embedded"`       // it runs on the box itself
	Default      bool          `json:"default"`        // it answers where a config names none
	BuiltinTools []BuiltInTool `json:"builtin_tools"`
}

// ReturnLanguageModels lists what the box can serve. Where StrictModels, a chat
// with a model that is not in the list is refused; else the default answers.
type ReturnLanguageModels struct {
	StrictModels   bool                 `json:"strict_models"`
	LanguageModels []LanguageModelEntry `json:"language_models"`
}
