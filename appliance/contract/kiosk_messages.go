package contract

import "strings"

// CheckKioskMessage says whether who has the key of a screen may send a message: a
// Fault says what not. Whoever stands at a screen may ask and answer anything, and
// a page may say in which format it sends sound, whose chat it is, and the values
// of the variables that the prompt of its config has. Who the assistant is, is the
// config's: its prompt, context, voice, tools and model, and what it says.
func CheckKioskMessage(m ClientMessage) error {
	const who = "The key of a screen talks to its config as that is; "
	switch m := m.(type) {
	case AssistantInput:
		return Fault{Code: NotPermitted, Detail: who + "assistant_input would have it say something else."}
	case SessionSettings:
		if barred := m.identityFields(); len(barred) > 0 {
			return Fault{Code: NotPermitted, Detail: who +
				"session_settings may have audio, variables, custom_session_id and metadata, and has " +
				strings.Join(barred, ", ") + ". Nothing of it was applied."}
		}
	}
	return nil
}

// identityFields names those of the settings that say who the assistant is.
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
