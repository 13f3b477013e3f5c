package reply

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/engine"
)

// before checks that a is more urgent than b.
func before(t *testing.T, what string, a, b *engine.Urgency) {
	t.Helper()
	if a.Get().Compare(b.Get()) >= 0 {
		t.Errorf("%s: %+v comes after %+v", what, a.Get(), b.Get())
	}
}

func TestASecondSentenceWaitsForAnotherChatsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := newSchedule(true, time.Now()), newSchedule(true, time.Now().Add(time.Millisecond))
		before(t, "both are asked", one.mind, other.mind)
		one.sentenceThought(strings.Repeat("word ", 9)) // three seconds
		before(t, "the first has a sentence", other.mind, one.mind)
		before(t, "its sound is due before its second sentence", one.mouth, one.mind)
		guess := newSchedule(false, time.Now().Add(700*time.Millisecond))
		before(t, "a guess whose silence ends sooner", guess.mind, one.mind)
		one.soundMade(3 * time.Second)
		before(t, "and before the second sound", guess.mind, one.mouth)
		time.Sleep(2750 * time.Millisecond) // the first is nearly played, and the other still speculative
		before(t, "the listener of one will run dry", one.mind, engine.Live.Urgency())
	})
}

func TestASpeculativeReplyThinksOneSentence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guess := newSchedule(false, time.Now().Add(600*time.Millisecond))
		if n := guess.mind.Get(); n.Priority != engine.Speculative ||
			!n.Due.Equal(time.Now().Add(600*time.Millisecond)) {
			t.Errorf("%+v", n)
		}
		guess.sentenceThought("The museum opens at ten.")
		if n := guess.mind.Get(); n.Priority != engine.Prefetch {
			t.Errorf("with a sentence: %+v", n)
		}
		time.Sleep(300 * time.Millisecond)
		guess.promote()
		if n := guess.mouth.Get(); n.Priority != engine.Live || n.Due.After(time.Now()) {
			t.Errorf("promoted before its time: the sound is due %v from now", time.Until(n.Due))
		}
		if n := guess.mind.Get(); n.Priority != engine.Live || n.Due.After(time.Now().Add(2*time.Second)) {
			t.Errorf("promoted: %+v", n)
		}
	})
}

// However short and late a first piece is, its sound is made before the words after it, and another chat's
// first sound before those words.
func TestTheSoundOfAShortPieceIsMadeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := newSchedule(true, time.Now())
		time.Sleep(700 * time.Millisecond)
		other := newSchedule(true, time.Now())
		one.sentenceThought("Sure,")
		before(t, "the sound of what was thought", one.mouth, one.mind)
		before(t, "the answer that the other waits for", other.mind, one.mind)
		one.soundMade(150 * time.Millisecond)
		before(t, "the rest of the sound", one.mouth, one.mind)
		one.soundMade(150 * time.Millisecond)
		one.sentenceDone()
		before(t, "the answer that the other waits for, still", other.mind, one.mind)
		time.Sleep(200 * time.Millisecond)
		third := newSchedule(true, time.Now())
		before(t, "what the first listener will miss before", one.mind, third.mind)
	})
}
