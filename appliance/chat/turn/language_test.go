package turn

import (
	"testing"
	"time"
)

// A user who speaks German is answered in German from the first answer on, because the prompt asks for it. A
// word of any language changes nothing, nor does a prompt that does not ask.
func TestThePromptAsksForTheUsersLanguage(t *testing.T) {
	settings := DefaultSettings()
	settings.SystemPrompt = "Be brief.{{answer_language}}"
	s := NewState(settings, time.UnixMilli(0), nil)
	say := func(utterance int, tag, text string) string {
		prompt := ""
		for _, e := range []Event{VoiceHeard{Utterance: utterance, Voice: time.Second},
			VoicePaused{Utterance: utterance, Revision: 1},
			Transcribed{Utterance: utterance, Revision: 1, Transcript: Transcript{Text: text, Language: tag}}} {
			var out []Effect
			s, out = Next(s, e)
			for _, f := range out {
				if think, ok := f.(Think); ok {
					prompt = think.Conversation.Prompt
				}
			}
		}
		return prompt
	}
	for i, row := range []struct{ tag, text, want string }{
		{"en", "When do you open today?", "Be brief."},
		{"de", "Wann haben Sie heute offen?", "Be brief. Antworte auf Deutsch."},
		{"nn", "Okay.", "Be brief. Antworte auf Deutsch."},
		{"en", "And when do you close?", "Be brief."},
	} {
		if got := say(i+1, row.tag, row.text); got != row.want {
			t.Errorf("after %q: %q, want %q", row.text, got, row.want)
		}
	}
}
