package phone

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// transferred is the result of the tool transfer.
type transferred struct {
	connection.ToolResult
	err error
}

// transfers lets the model call the tool transfer.
func (s *stage) transfers(k *talk, attended bool) (result chan transferred, cancel context.CancelFunc) {
	ctx, cancel := context.WithCancel(s.t.Context())
	result = make(chan transferred, 1)
	s.over.Go(func() {
		r, err := k.Tools.RunTool(ctx, connection.ToolRun{
			Name:      contract.Transfer,
			Arguments: `{"destination":"Front desk","reason":"a lost key"}`,
			Destinations: []contract.TransferDestination{{
				Name:     "front desk",
				To:       "200",
				Attended: attended,
				RingSecs: 30,
			}},
		})
		result <- transferred{r, err}
	})
	synctest.Wait()
	return result, cancel
}

// says returns what the model gets to read.
func (r transferred) says(words string) bool {
	return r.err == nil && !r.Over && strings.Contains(r.Content, words) &&
		strings.Contains(r.Content, "still on the line")
}

func TestACallerIsHandedOverToAPersonWhoAgrees(t *testing.T) {
	for _, key := range []bool{false, true} {
		perform(t, Options{Hold: make([]float32, contract.OutputRateHz)}, func(s *stage) {
			c := s.invite("+4930123", "100")
			k := s.talking()
			result, _ := s.transfers(k, true)
			c.leg.speaks(time.Second, true)
			if heard, _ := k.voice(); heard > 0 {
				t.Error("the chat hears the caller who waits")
			}
			if c.leg.Unsent() == 0 {
				t.Error("there is no music")
			}
			d := s.dialled()
			if d.To != "200" || d.Trunk != "desk" || d.Ring != 30*time.Second {
				t.Errorf("the box calls %+v", d.Dialled)
			}
			l := d.picksUp()
			l.speaks(500*time.Millisecond, true)
			l.speaks(time.Second, false)
			if said := s.spoken(); !strings.Contains(said, "+4 9 3 0 1 2 3") || !strings.Contains(said, "a lost key") {
				t.Errorf("the box says %q", said)
			}
			if key {
				l.keys("1")
			} else {
				s.answers(l, "Yes.")
			}
			r := <-result
			if r.err != nil || !r.Over {
				t.Fatalf("the tool says %+v", r)
			}
			if c.leg.Unsent() != 0 {
				t.Error("the music goes on")
			}
			k.end(contract.CloseNormal) // as the session does
			caller, person := c.leg.sent().relayed, l.sent().relayed
			c.leg.speaks(time.Second, true)
			l.speaks(2*time.Second, true)
			caller, person = c.leg.sent().relayed-caller, l.sent().relayed-person
			if caller != 32000 || person != 16000 {
				t.Errorf("%d samples reached the caller, %d the person", caller, person)
			}
			c.leg.keys("7531")
			if keys := l.sent().pressed; keys != "7531" {
				t.Errorf("the keys %q reached the person", keys)
			}
			if live, _ := s.Calls(); live[0].State != contract.CallJoined {
				t.Errorf("%+v", live)
			}
			if got := k.messages(); len(got) != 1 || !strings.Contains(
				string(got[0].(contract.SessionSettings).Metadata["call"]), `"handed_over_to":"200"`) {
				t.Errorf("the chat got %+v", got)
			}
			l.end(false, nil)
			if over, byBox := c.leg.over(); !over || !byBox {
				t.Error("the caller is left alone")
			}
		})
	}
}

func TestACallerWhoHangsUpEndsTheOtherCall(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("1", "100")
		k := s.talking()
		result, _ := s.transfers(k, true)
		l := s.dialled().picksUp()
		l.keys("1")
		l.keys("1")
		<-result
		k.end(contract.CloseNormal)
		c.leg.end(false, nil)
		if over, byBox := l.over(); !over || !byBox {
			t.Error("the person is left alone")
		}
	})
}

func TestACallerIsTakenBackIfNobodyTakesTheCall(t *testing.T) {
	for words, play := range map[string]func(s *stage, d *dial){
		"does not take the call": func(s *stage, d *dial) {
			l := d.picksUp()
			l.keys("4") // only people press keys
			l.keys("2")
		},
		"neither yes nor no": func(s *stage, d *dial) { d.picksUp().speaks(2*time.Minute, false) },
		"hung up": func(s *stage, d *dial) {
			l := d.picksUp()
			l.keys("4")
			l.end(false, nil)
		},
		"a mailbox answered": func(s *stage, d *dial) { d.picksUp().speaks(6*time.Second, true) },
		"busy":               func(s *stage, d *dial) { d.answer <- answered{err: DialError{By: contract.ByBusy}} },
		"nobody answered":    func(s *stage, d *dial) { time.Sleep(31 * time.Second) },
	} {
		perform(t, Options{Hold: make([]float32, contract.OutputRateHz)}, func(s *stage) {
			c := s.invite("1", "100")
			k := s.talking()
			result, _ := s.transfers(k, true)
			d := s.dialled()
			play(s, d)
			synctest.Wait()
			select {
			case r := <-result:
				if !r.says(words) {
					t.Errorf("%s: the tool says %+v", words, r)
				}
			default:
				t.Fatalf("%s: the tool still runs", words)
			}
			if c.leg.Unsent() != 0 {
				t.Errorf("%s: the music goes on", words)
			}
			c.leg.speaks(time.Second, true)
			if _, loud := k.voice(); loud < 900*time.Millisecond {
				t.Errorf("%s: the chat hears %v of a second of the caller", words, loud)
			}
			if live, _ := s.Calls(); live[0].State != contract.CallTalking {
				t.Errorf("%s: %+v", words, live)
			}
			if _, cancel := s.transfers(k, true); true { // another attempt
				s.dialled()
				cancel()
			}
		})
	}
}

func TestACallerWhoHangsUpEndsTheTransfer(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("1", "100")
		k := s.talking()
		result, cancel := s.transfers(k, true)
		l := s.dialled().picksUp()
		c.leg.end(false, nil)
		if !k.over() {
			t.Error("the chat goes on")
		}
		cancel() // as the session does
		if over, byBox := l.over(); !over || !byBox {
			t.Error("the person is left on the line")
		}
		if r := <-result; r.err == nil {
			t.Errorf("the tool says %+v", r)
		}
	})
}

func TestABlindTransferIsTheCarriers(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("1", "100")
		k := s.talking()
		_ = k.says("a", time.Second)
		result, _ := s.transfers(k, false)
		if c.leg.sent().referred != "" {
			t.Error("the caller is gone before the assistant has finished")
		}
		time.Sleep(1100 * time.Millisecond)
		if r := <-result; !r.Over || c.leg.sent().referred != "200" {
			t.Errorf("%+v, to %q", r, c.leg.sent().referred)
		}
		c = s.invite("1", "100")
		k = s.talking()
		c.leg.refer = errors.New("the carrier does not transfer calls")
		result, _ = s.transfers(k, false)
		if r := <-result; !r.says("the carrier does not") {
			t.Errorf("%+v", r)
		}
		c.leg.speaks(time.Second, true)
		if _, loud := k.voice(); loud == 0 {
			t.Error("the chat does not hear the caller any more")
		}
	})
}

func TestTheModelCallsOnlyDestinationsOfTheConfig(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		s.invite("1", "100")
		k := s.talking()
		for _, arguments := range []string{`{"destination":"+49900666"}`, `{}`, `7`} {
			_, err := k.Tools.RunTool(t.Context(), connection.ToolRun{
				Name:         contract.Transfer,
				Arguments:    arguments,
				Destinations: []contract.TransferDestination{{Name: "desk", To: "200"}},
			})
			if err == nil || len(s.dials) != 0 {
				t.Errorf("%s: %v", arguments, err)
			}
		}
	})
}

func TestTheModelSendsKeys(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("1", "100")
		k := s.talking()
		send := func(digits string) error {
			_, err := k.Tools.RunTool(t.Context(), connection.ToolRun{
				Name:      contract.SendDigits,
				Arguments: `{"digits":"` + digits + `"}`,
			})
			return err
		}
		if err := send("4 2*#a"); err != nil || c.leg.sent().pressed != "42*#A" {
			t.Errorf("%q was pressed: %v", c.leg.sent().pressed, err)
		}
		for _, bad := range []string{"", "x", "1,2", strings.Repeat("1", contract.MaxSentKeys+1)} {
			if send(bad) == nil {
				t.Errorf("%q was sent", bad)
			}
		}
	})
}

func TestAnOperatorHandsACallOver(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("1", "100")
		k := s.talking()
		live, _ := s.Calls()
		transfer := func() chan error {
			done := make(chan error, 1)
			s.over.Go(func() {
				done <- s.Transfer(s.t.Context(), live[0].CallID, contract.PostedPhoneTransfer{
					To:       "300",
					Attended: true,
					Brief:    "An angry guest.",
					RingSecs: 20,
				})
			})
			synctest.Wait()
			return done
		}
		err := s.Transfer(s.t.Context(), live[0].CallID, contract.PostedPhoneTransfer{
			To:       "sip:a@elsewhere",
			Attended: true,
		})
		if e, _ := errors.AsType[contract.ErrInvalid](err); e.Field != "to" || s.spoken() != "" {
			t.Errorf("an address of another system: %v", err)
		}
		done := transfer()
		if said := s.spoken(); said != "One moment, I am putting you through." || len(s.dials) != 0 {
			t.Errorf("the caller hears %q; the box calls already: %v", said, len(s.dials) != 0)
		}
		if got := k.messages(); len(got) != 1 || got[0] != (contract.PauseAssistantMessage{}) {
			t.Errorf("the chat got %+v", got)
		}
		if err := <-transfer(); err == nil {
			t.Error("there are two transfers at once")
		}
		time.Sleep(26 * time.Second)
		_, conflict := errors.AsType[contract.ErrConflict](<-done)
		synctest.Wait()
		if got := k.messages(); !conflict || len(got) != 2 || got[0] != (contract.AssistantInput{
			Text: "I am sorry, nobody can take the call at the moment."}) && got[1] != (contract.AssistantInput{
			Text: "I am sorry, nobody can take the call at the moment."}) {
			t.Errorf("nobody answered: %v; the chat got %+v", conflict, got)
		}
		s.dialled()
		done = transfer()
		time.Sleep(5 * time.Second)
		l := s.dialled().picksUp()
		l.keys("1")
		if said := s.spoken(); !strings.Contains(said, "An angry guest.") {
			t.Errorf("the box says %q", said)
		}
		l.keys("1")
		if err := <-done; err != nil || !k.over() {
			t.Errorf("the person took the call: %v; the chat is over: %v", err, k.over())
		}
		if live, _ := s.Calls(); live[0].State != contract.CallJoined {
			t.Errorf("%+v", live)
		}
		c.leg.end(false, nil)
		if over, _ := l.over(); !over {
			t.Error("the person is left alone")
		}
	})
}

func TestJoinedCallsEndWithTheBox(t *testing.T) {
	perform(t, Options{}, func(s *stage) {
		c := s.invite("1", "100")
		k := s.talking()
		result, _ := s.transfers(k, true)
		l := s.dialled().picksUp()
		l.keys("11")
		<-result
		k.end(contract.CloseNormal)
		s.Stop()
		over, _ := l.over()
		if mine, _ := c.leg.over(); !over || !mine {
			t.Error("they go on")
		}
	})
}
