package turn

import (
	"testing"
	"time"
)

// paused returns a conversation whose user asked something and has been silent since b.now.
func paused(t *testing.T) *testChat {
	b := begin(t)
	b.after(VoiceHeard{Utterance: 1, Voice: time.Second})
	b.after(VoicePaused{Utterance: 1, Revision: 1, End: b.now + time.Millisecond})
	b.after(Transcribed{Utterance: 1, Revision: 1, Transcript: says("Hello?")})
	return b
}

func (c *testChat) closes(e Event) bool {
	c.t.Helper()
	c.now = max(c.now, e.Time())
	var effects []Effect
	c.state, effects = Next(c.state, stamped(e, c.now))
	for _, f := range effects {
		if _, ok := f.(CloseUtterance); ok {
			return true
		}
	}
	return false
}

func (c *testChat) wakes() time.Duration {
	at, _ := c.state.Wake()
	return at
}

func TestTheTurnEndsByTheClock(t *testing.T) {
	b := paused(t)
	end := b.state.utterance.pause.voiceEnd
	due := end + 800*time.Millisecond
	b.after(SilenceContinued{Utterance: 1, Until: due - 100*time.Millisecond}) // a web client's chunk too early
	if got := b.wakes(); got != due {
		t.Fatalf("wakes at %v, want %v", got, due)
	}
	b.now = due - time.Millisecond
	if b.closes(Tick{}) {
		t.Error("the turn ends before it is due")
	}
	b.now = due - time.Millisecond
	want(t, b.after(Tick{}), "user: Hello?")
}

func TestSoundInTransitIsWaitedFor(t *testing.T) {
	b := paused(t)
	due := b.state.utterance.pause.voiceEnd + 800*time.Millisecond
	b.after(SilenceContinued{Utterance: 1, Until: due - 400*time.Millisecond}) // a phone's chunk too early
	b.now = due
	if b.closes(Tick{}) {
		t.Fatal("the turn ends although 400 ms of sound are in transit")
	}
	back := b.state
	if b.closes(SilenceContinued{At: At(due + 100*time.Millisecond), Utterance: 1, Until: due +
		100*time.Millisecond}) ||
		b.wakes() != b.now || !b.closes(Tick{}) {
		t.Error("the turn does not end although the late sound is silence")
	}
	b.state = back
	if b.closes(VoiceResumed{Utterance: 1, Revision: 1, Begin: due - 10*time.Millisecond}) ||
		b.wakes() < b.now+time.Second {
		t.Error("the turn ends although the late sound is voice")
	}
	b.state = back
	if !b.closes(VoiceResumed{Utterance: 1, Revision: 1, Begin: due + 10*time.Millisecond}) {
		t.Error("the turn does not end although the voice resumed too late")
	}
	b.state = back
	b.now = b.wakes()
	if b.now > due+maxInTransit || !b.closes(Tick{}) {
		t.Error("the turn does not end when no sound arrives")
	}
}

func TestAChangedSilenceAppliesAtOnce(t *testing.T) {
	b := paused(t)
	end := b.state.utterance.pause.voiceEnd
	b.after(SilenceContinued{Utterance: 1, Until: end + 600*time.Millisecond})
	b.now = end + 600*time.Millisecond
	for _, silence := range []time.Duration{500 * time.Millisecond, 2 * time.Second} {
		c := *b
		c.state.settings.EndOfTurnSilence = silence
		ends := c.closes(Tick{})
		if short := silence < time.Second; ends != short || !short && c.wakes() < end+silence {
			t.Errorf("%v: ends %v, wakes at %v", silence, ends, c.wakes())
		}
	}
}

func TestEventsOfAClosedUtteranceBelongToTheNext(t *testing.T) {
	b := paused(t)
	b.after(TurnEnded{Utterance: 1, Revision: 1})
	b.after(sentenceThought(1, "The museum opens at ten."), clip(1, "The museum opens at ten.", 3*time.Second))
	if b.closes(VoiceResumed{Utterance: 1, Revision: 1, Begin: b.now}) {
		t.Error("the utterance is closed twice")
	}
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: 2 * time.Second}))
	want(t, b.after(VoicePaused{Utterance: 1, Revision: 2, End: b.now}))
	want(t, b.after(Transcribed{Utterance: 1, Revision: 2, Transcript: says("Hello? And")}))
	want(t, b.after(VoiceHeard{Utterance: 2, Voice: 900 * time.Millisecond})[:1], "cancel 1")
}

// A handler clears its deadline: one that stayed would wake the owner for ever.
func TestADeadlineIsMetOnce(t *testing.T) {
	for name, b := range map[string]*testChat{
		"a pause":    paused(t),
		"late words": lateWords(t),
		"an answer":  speaking(t, "One."),
		"words held": func() *testChat {
			b := speaking(t, "One.")
			b.after(ThinkingEnded{Turn: 1}, VoiceHeard{Utterance: 2, Voice: 400 * time.Millisecond},
				Transcribed{Utterance: 2, Revision: 1, Transcript: says("And Mondays?")}, TurnEnded{Utterance: 2,
					Revision: 1})
			return b
		}(),
	} {
		for range 5 {
			at, ok := b.state.Wake()
			if !ok {
				break
			}
			b.now = at
			b.state, _ = Next(b.state, Tick{At(at)})
			if next, ok := b.state.Wake(); ok && next <= at {
				t.Fatalf("%s: wakes at %v again", name, at)
			}
		}
	}
}
