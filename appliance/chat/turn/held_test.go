package turn

import (
	"testing"
	"time"

	"parley/appliance/contract"
)

// held is a conversation whose user said something short over the assistant,
// who is at the first sentence of an answer.
func held(t *testing.T) *told {
	b := speaking(t, "The museum opens at ten.")
	b.after(Voiced{Utterance: 2, Voice: 400 * time.Millisecond},
		Guessed{Utterance: 2, Revision: 1, Words: says("And Mondays?")}, TurnEnded{Utterance: 2, Revision: 1})
	return b
}

func TestWordsHeldBackSurviveAPauseInThePlayback(t *testing.T) {
	b := held(t)
	b.after(PauseAsked{})
	if b.wakes() != b.now {
		t.Errorf("wakes at %v", b.wakes())
	}
	want(t, b.after(Tick{}), "user: And Mondays?")
	want(t, b.after(ResumeAsked{}), "record RESUME_ONSET", "think 2: And Mondays?")
}

func TestWordsHeldBackSurviveAModelThatFailsAfterThePlayback(t *testing.T) {
	for name, end := range map[string]Event{
		"failed": Failed{Turn: 1, Fault: contract.Fault{Code: contract.ProviderFailed}},
		"silent": ThoughtEnded{Turn: 1},
	} {
		b := held(t)
		want(t, b.wait(3*time.Second).after(Tick{}))
		b.after(end)
		if b.wakes() != b.now {
			t.Fatalf("%s: wakes at %v, now is %v", name, b.wakes(), b.now)
		}
		want(t, b.after(Tick{}), "user: And Mondays?", "think 2: And Mondays?")
	}
}

func TestWordsHeldBackAreToldBeforeThoseThatInterrupt(t *testing.T) {
	b := held(t)
	b.after(Voiced{Utterance: 3, Voice: time.Second})
	want(t, b.after(Tick{}), "user: And Mondays?") // and not answered while the user speaks
	b.after(Paused{Utterance: 3, Revision: 1, End: b.now})
	want(t, b.after(Guessed{Utterance: 3, Revision: 1, Words: says("No, wait.")}), "prepare 2: No, wait.")
	want(t, b.after(TurnEnded{Utterance: 3, Revision: 1}), "user: No, wait.")

	b = held(t)
	b.after(Voiced{Utterance: 3, Voice: time.Second}, Tick{})
	want(t, b.after(TurnEnded{Utterance: 3}), "think 2: And Mondays?") // nobody said more
}
