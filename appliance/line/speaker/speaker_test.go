package speaker

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/contract"
)

func TestAConversationBeginsWithSpeechAndLosesNoneOfIt(t *testing.T) {
	perform(t, Options{Start: OnSpeech}, func(s *stage) {
		s.pass(5*time.Second, false)
		s.pass(100*time.Millisecond, true) // a cough
		s.pass(2*time.Second, false)
		s.quiet()
		s.pass(time.Second, true)
		c := s.talking()
		if c.Account != "museum" || c.Settings.ConfigID != "guide" || c.Kind != "speaker" || !c.Unbuffered {
			t.Errorf("it is of %q with %q, a %q, near: %v", c.Account, c.Settings.ConfigID, c.Kind, c.Unbuffered)
		}
		s.pass(200*time.Millisecond, false)
		heard, loud := c.sound()
		if loud < 950*time.Millisecond || heard < loud+200*time.Millisecond || heard > loud+800*time.Millisecond {
			t.Errorf("%v of a second of voice were heard, %v in all", loud, heard)
		}
		if s.Status().State != Talking {
			t.Errorf("the status is %+v", s.Status())
		}
	})
}

func TestAConversationEndsAfterSilence(t *testing.T) {
	perform(t, Options{Start: OnSpeech, Silence: 10 * time.Second}, func(s *stage) {
		s.pass(time.Second, true)
		c := s.talking()
		c.user("What is this?")
		s.pass(15*time.Second, false) // the model thinks
		must(t, c.says("a", 12*time.Second))
		s.pass(20*time.Second, false)
		s.pass(time.Second, true) // the user adds something
		s.pass(9*time.Second, false)
		if c.over() {
			t.Fatal("the conversation ended nine seconds after speech")
		}
		s.pass(2*time.Second, false)
		if !c.over() || s.Status().State != Waiting {
			t.Errorf("the conversation goes on after 11 s of silence: %+v", s.Status())
		}
		s.pass(time.Second, true)
		s.talking() // the next conversation
	})
}

func TestTheWordStopEndsAConversation(t *testing.T) {
	perform(t, Options{Start: OnSpeech}, func(s *stage) {
		s.pass(time.Second, true)
		c := s.talking()
		must(t, c.says("a", time.Minute))
		s.pass(time.Second, false)
		c.user("Stop.")
		synctest.Wait()
		if !c.over() {
			t.Fatal("the conversation goes on")
		}
		before := len(s.cards.played)
		s.pass(100*time.Millisecond, false)
		for i, v := range s.cards.played[before+fade:] {
			if v != 0 {
				t.Fatalf("sample %d behind the end is %v", i+fade, v)
			}
		}
		if err := c.says("b", time.Second); err == nil {
			t.Error("a conversation that is over still speaks")
		}
	})
}

// The session holds short words over the assistant back until the assistant finishes, so
// the line transcribes them itself.
func TestTheWordStopInterruptsALongAnswer(t *testing.T) {
	perform(t, Options{Start: OnSpeech}, func(s *stage) {
		s.pass(time.Second, true)
		c := s.talking()
		must(t, c.says("a", time.Minute))
		s.pass(2*time.Second, false)
		s.said.say("Go on.", "Stop!")
		s.pass(300*time.Millisecond, true)
		s.pass(time.Second, false)
		if c.over() {
			t.Fatal("it ended with another word")
		}
		s.pass(300*time.Millisecond, true)
		s.pass(350*time.Millisecond, false)
		if !c.over() {
			t.Error("the conversation goes on")
		}
	})
}

func TestTheSessionGetsExactProgress(t *testing.T) {
	perform(t, Options{Start: OnSpeech}, func(s *stage) {
		s.pass(time.Second, true)
		c := s.talking()
		must(t, c.says("a", 10*time.Second))
		s.pass(3300*time.Millisecond, false)
		if id, upTo := c.told(); id != "a" || upTo < 2*time.Second || upTo > 3300*time.Millisecond-initialBuffer {
			t.Errorf("after 3.3 s the progress is %v of %q", upTo, id)
		}
		s.cards.unplug(output, true)
		s.pass(2*time.Second, false)
		id, upTo := c.told()
		if id != "a" || upTo < 3300*time.Millisecond-initialBuffer || upTo > 3300*time.Millisecond {
			t.Errorf("after the loudspeaker was unplugged the progress is %v of %q", upTo, id)
		}
		s.cards.plug(output)
		s.pass(3*time.Second, false) // the device is found within two seconds, and the conversation goes on
		if id, upTo := c.told(); id != "a" || upTo < 4*time.Second || upTo > 6*time.Second {
			t.Errorf("after the loudspeaker is back the progress is %v of %q", upTo, id)
		}
		if c.over() {
			t.Error("the conversation has ended")
		}
	})
}

func TestMissingDevicesAreWaitedForAndLoggedOnce(t *testing.T) {
	perform(t, Options{Start: OnSpeech}, func(s *stage) {
		s.pass(time.Second, true)
		c := s.talking()
		s.cards.unplug(input, true)
		s.pass(11*time.Second, false)
		if !c.over() {
			t.Error("a conversation goes on without a microphone")
		}
		s.pass(20*time.Second, false)
		if n := s.log.count("cannot open a sound device"); n != 2 { // that it stopped, and that it is missing
			t.Errorf("the missing device was logged %d times", n)
		}
		if st := s.Status(); st.Input.Open || st.Input.Trouble == "" || !st.Output.Open {
			t.Errorf("%+v", st)
		}
		s.cards.plug(input)
		s.pass(6*time.Second, false)
		s.pass(time.Second, true)
		s.talking()
		if n := s.log.count("is back"); n != 1 {
			t.Errorf("the return of the device was logged %d times", n)
		}
	})
}

// A sound server that removes a stream reports nothing.
func TestASilentDeviceIsReopened(t *testing.T) {
	perform(t, Options{Start: OnSpeech}, func(s *stage) {
		s.pass(2*time.Second, false)
		s.cards.frozen = true
		s.pass(5*time.Second, false)
		s.cards.frozen = false
		s.pass(2*time.Second, false)
		if s.cards.opened != [2]int{2, 2} {
			t.Errorf("they were opened %v times", s.cards.opened)
		}
		s.pass(time.Second, true)
		s.talking()
	})
}

func TestAKeyBeginsAndEndsAConversation(t *testing.T) {
	perform(t, Options{Start: OnKey, Cue: Words}, func(s *stage) {
		s.pass(2*time.Second, true)
		s.quiet()
		s.End() // there is no conversation
		s.Begin()
		c := s.talking()
		s.Begin() // there already is one
		synctest.Wait()
		if m, ok := (<-c.got).(contract.AssistantInput); !ok || m.Text != greeting {
			t.Errorf("it is greeted with %+v", m)
		}
		if c.over() {
			t.Fatal("it is over")
		}
		s.Toggle()
		synctest.Wait()
		if !c.over() {
			t.Error("the conversation goes on")
		}
		s.pass(time.Second, false)
		s.Toggle()
		s.talking()
	})
}

func TestTheGoodbyeIsInTheLanguageSpoken(t *testing.T) {
	perform(t, Options{Start: OnSpeech, Cue: Words, Silence: 5 * time.Second}, func(s *stage) {
		s.pass(time.Second, true)
		c := s.talking()
		must(t, c.Line.Send(t.Context(),
			contract.UserMessage{Language: "de", Message: contract.ChatMessage{Content: "Danke"}}))
		must(t, c.says("a", time.Second))
		s.pass(7*time.Second, false)
		m, ok := (<-c.got).(contract.AssistantInput)
		if !ok || m.Text != "Auf Wiedersehen." && m.Text != "Auf Wiederhören." {
			t.Errorf("it says %+v", m)
		}
		must(t, c.says("b", time.Second))
		s.pass(500*time.Millisecond, false)
		if c.over() {
			t.Error("it ends in the middle of it")
		}
		s.pass(time.Second, false)
		if !c.over() {
			t.Error("it does not end")
		}
	})
}

func TestTheWordsAfterThePhraseBeginTheConversation(t *testing.T) {
	perform(t, Options{Start: OnPhrase, Phrases: []string{"Hallo Museum", "Hey Parley"}}, func(s *stage) {
		s.said.say("Nice weather today.", "Hey, Parlay, what is this?")
		s.pass(time.Second, true)
		s.pass(time.Second, false)
		s.quiet()
		s.pass(2*time.Second, true)
		s.pass(500*time.Millisecond, false)
		if heard, loud := s.talking().sound(); loud < 1900*time.Millisecond || heard > 3500*time.Millisecond {
			t.Errorf("of the two seconds behind the phrase %v were heard, and %v in all", loud, heard)
		}
	})
	perform(t, Options{Start: OnPhrase, Phrases: []string{"Hallo Museum", "Hey Parley"}}, func(s *stage) {
		s.said.say("Hey Parley!")
		s.pass(time.Second, true)
		s.pass(time.Second, false)
		c := s.talking()
		if _, loud := c.sound(); loud > 0 {
			t.Errorf("%v of the phrase are in the first turn", loud)
		}
		s.pass(time.Second, true)
		if _, loud := c.sound(); loud < 900*time.Millisecond {
			t.Errorf("of the second behind it %v are", loud)
		}
	})
}

func TestSilenceIsNotTranscribedForThePhrase(t *testing.T) {
	perform(t, Options{Start: OnPhrase, Phrases: []string{"Hallo Museum", "Hey Parley"}}, func(s *stage) {
		s.pass(10*time.Second, false)
		for range 10 { // clicks
			s.pass(60*time.Millisecond, true)
			s.pass(time.Second, false)
		}
		if s.said.asked > 0 {
			t.Errorf("the transcriber was asked %d times", s.said.asked)
		}
	})
}

func TestTheLineSurvivesAPanicOfAConversation(t *testing.T) {
	perform(t, Options{Start: OnSpeech, Cue: Tones}, func(s *stage) {
		s.pass(time.Second, true)
		c := s.talking()
		c.mu.Lock()
		c.panics = true
		c.mu.Unlock()
		s.pass(time.Second, false)
		if !c.over() {
			t.Fatal("the conversation goes on")
		}
		s.pass(2*time.Second, false)
		s.pass(time.Second, true)
		s.talking()
		if s.log.count("panic in") != 1 {
			t.Error("the log does not say why")
		}
	})
}

func TestTheLineSurvivesItsOwnPanic(t *testing.T) {
	perform(t, Options{Start: OnSpeech}, func(s *stage) {
		s.cards.poison = true
		s.pass(100*time.Millisecond, true)
		s.cards.poison = false
		s.pass(time.Second, false)
		if s.log.count("panic in") == 0 {
			t.Error("the log does not say why")
		}
		s.pass(time.Second, true)
		s.talking()
	})
}

func TestAFullBoxIsTriedAgain(t *testing.T) {
	perform(t, Options{Start: OnSpeech, Cue: Tones}, func(s *stage) {
		s.desk.refuse(contract.ErrFull{RetryAfter: time.Second})
		s.pass(time.Second, true)
		s.pass(3*time.Second, false)
		s.quiet()
		low := 0
		for _, v := range s.cards.played {
			if v != 0 {
				low++
			}
		}
		if low < noteLength {
			t.Error("nothing tells the person")
		}
		s.desk.refuse(nil)
		s.pass(time.Second, true)
		s.talking()
	})
}

func TestShutdownEndsTheConversation(t *testing.T) {
	perform(t, Options{Start: OnSpeech}, func(s *stage) {
		s.pass(time.Second, true)
		c := s.talking()
		must(t, c.says("a", time.Minute))
		s.pass(time.Second, false)
		// perform closes the speaker, and checks that nothing is left.
	})
	perform(t, Options{Start: OnSpeech}, func(s *stage) { // the session does not end by itself
		s.pass(time.Second, true)
		s.talking()
		s.drop()
		synctest.Wait()
	})
}
