package phone

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/contract"
)

func TestACallIsAChat(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("+4930123", "100")
		if !c.rang || !c.picked || c.rejected != 0 {
			t.Fatalf("it rang: %v, was answered: %v, refused: %d", c.rang, c.picked, c.rejected)
		}
		k := s.talking()
		if k.Account != "museum" || k.Settings.ConfigID != "guide" || !k.Settings.AllowConnection || !k.RealTime ||
			k.Kind != "phone" || k.Call.CallerNumber != "+4930123" || k.Call.Direction != contract.Inbound ||
			k.Call.To != "100" || k.Call.Trunk != "desk" || k.Silent || k.Unrecorded {
			t.Errorf("the chat is %+v of %+v", k.Opening, k.Call)
		}
		c.leg.speaks(time.Second, true)
		if _, loud := k.voice(); loud < 900*time.Millisecond {
			t.Errorf("the chat heard %v of a second", loud)
		}
		if k.says("a", 3*time.Second) != nil || k.played != "a" {
			t.Errorf("%q was reported as played", k.played)
		}
		live, _ := s.Calls()
		if len(live) != 1 || live[0].State != contract.CallTalking || live[0].ChatID != "chat" ||
			live[0].Codec != "PCMU" || live[0].From != "+4930123" || live[0].DurationSecs != 1 {
			t.Errorf("%+v", live)
		}
		c.leg.end(false, nil)
		if !k.over() || !k.left {
			t.Error("the chat goes on without its caller")
		}
		if _, ended := s.Calls(); len(ended) != 1 || ended[0].EndReason != "The far end hung up." {
			t.Errorf("%+v", ended)
		}
	})
}

func TestTheLastWordsAreHeardBeforeTheBoxHangsUp(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("1", "100")
		k := s.talking()
		_ = k.says("a", 4*time.Second)
		k.end(contract.CloseNormal)
		time.Sleep(3900 * time.Millisecond)
		if over, _ := c.leg.over(); over {
			t.Error("the box hung up before the assistant had finished")
		}
		time.Sleep(200 * time.Millisecond)
		if over, byBox := c.leg.over(); !over || !byBox {
			t.Error("the box does not hang up")
		}
	})
}

func TestAFarEndThatNeverHearsIsHungUpOn(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("1", "100")
		c.leg.deaf = true
		s.talking().end(contract.CloseNormal)
		time.Sleep(drainTimeout + time.Second)
		if over, _ := c.leg.over(); !over {
			t.Error("the call goes on")
		}
	})
}

func TestAChatThatFailsIsHungUpAtOnce(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("1", "100")
		k := s.talking()
		_ = k.says("a", time.Minute)
		k.end(contract.CloseInternal)
		if over, byBox := c.leg.over(); !over || !byBox {
			t.Error("the call goes on")
		}
	})
}

func TestCallsThatCannotBeTakenAreRefusedBeforeTheyRing(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		for _, row := range []struct {
			to     string
			why    error
			status int
			retry  time.Duration
		}{
			{to: "404", status: 404},
			{"100", contract.ErrTooMany{RetryAfter: 30 * time.Second}, 486, 30 * time.Second},
			{"100", contract.ErrFull{RetryAfter: 20 * time.Second}, 503, 20 * time.Second},
			{"100", contract.ErrUnavailable{RetryAfter: 2 * time.Second}, 503, 2 * time.Second},
			{to: "100", why: errors.New("broken"), status: 500},
		} {
			s.desk.refuses = row.why
			if c := s.invite("1", row.to); c.rejected != row.status || c.retry != row.retry || c.rang || c.picked {
				t.Errorf("%s, %v: refused with %d, try again in %v; it rang: %v", row.to, row.why, c.rejected, c.retry,
					c.rang)
			}
		}
		s.desk.refuses = nil
		s.Stop()
		if c := s.invite("1", "100"); c.rejected != 503 || c.rang {
			t.Errorf("a box that stops refuses with %d", c.rejected)
		}
	})
}

func TestACallerWhoGivesUpCostsNothing(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := &caller{leg: newLeg(), slow: true}
		s.over.Go(func() { s.Invited(s.t.Context(), Caller{From: "1", To: "100"}, c) })
		synctest.Wait()
		if live, ended := s.Calls(); len(live) != 0 || len(ended) != 1 || ended[0].EndReason != "The caller gave up." ||
			s.desk.slots() != 0 {
			t.Errorf("%+v, %+v, %d slots", live, ended, s.desk.slots())
		}
	})
}

func TestOnHoldTheAssistantIsSilent(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("1", "100")
		k := s.talking()
		c.leg.onHold(true)
		got := k.messages()
		if len(got) != 1 || got[0] != (contract.PauseAssistantMessage{}) {
			t.Errorf("on hold the chat got %+v", got)
		}
		if live, _ := s.Calls(); !live[0].OnHold {
			t.Error("the status does not say so")
		}
		c.leg.onHold(true)
		c.leg.onHold(false)
		if got := k.messages(); len(got) != 1 || got[0] != (contract.ResumeAssistantMessage{}) {
			t.Errorf("after the hold the chat got %+v", got)
		}
	})
}

func TestKeysAreOneMessageOfTheUser(t *testing.T) {
	for _, row := range []struct{ keys, digits, words string }{
		{"42", "42", "The caller pressed 4 2."},
		{"42#", "42#", "The caller pressed 4 2."},
		{"*1", "*1", "The caller pressed star 1."},
		{"#", "#", "The caller pressed pound."},
	} {
		perform(t, Options{}, func(s *stage) {
			c := s.invite("1", "100")
			k := s.talking()
			c.leg.keys(row.keys)
			got := k.messages()
			if got[0] != (contract.UserInput{Digits: row.keys[:1]}) {
				t.Errorf("%s: the first key does not interrupt: %+v", row.keys, got)
			}
			if row.keys[len(row.keys)-1] != '#' {
				if len(got) != len(row.keys) {
					t.Errorf("%s: %+v before the caller has finished", row.keys, got)
				}
				time.Sleep(digitPause - 300*time.Millisecond)
				if more := k.messages(); len(more) != 0 {
					t.Errorf("%s: %+v too early", row.keys, more)
				}
				time.Sleep(200 * time.Millisecond)
				got = k.messages()
			}
			if last := got[len(got)-1]; last != (contract.UserInput{Text: row.words, Digits: row.digits}) {
				t.Errorf("%s: %+v", row.keys, last)
			}
		})
	}
}

func TestAPanicEndsOneCall(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		other := s.invite("2", "100")
		s.talking()
		for _, crash := range []func(c *caller, k *talk){
			func(c *caller, k *talk) {
				k.panics = true
				c.leg.speaks(20*time.Millisecond, true)
			},
		} {
			c := s.invite("1", "100")
			k := s.talking()
			crash(c, k)
			if over, byBox := c.leg.over(); !over || !byBox || !k.over() {
				t.Error("the call goes on")
			}
		}
		if over, _ := other.leg.over(); over || !s.log.contains("panic") {
			t.Error("another call ended, or nothing was logged")
		}
	})
}

func TestAPanicBeforeACallRefusesIt(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		s.Answers = func(context.Context, string) (Assistant, error) { panic("the extensions") }
		if c := s.invite("1", "100"); c.rejected != 500 || !s.log.contains("panic") {
			t.Errorf("refused with %d", c.rejected)
		}
	})
}

func TestAFarEndThatVanishesEndsTheChat(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("1", "100")
		k := s.talking()
		c.leg.end(false, errors.New("nothing came for 20 s"))
		if !k.over() {
			t.Error("the chat goes on")
		}
		if _, ended := s.Calls(); ended[0].EndReason != "Nothing came for 20 s." {
			t.Errorf("%+v", ended)
		}
	})
}

func TestAnOperatorHangsUp(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("1", "100")
		k := s.talking()
		live, _ := s.Calls()
		if err := s.HangUp(live[0].CallID); err != nil {
			t.Fatal(err)
		}
		if over, byBox := c.leg.over(); !over || !byBox || !k.over() {
			t.Error("the call goes on")
		}
		if _, missing := errors.AsType[contract.ErrNotFound](s.HangUp(live[0].CallID)); !missing {
			t.Error("it can be hung up twice")
		}
	})
}

func TestABoxWithManyCallsRefusesMore(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		for range maxCalls {
			c := &Call{}
			if err := s.add(c); err != nil {
				t.Fatal(err)
			}
			defer s.forget(c)
		}
		if c := s.invite("1", "100"); c.rejected != 503 || c.retry == 0 {
			t.Errorf("one more was refused with %d", c.rejected)
		}
	})
}

func TestNumbersOfCallersAreE164WhereThatCanBeTold(t *testing.T) {
	for from, want := range map[string]string{
		"+4930123456":  "+4930123456",
		"004930123456": "+4930123456",
		"030123456":    "030123456",
		"007":          "007",
		"100":          "100",
		"00ada":        "00ada",
		"":             "",
		"alice":        "alice",
	} {
		if got := callerNumber(from); got != want {
			t.Errorf("%q is %q, want %q", from, got, want)
		}
	}
}
