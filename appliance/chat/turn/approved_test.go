package turn

import (
	"slices"
	"testing"
	"time"

	"parley/appliance/contract"
)

func approved(text string) Sentence {
	return Sentence{
		ID:       "id-" + text,
		Text:     text,
		AnswerID: "hours",
		Fixed:    true,
	}
}

// givesHours returns a chat that says two sentences of an approved answer, a second each.
func givesHours(t *testing.T) *testChat {
	b := begin(t)
	b.after(Typed{Text: "When do you open?"})
	for _, text := range []string{"We open at ten.", "We close at six."} {
		b.after(SentenceThought{Turn: 1, Sentence: approved(text)})
	}
	b.after(ThinkingEnded{Turn: 1})
	for _, text := range []string{"We open at ten.", "We close at six."} {
		b.after(SoundMade{Turn: 1, Piece: whole(approved(text), time.Second)})
	}
	return b
}

// An approved answer that is interrupted ends in the history where it was heard, and stays an approved one.
func TestAnInterruptedApprovedAnswerStaysOne(t *testing.T) {
	b := givesHours(t).wait(700 * time.Millisecond)
	b.now += time.Millisecond
	state, effects := Next(b.state, VoiceHeard{At: At(b.now), Utterance: 1, Voice: time.Second})
	var cut []string
	for _, f := range facts[CutShort](effects) {
		cut = append(cut, f.AnswerID+": "+f.Text)
	}
	if !slices.Equal(cut, []string{"hours: We open…", "hours: …"}) {
		t.Errorf("cut %q", cut)
	}
	last := state.history[len(state.history)-1]
	if last.AnswerID != "hours" || last.Text != "We open…" || !last.GoesOn {
		t.Errorf("the history ends with %+v", last)
	}
}

// After a noise or a pause, the sound of a sentence is kept only if the sentence is whole.
func TestTheRestOfAnApprovedAnswerIsSaidAsOne(t *testing.T) {
	b := givesHours(t).wait(700 * time.Millisecond)
	b.after(PauseRequested{})
	b.now += time.Millisecond
	_, effects := Next(b.state, ResumeRequested{At(b.now)})
	var said []Sentence
	for _, e := range effects {
		if s, ok := e.(Speak); ok {
			said = append(said, s.Sentence)
		}
	}
	if len(said) != 2 || said[0].Text != "at ten." || said[0].Fixed || said[1].Text != "We close at six." ||
		!said[1].Fixed || said[0].AnswerID != "hours" || said[1].AnswerID != "hours" {
		t.Errorf("%+v", said)
	}
	if again := facts[QuestionAsked](effects); len(again) > 0 {
		t.Errorf("counted twice: %+v", again)
	}
}

// A question is reported when the user hears its answer, once, and not for a speculative reply that is dropped.
func TestQuestionsAreReportedOnce(t *testing.T) {
	asked := func(b *testChat, events ...Event) []QuestionAsked {
		var all []QuestionAsked
		for _, e := range events {
			b.now += time.Millisecond
			var effects []Effect
			b.state, effects = follow(b.state, stamped(e, b.now))
			all = append(all, facts[QuestionAsked](effects)...)
		}
		return all
	}
	unknown := Sentence{ID: "u", Text: "I don't know that."}
	more := Sentence{ID: "v", Text: "Please ask at the desk."}
	reply := []Event{
		SentenceThought{Turn: 1, Sentence: unknown, Unanswered: "Who was Bach?"},
		SentenceThought{Turn: 1, Sentence: more},
		SoundMade{Turn: 1, Piece: whole(unknown, time.Second)},
		SoundMade{Turn: 1, Piece: whole(more, time.Second)},
	}
	question := []Event{VoiceHeard{Utterance: 1, Voice: time.Second}, Transcribed{Utterance: 1, Revision: 1,
		Transcript: says("Who was Bach?")}}
	b := begin(t)
	if got := asked(b, append(question, reply...)...); len(got) > 0 {
		t.Errorf("a speculative reply reports %+v", got)
	}
	if got := asked(b, TurnEnded{Utterance: 1, Revision: 1}); !slices.Equal(got,
		[]QuestionAsked{{Words: "Who was Bach?"}}) {
		t.Errorf("reported %+v", got)
	}
	b = begin(t)
	asked(b, append(question, reply...)...)
	if got := asked(b, VoiceResumed{Utterance: 1, Revision: 1}, Typed{Text: "Never mind."}); len(got) > 0 {
		t.Errorf("a dropped reply reports %+v", got)
	}
	b = begin(t)
	if got := asked(b, Typed{Text: "When?"}, SentenceThought{Turn: 1, Sentence: approved("We open at ten.")},
		SentenceThought{Turn: 1, Sentence: approved("We close at six.")},
		SoundMade{Turn: 1, Piece: whole(approved("We open at ten."), time.Second)},
		SoundMade{Turn: 1, Piece: whole(approved("We close at six."), time.Second)}); !slices.Equal(got,
		[]QuestionAsked{{AnswerID: "hours"}}) {
		t.Errorf("reported %+v", got)
	}
}

// A chat of approved answers only has nothing to say where its config gives no text.
func TestOnlyApprovedAnswersLeavesSilenceWithoutText(t *testing.T) {
	b := begin(t, func(s *Settings) {
		s.Answers = &contract.Answers{Mode: contract.AnswersOnly, Unknown: "I don't know."}
		s.OnNewChat.Enabled, s.OnInactivity.Enabled, s.OnMaxDuration.Enabled = true, true, true
		s.Inactivity, s.MaxDuration = time.Minute, time.Hour
	})
	if b.state.reply.phase != quiet {
		t.Error("the assistant greets")
	}
	want(t, b.wait(time.Minute).after(Tick{}), "error E0714", "end INACTIVITY_TIMEOUT 1000")
}

// facts returns the published facts of a type.
func facts[F Fact](effects []Effect) (all []F) {
	for _, e := range effects {
		if p, ok := e.(Publish); ok {
			if f, ok := p.Fact.(F); ok {
				all = append(all, f)
			}
		}
	}
	return all
}
