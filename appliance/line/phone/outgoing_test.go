package phone

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// calls lets the box call +4930123.
func (s *stage) calls() contract.PhoneCall {
	s.t.Helper()
	c, err := s.Call(s.t.Context(), "museum", contract.PostedPhoneCall{To: "+4930123", ConfigID: "guide"})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func TestAPersonWhoAnswersTalksToTheAssistant(t *testing.T) {
	for _, greets := range []bool{false, true} {
		perform(t, Options{}, func(s *stage) {
			s.who.Greets = greets
			call := s.calls()
			if call.State != contract.CallRinging || call.CallID == "" || call.Trunk != "desk" ||
				call.To != "+4930123" {
				t.Errorf("%+v", call)
			}
			d := s.dialled()
			if d.To != "+4930123" || d.Trunk != "desk" {
				t.Errorf("the box calls %+v", d.Dialled)
			}
			l := d.picksUp()
			l.speaks(700*time.Millisecond, true) // Hello?
			l.speaks(time.Second, false)
			k := s.talking()
			if k.Call.AnsweredBy != contract.ByPerson || k.Call.Direction != contract.Outbound || k.Silent ||
				k.Call.CallerNumber != "+4930123" {
				t.Errorf("%+v", k.Call)
			}
			l.speaks(100*time.Millisecond, false)
			if _, loud := k.voice(); greets == (loud > 0) {
				t.Errorf("the assistant greets: %v; it heard %v of the person's greeting", greets, loud)
			}
			if live, _ := s.Calls(); live[0].AnsweredBy != contract.ByPerson || live[0].State != contract.CallTalking {
				t.Errorf("%+v", live)
			}
		})
	}
}

func TestAPersonWhoHangsUpAtOnceIsInTheHistory(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		s.calls()
		s.dialled().picksUp().end(false, nil)
		k := s.talking()
		if k.Call.AnsweredBy != contract.ByPerson || !k.Silent || !k.over() {
			t.Errorf("%+v", k.Call)
		}
	})
}

func TestASilentPersonIsSpokenTo(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		s.calls()
		s.dialled().picksUp().speaks(silentPerson+100*time.Millisecond, false)
		if k := s.talking(); k.Call.AnsweredBy != contract.ByPerson {
			t.Errorf("%+v", k.Call)
		}
	})
}

func TestAMailboxGetsItsMessageBehindTheBeep(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		s.who.Mailbox = "Please call back."
		s.calls()
		l := s.dialled().picksUp()
		l.speaks(longGreeting+time.Second, true)
		l.speaks(500*time.Millisecond, false)
		if len(s.desk.opened) != 0 {
			t.Fatal("the box speaks before the beep")
		}
		l.beeps(400 * time.Millisecond)
		l.speaks(100*time.Millisecond, false)
		k := s.talking()
		if k.Call.AnsweredBy != contract.ByMailbox || !k.Silent {
			t.Errorf("%+v of %+v", k.Opening, k.Call)
		}
		if got := k.messages(); len(got) != 1 || got[0] != (contract.AssistantInput{Text: "Please call back."}) {
			t.Errorf("the chat got %+v", got)
		}
		l.speaks(time.Second, true)
		if heard, _ := k.voice(); heard > 0 {
			t.Error("the chat hears the mailbox")
		}
		_ = k.says("a", 3*time.Second)
		_ = k.Line.Send(t.Context(), contract.AssistantEnd{})
		time.Sleep(2900 * time.Millisecond)
		if over, _ := l.over(); over {
			t.Error("the box hung up within its message")
		}
		time.Sleep(200 * time.Millisecond)
		if over, byBox := l.over(); !over || !byBox || !k.over() {
			t.Error("the box does not hang up")
		}
	})
}

func TestAMailboxWithoutABeepGetsItsMessageToo(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		s.who.Mailbox = "Please call back."
		s.calls()
		l := s.dialled().picksUp()
		s.said.say("You have reached the mailbox of Ada. Leave a message.")
		l.speaks(3*time.Second, true)
		l.speaks(greetingPause+beepSilence+200*time.Millisecond, false)
		if k := s.talking(); k.Call.AnsweredBy != contract.ByMailbox || len(k.messages()) != 1 {
			t.Errorf("%+v", k.Call)
		}
	})
}

func TestACallThatReachesNobodyIsAChatThatEndsAtOnce(t *testing.T) {
	for _, by := range []contract.AnsweredBy{contract.ByBusy, contract.ByNobody, contract.ByWrongNumber,
		contract.ByRejected, contract.ByFailedNetworks} {
		perform(t, Options{}, func(s *stage) {
			s.calls()
			s.dialled().answer <- answered{err: DialError{By: by, Reason: "as the test wants"}}
			k := s.talking()
			if k.Call.AnsweredBy != by || !k.Silent || !k.Unrecorded || !k.over() || !k.left {
				t.Errorf("%s: %+v", by, k.Call)
			}
			_, ended := s.Calls()
			if len(ended) != 1 || ended[0].AnsweredBy != by || ended[0].EndReason != "As the test wants." ||
				ended[0].ChatID != "chat" {
				t.Errorf("%s: %+v", by, ended)
			}
		})
	}
}

func TestAMailboxOrARecordingWithoutAMessageIsHungUpOn(t *testing.T) {
	for said, by := range map[string]contract.AnsweredBy{
		"Please leave a message after the tone.":        contract.ByMailbox,
		"The number you have dialed is not in service.": contract.ByWrongNumber,
	} {
		perform(t, Options{}, func(s *stage) {
			s.calls()
			l := s.dialled().picksUp()
			s.said.say(said)
			l.speaks(3*time.Second, true)
			l.speaks(time.Second, false)
			k := s.talking()
			if over, byBox := l.over(); !over || !byBox || k.Call.AnsweredBy != by || !k.over() {
				t.Errorf("%s: over %v, %+v", said, over, k.Call)
			}
		})
	}
}

func TestACallWithoutASeatOrATrunkIsNotMade(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		full := contract.ErrFull{RetryAfter: time.Second}
		s.desk.refuses = full
		if _, err := s.Call(s.t.Context(), "museum", contract.PostedPhoneCall{To: "1"}); !errors.Is(err, full) {
			t.Errorf("a full box: %v", err)
		}
		_, err := s.Call(s.t.Context(), "museum", contract.PostedPhoneCall{To: "1", Trunk: "none"})
		if e, _ := errors.AsType[contract.ErrInvalid](err); e.Field != "trunk" || !strings.Contains(e.Why, "desk") {
			t.Errorf("an unknown trunk: %v", err)
		}
		_, err = s.Call(s.t.Context(), "museum", contract.PostedPhoneCall{To: "sip:desk@elsewhere"})
		if e, _ := errors.AsType[contract.ErrInvalid](err); e.Field != "to" || !strings.Contains(e.Why, "elsewhere") {
			t.Errorf("an address of another system: %v", err)
		}
		s.Trunks = nil
		_, err = s.Call(s.t.Context(), "museum", contract.PostedPhoneCall{To: "1"})
		if _, none := errors.AsType[contract.ErrUnavailable](err); !none {
			t.Errorf("no trunk: %v", err)
		}
		if len(s.dials) != 0 {
			t.Error("the box calls nevertheless")
		}
	})
}

func TestACallThatRingsCanBeEnded(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		call := s.calls()
		d := s.dialled()
		if err := s.HangUp(call.CallID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case <-d.ended:
		default:
			t.Error("it still rings")
		}
		s.calls()
		d = s.dialled()
		s.Stop()
		synctest.Wait()
		select {
		case <-d.ended:
		default:
			t.Error("it rings on a box that stops")
		}
	})
}

// beeps lets the far end beep.
func (l *leg) beeps(d time.Duration) {
	at := 0
	for range d / (20 * time.Millisecond) {
		time.Sleep(20 * time.Millisecond)
		pcm := make([]float32, engine.SpeechRateHz/50)
		for i := range pcm {
			pcm[i] = 0.1 * float32(math.Sin(2*math.Pi*1000*float64(at)/engine.SpeechRateHz))
			at++
		}
		l.hear(pcm)
		synctest.Wait()
	}
}
