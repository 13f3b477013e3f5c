package turn

import (
	"testing"
	"time"

	"parley/appliance/contract"
)

// When anything changes from which an answer was prepared, the answer is dropped and prepared again.
func TestAnyChangeDropsAPreparedAnswer(t *testing.T) {
	prompt := "Be brief."
	for name, m := range map[string]contract.SessionSettings{
		"prompt":    {SystemPrompt: &prompt},
		"context":   {Context: &contract.Context{Text: "Room 12."}},
		"voice":     {VoiceID: "jenny"},
		"variables": {Variables: variables(map[string]string{"name": "Ann"})},
	} {
		b := paused(t)
		b.after(sentenceThought(1, "Hi."), clip(1, "Hi.", time.Second))
		got := b.after(SettingsRequested{Message: m})
		want(t, got[:1], "cancel 1")
		again := "prepare 2: Hello?"
		if name == "context" {
			again += " {Context: Room 12.}"
		}
		want(t, b.after(Tick{}), again)
		b.after(sentenceThought(2, "Hello there."), clip(2, "Hello there.", time.Second))
		want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}), "user: Hello?", "assistant: Hello there.",
			"audio id-Hello there.")
		if b.state.settings.Context != nil {
			t.Errorf("%s: the context was sent and is not removed", name)
		}
	}
	b := paused(t)
	want(t, b.after(SettingsRequested{Message: contract.SessionSettings{CustomSessionID: "x"}}),
		"record SESSION_SETTINGS")
	want(t, b.after(TurnEnded{Utterance: 1, Revision: 1}), "user: Hello?")
}

// Speed, temperature and any future settings count too.
func TestOnlyIrrelevantSettingsKeepAPreparedAnswer(t *testing.T) {
	for _, change := range []func(*Settings){
		func(s *Settings) {
			s.Speed = 2
		}, func(s *Settings) {
			s.Temperature = 1
		}, func(s *Settings) {
			s.SystemPrompt = "x"
		},
	} {
		s, o := DefaultSettings(), DefaultSettings()
		change(&o)
		if s.sameAnswers(o) || !s.sameAnswers(DefaultSettings()) {
			t.Errorf("%+v is taken for the same as %+v", o, s)
		}
	}
}

// Late transcripts change the history of a prepared answer.
func TestALateTranscriptDropsAPreparedAnswer(t *testing.T) {
	b := lateWords(t)
	b.after(VoicePaused{Utterance: 2, Revision: 1, End: b.now}) // its transcript comes before that of the first
	want(t, b.after(Transcribed{Utterance: 2, Revision: 1, Transcript: says("When do you open?")}),
		"prepare 1: When do you open?")
	want(t, b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("I am Anna.")}), "cancel 1",
		"user: I am Anna.")
	want(t, b.after(Tick{}), "prepare 2: When do you open?")
}

// A context for one message stays until a message is recorded.
func TestASpeculativeAnswerKeepsAOneTimeContext(t *testing.T) {
	b := begin(t)
	b.after(SettingsRequested{Message: contract.SessionSettings{Context: &contract.Context{Text: "Room 12."}}})
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second}, VoicePaused{Utterance: 1, Revision: 1, End: b.now})
	want(t, b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("Where")}),
		"prepare 1: Where {Context: Room 12.}")
	b.after(VoiceResumed{Utterance: 1, Revision: 1, Begin: b.now}, VoiceHeard{Utterance: 1, Voice: 2 * time.Second})
	want(t, b.after(Transcribed{Utterance: 1, Revision: 2, Transcript: says("Where am I?")}), "cancel 1",
		"prepare 2: Where am I? {Context: Room 12.}")
}
