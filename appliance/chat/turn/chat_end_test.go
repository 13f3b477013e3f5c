package turn

import (
	"testing"
	"time"

	"parley/appliance/contract"
)

func event(text string) contract.EventMessage {
	return contract.EventMessage{Enabled: true, Text: text}
}

func TestTheUserIsWarnedBeforeAnInactivityTimeout(t *testing.T) {
	absent := func() *testChat {
		b := begin(t, func(s *Settings) { s.OnInactivity = event("Are you there?") })
		b.now = b.wake()
		want(t, b.after(Tick{}), "read 1: Are you there?")
		b.after(sentenceThought(1, "Are you there?"), ThinkingEnded{Turn: 1})
		b.after(clip(1, "Are you there?", 2*time.Second))
		return b
	}
	b := absent()
	if left := b.wake() - b.state.playbackEnd; left != stillThere {
		t.Fatalf("%v are left", left)
	}
	b.now = b.wake()
	want(t, b.after(Tick{}), "error E0714", "end INACTIVITY_TIMEOUT 1000")

	b = absent()
	b.wait(5*time.Second).after(VoiceHeard{Utterance: 1, Voice: 200 * time.Millisecond}, TurnEnded{Utterance: 1})
	if left := b.wake() - b.now; left < 9*time.Minute {
		t.Errorf("a user who speaks has %v left", left)
	}
}

func TestASilentUserIsNudgedThreeTimes(t *testing.T) {
	b := begin(t, func(s *Settings) { s.Nudge, s.Inactivity = 10*time.Second, 2*time.Minute })
	for n := 1; n <= maxNudges; n++ {
		if at := b.wake(); at-max(b.state.playbackEnd, b.state.lastActive) != 10*time.Second {
			t.Fatalf("nudge %d comes at %v", n, at)
		}
		b.now = b.wake()
		b.after(Tick{})
		b.after(sentenceThought(n, "Well?"), ThinkingEnded{Turn: n})
		b.after(SoundMade{Turn: n, Piece: whole(b.state.reply.atMouth[0], time.Second)})
	}
	if at := b.wake(); at < 2*time.Minute || at > 2*time.Minute+time.Second {
		t.Fatalf("after the last nudge, the chat wakes at %v", at) // nudges are not activity
	}
	b.after(Typed{Text: "Yes."})
	b.after(sentenceThought(4, "Good."), ThinkingEnded{Turn: 4})
	b.after(SoundMade{Turn: 4, Piece: whole(b.state.reply.atMouth[0], time.Second)})
	if at := b.wake(); at-b.state.playbackEnd != 10*time.Second {
		t.Errorf("the nudge is due %v after the answer", at-b.state.playbackEnd)
	}
	b.wait(2 * time.Second).after(PauseRequested{})
	if at := b.wake(); at-b.now < time.Minute {
		t.Errorf("a paused assistant nudges in %v", at-b.now)
	}
	b.wait(30 * time.Second).after(ResumeRequested{})
	if at := b.wake(); at-b.now != 10*time.Second {
		t.Errorf("after the pause, the nudge is due in %v", at-b.now)
	}
}

func TestTheLastSentenceIsHeardToItsEnd(t *testing.T) {
	b := begin(t, func(s *Settings) { s.MaxDuration, s.OnMaxDuration = time.Minute, event("Our time is over.") })
	b.wait(59 * time.Second).after(Typed{Text: "Hello?"})
	b.after(sentenceThought(1, "It is long."), clip(1, "It is long.", 5*time.Second))
	b.now = time.Minute
	want(t, b.after(Tick{}), "enough 1", "done 1", "assistant_end")
	want(t, b.after(sentenceThought(1, "And longer.")))
	want(t, b.after(VoiceHeard{Utterance: 1, Voice: 2 * time.Second})) // it ends whatever is said
	b.now = b.wake()
	if b.now != b.state.playbackEnd {
		t.Fatalf("the chat wakes at %v, playback ends at %v", b.now, b.state.playbackEnd)
	}
	want(t, b.after(Tick{}), "read 2: Our time is over.")
	want(t, b.after(Typed{Text: "One more!"}), "user: One more!")
	b.after(sentenceThought(2, "Our time is over."), ThinkingEnded{Turn: 2}, clip(2, "Our time is over.",
		2*time.Second))
	b.now = b.wake()
	want(t, b.after(Tick{}), "error E0715", "end MAX_DURATION_TIMEOUT 1000")
}

func TestTheEndDoesNotWaitForever(t *testing.T) {
	b := begin(t, func(s *Settings) { s.MaxDuration, s.OnMaxDuration = time.Minute, event("Our time is over.") })
	b.wait(59 * time.Second).after(Typed{Text: "Hello?"})
	b.after(sentenceThought(1, "It is very long."), clip(1, "It is very long.", 50*time.Second))
	b.now = time.Minute
	b.after(Tick{})
	b.now = b.wake()
	if b.now > time.Minute+lastWordsLimit+time.Second {
		t.Fatalf("the chat waits until %v", b.now)
	}
	got := b.after(Tick{}) // the rest of it is not heard
	want(t, got[len(got)-1:], "read 2: Our time is over.")
	b.now = b.wake() // and the message never comes
	want(t, b.after(Tick{}), "error E0715", "cancel 2", "end MAX_DURATION_TIMEOUT 1000")
}
