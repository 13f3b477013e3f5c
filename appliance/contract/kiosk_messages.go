package contract

import "strings"

// CheckKioskMessage returns a Fault unless a client with the key of a screen may
// send m. A person at a screen may say anything, and its page may set the format
// of its sound, the session id, metadata, and the values of the prompt's
// variables. Everything that defines the assistant comes from the config: prompt,
// context, voice, tools, model, and what it says on its own.
func CheckKioskMessage(m ClientMessage) error {
	const who = "The key of a screen cannot change its config; "
	switch m := m.(type) {
	case AssistantInput:
		return Fault{Code: NotPermitted, Detail: who + "assistant_input is not allowed."}
	case SessionSettings:
		if barred := m.identityFields(); len(barred) > 0 {
			return Fault{Code: NotPermitted, Detail: who +
				"session_settings may have audio, variables, custom_session_id and metadata, and has " +
				strings.Join(barred, ", ") + ". Nothing of it was applied."}
		}
	}
	return nil
}

// identityFields names the settings in s that define the assistant.
func (s SessionSettings) identityFields() (fields []string) {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"builtin_tools", s.BuiltinTools != nil},
		{"context", s.Context != nil || s.ClearContext},
		{"language_model_api_key", s.LanguageModelAPIKey != ""},
		{"system_prompt", s.SystemPrompt != nil},
		{"tools", s.Tools != nil},
		{"voice_id", s.VoiceID != ""},
	} {
		if f.given {
			fields = append(fields, f.name)
		}
	}
	return fields
}
