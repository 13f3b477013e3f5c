package turn

import (
	"testing"
	"time"

	"parley/appliance/contract"
)

func mindFails(turn int) MindFailed {
	return MindFailed{Turn: turn, ID: "sorry", Fault: contract.Fault{Code: contract.ModelConnectionFailed}}
}

const sorry = "I'm sorry, I cannot answer that just now."

// Sentences thought before the failure are said, and stay.
func TestTheAssistantApologisesForAFailedMind(t *testing.T) {
	b := begin(t)
	b.after(Typed{Text: "When?"})
	b.after(sentenceThought(1, "The museum opens at"))
	want(t, b.after(mindFails(1)), "error E0713", "speak 1: "+sorry, "done 1")
	want(t, b.after(clip(1, "The museum opens at", time.Second)), "assistant: The museum opens at",
		"audio id-The museum opens at")
	said := SoundMade{Turn: 1, Piece: whole(b.state.reply.atMouth[0], time.Second)}
	want(t, b.after(said), "assistant: "+sorry, "audio "+said.Piece.Sentence.ID, "assistant_end")
	want(t, b.after(mindFails(1)), []string{}...)
}

// A failed speculative answer is reported only if it becomes the answer. The same words are answered again at
// the next pause.
func TestAFailedSpeculationIsReportedWhenItBecomesTheAnswer(t *testing.T) {
	b := paused(t)
	want(t, b.after(sentenceThought(1, "The museum")), "speak 1: The museum")
	want(t, b.after(mindFails(1)), []string{}...)
	b.after(clip(1, "The museum", time.Second))
	got := b.after(TurnEnded{Utterance: 1, Revision: 1})
	want(t, got, "user: Hello?", "assistant: The museum", "audio id-The museum", "error E0713", "speak 1: "+sorry,
		"done 1")

	b = paused(t)
	b.after(mindFails(1))
	b.after(VoiceResumed{Utterance: 1, Revision: 1, Begin: b.now},
		VoiceHeard{Utterance: 1, Voice: time.Second + 20*time.Millisecond})
	b.after(VoicePaused{Utterance: 1, Revision: 2, End: b.now})
	want(t, b.after(Transcribed{Utterance: 1, Revision: 2, Transcript: says("Hello?")}), "cancel 1",
		"prepare 2: Hello?")
}

// The name that the model's server gives the session is in force as if the client had set it.
func TestTheModelNamesTheSession(t *testing.T) {
	b := begin(t)
	want(t, b.after(SessionNamed{Session: "desk-4"}), "record SESSION_SETTINGS")
	if id := b.state.Settings().CustomSessionID; id != "desk-4" {
		t.Errorf("named %q", id)
	}
	want(t, b.after(SessionNamed{Session: "desk-4"}), []string{}...)
}

// A quick answer is published, but is not part of the history, nor repeated after a noise.
func TestAQuickAnswerIsNotInTheHistory(t *testing.T) {
	b := begin(t)
	b.after(Typed{Text: "When?"})
	quick := Sentence{ID: "q", Text: "Let me see.", Quick: true}
	want(t, b.after(SentenceThought{Turn: 1, Sentence: quick}), "speak 1: Let me see.")
	want(t, b.after(SoundMade{Turn: 1, Piece: whole(quick, time.Second)}), "assistant: Let me see.", "audio q")
	b.after(sentenceThought(1, "At ten."), clip(1, "At ten.", time.Second), ThinkingEnded{Turn: 1})
	h := b.state.Conversation().History
	if len(h) != 2 || h[1].Text != "At ten." {
		t.Errorf("the history is %+v", h)
	}
	if rest := toRepeat([]Sentence{{ID: "q", Text: "me see.", Quick: true}, {ID: "a", Text: "ten."}}); len(rest) != 1 ||
		rest[0].Text != "ten." {
		t.Errorf("taken up: %+v", rest)
	}
}

// After "One moment" and a tool call, the filler is another text.
func TestAFillerFollowsAQuickAnswer(t *testing.T) {
	b := begin(t, func(s *Settings) { s.Tools = []Tool{{Name: "weather"}} })
	b.after(Typed{Text: "Will it rain?"})
	quick := Sentence{ID: "q", Text: "Let me see.", Quick: true}
	b.after(SentenceThought{Turn: 1, Sentence: quick}, SoundMade{Turn: 1, Piece: whole(quick, time.Second)},
		ToolRequested{Turn: 1, Call: Call{ID: "c", Name: "weather", Arguments: "{}"}})
	want(t, b.wait(4*time.Second).after(Tick{}), "speak 1: Just a moment more.")
}
