package phone

import (
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
)

// answers waits until the question was said, and lets the person say words to it.
func (s *stage) answers(l *leg, words ...string) {
	s.t.Helper()
	for _, w := range words {
		time.Sleep(10 * time.Second) // the voice says ten characters a second
		s.said.say(w)
		l.speaks(400*time.Millisecond, true)
		l.speaks(600*time.Millisecond, false)
	}
}

func TestNobodyIsRecordedWhoDoesNotWantIt(t *testing.T) {
	for _, row := range []struct {
		says     []string
		keys     string
		recorded bool
		fact     string
	}{
		{says: []string{"Yes, of course."}, recorded: true, fact: `"recording":"yes"`},
		{says: []string{"No."}, fact: `"recording":"no"`},
		{says: []string{"What?", "I'd rather not."}, fact: `"recording":"no"`},
		{says: []string{"Who is this?", "Yes."}, recorded: true, fact: `"recording":"yes"`},
		{keys: "1", recorded: true, fact: `"recording":"yes"`},
		{keys: "2", fact: `"recording":"no"`},
		{fact: `"recording":"unanswered"`},
	} {
		perform(t, Options{Consent: ConsentAsk}, func(s *stage) {
			c := s.invite("1", "100")
			if len(s.desk.opened) != 0 {
				t.Fatal("the chat began before the question was answered")
			}
			if said := s.spoken(); !strings.Contains(said, "May this call be recorded?") {
				t.Errorf("the box says %q", said)
			}
			s.answers(c.leg, row.says...)
			c.leg.keys(row.keys)
			if row.says == nil && row.keys == "" {
				time.Sleep(time.Minute)
			}
			k := s.talking()
			if k.Unrecorded == row.recorded {
				t.Errorf("%v%s: recorded: %v", row.says, row.keys, !k.Unrecorded)
			}
			if call := string(k.Settings.SessionSettings.Metadata["call"]); !strings.Contains(call, row.fact) {
				t.Errorf("%v%s: the metadata are %s", row.says, row.keys, call)
			}
			c.leg.speaks(time.Second, true)
			if _, loud := k.voice(); loud < 900*time.Millisecond {
				t.Errorf("afterwards the chat hears %v of a second", loud)
			}
		})
	}
}

func TestAnAnnouncementComesBeforeTheChat(t *testing.T) {
	perform(t, Options{Consent: ConsentAnnounce}, func(s *stage) {
		s.invite("1", "100")
		if said := s.spoken(); said != "This call is recorded." || len(s.desk.opened) != 0 {
			t.Errorf("the box says %q, and %d chats are open", said, len(s.desk.opened))
		}
		time.Sleep(3 * time.Second)
		if k := s.talking(); k.Unrecorded {
			t.Error("the chat is not recorded")
		}
	})
}

func TestOnlyARecordingIsAnnounced(t *testing.T) {
	for name, change := range map[string]func(s *stage){
		"a box without recordings":  func(s *stage) { s.who.Recorded = false },
		"a chat without a history":  func(s *stage) { s.who.Settings.NoHistory = true },
		"settings that want silent": func(s *stage) { s.options.Consent = ConsentNone },
	} {
		perform(t, Options{Consent: ConsentAsk}, func(s *stage) {
			change(s)
			s.invite("1", "100")
			s.talking()
			if said := s.spoken(); said != "" {
				t.Errorf("%s: the box says %q", name, said)
			}
		})
	}
}

func TestACallerWhoHangsUpAtTheQuestionIsInTheHistory(t *testing.T) {
	perform(t, Options{Consent: ConsentAsk}, func(s *stage) {
		c := s.invite("1", "100")
		c.leg.end(false, nil)
		k := s.talking()
		if live, ended := s.Calls(); len(live) != 0 || ended[0].EndReason != "The far end hung up." || !k.over() ||
			!k.left || !k.Silent || !k.Unrecorded {
			t.Errorf("%+v, %+v", live, ended)
		}
	})
}

func TestABoxThatStopsWaitsForNoAnswer(t *testing.T) {
	perform(t, Options{Consent: ConsentAsk}, func(s *stage) {
		c := s.invite("1", "100")
		s.Stop()
		if over, byBox := c.leg.over(); !over || !byBox || s.desk.slots() != 0 {
			t.Errorf("the call is over: %v; %d slots are taken", over, s.desk.slots())
		}
	})
}

// A voice that fails must not keep a call.
func TestABrokenVoiceEndsTheCall(t *testing.T) {
	for _, consent := range []Consent{ConsentAnnounce, ConsentAsk} {
		for _, voice := range []Voice{broken{}, crashing{}} {
			perform(t, Options{Consent: consent}, func(s *stage) {
				s.who.Voice = voice
				c := s.invite("1", "100")
				if over, byBox := c.leg.over(); !over || !byBox {
					t.Errorf("%s, %T: the call goes on", consent, voice)
				}
				if _, ended := s.Calls(); ended[0].EndReason == "" || ended[0].State != contract.CallEnded {
					t.Errorf("%+v", ended)
				}
			})
		}
	}
}
