package turn

import (
	"testing"
	"time"

	"parley/appliance/contract"
)

// heldBack returns a conversation whose user said something short over the first sentence of an answer.
func heldBack(t *testing.T) *testChat {
	b := speaking(t, "The museum opens at ten.")
	b.after(VoiceHeard{Utterance: 2, Voice: 400 * time.Millisecond},
		Transcribed{Utterance: 2, Revision: 1, Transcript: says("And Mondays?")}, TurnEnded{Utterance: 2, Revision: 1})
	return b
}

func TestHeldBackSpeechSurvivesAPause(t *testing.T) {
	b := heldBack(t)
	b.after(PauseRequested{})
	if b.wakes() != b.now {
		t.Errorf("wakes at %v", b.wakes())
	}
	want(t, b.after(Tick{}), "user: And Mondays?")
	want(t, b.after(ResumeRequested{}), "record RESUME_ONSET", "think 2: And Mondays?")
}

func TestHeldBackSpeechSurvivesAFailedModel(t *testing.T) {
	for name, end := range map[string]Event{
		"failed": TurnFailed{Turn: 1, Fault: contract.Fault{Code: contract.ProviderFailed}},
		"silent": ThinkingEnded{Turn: 1},
	} {
		b := heldBack(t)
		want(t, b.wait(3*time.Second).after(Tick{}))
		b.after(end)
		if b.wakes() != b.now {
			t.Fatalf("%s: wakes at %v, now is %v", name, b.wakes(), b.now)
		}
		want(t, b.after(Tick{}), "user: And Mondays?", "think 2: And Mondays?")
	}
}

func TestHeldBackSpeechIsRecordedBeforeAnInterruption(t *testing.T) {
	b := heldBack(t)
	b.after(VoiceHeard{Utterance: 3, Voice: time.Second})
	want(t, b.after(Tick{}), "user: And Mondays?") // not answered while the user speaks
	b.after(VoicePaused{Utterance: 3, Revision: 1, End: b.now})
	want(t, b.after(Transcribed{Utterance: 3, Revision: 1, Transcript: says("No, wait.")}), "prepare 2: No, wait.")
	want(t, b.after(TurnEnded{Utterance: 3, Revision: 1}), "user: No, wait.")

	b = heldBack(t)
	b.after(VoiceHeard{Utterance: 3, Voice: time.Second}, Tick{})
	want(t, b.after(TurnEnded{Utterance: 3}), "think 2: And Mondays?") // the user said no more
}
