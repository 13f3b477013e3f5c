package chat

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSpokenTurnFromSoundToSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes()
		_, c := open(t, f)
		hear(t, c, 1000, true)
		hear(t, c, 1000, false)
		f.until(t, "assistant_end")
		want := "chat_metadata user_message assistant_message audio_output assistant_message audio_output assistant_end"
		if f.messages() != want {
			t.Fatalf("sent %q", f.messages())
		}
	})
}

func TestAClientThatStopsSendingEndsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes()
		_, c := open(t, f)
		hear(t, c, 1000, true)
		f.until(t, "assistant_end")
	})
}

// A chat that lasts too long, or in which no one speaks, sends the reason to its client and listeners, and
// then closes normally.
func TestATimeoutIsReportedBeforeTheLineIsClosed(t *testing.T) {
	for code, set := range map[contract.Code]func(*turn.Settings){
		contract.InactivityTimeout:  func(s *turn.Settings) { s.Inactivity = time.Minute },
		contract.MaxDurationTimeout: func(s *turn.Settings) { s.MaxDuration = time.Minute },
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes()
			c := begin(t, hostOf(f, func(p *Parts) {
				set(&p.Defaults)
			}), connection.Opening{Line: f, RequestID: "request", Settings: contract.ConnectSettings{
				SessionSettings: contract.SessionSettings{CustomSessionID: "mine"}}})
			along, err := c.Listen(false)
			if err != nil {
				t.Fatal(err)
			}
			defer along.Close()
			if closed := <-f.closed; closed != contract.CloseNormal {
				t.Errorf("%s closes with %d", code, closed)
			}
			want := `{"type":"error","code":"` + string(code) + `","slug":"` + code.Slug() + `","message":"` +
				code.Message() +
				`","request_id":"request","custom_session_id":"mine"}`
			f.mu.Lock()
			defer f.mu.Unlock()
			if got, _ := contract.Marshal(f.sent[len(f.sent)-1]); string(got) != want {
				t.Errorf("the last message is %s, want %s", got, want)
			}
			var last contract.ServerMessage
			for copied, err := along.Next(t.Context()); err == nil; copied, err = along.Next(t.Context()) {
				last = copied.Message
			}
			if got, _ := contract.Marshal(last); string(got) != want {
				t.Errorf("the last message of the listener is %s, want %s", got, want)
			}
		})
	}
}

func TestEverythingSentIsStoredFirst(t *testing.T) {
	f := newFakes()
	_, c := open(t, f)
	if err := c.Receive(contract.UserInput{Text: "Hello"}); err != nil {
		t.Fatal(err)
	}
	f.until(t, "assistant_end")
	var types []string
	f.mu.Lock()
	for _, e := range f.stored {
		types = append(types, string(e.Type))
		if e.ID == "" {
			t.Errorf("%s has no id", e.Type)
		}
	}
	f.mu.Unlock()
	if got := strings.Join(types,
		" "); got != "CHAT_START_MESSAGE SYSTEM_PROMPT USER_MESSAGE AGENT_MESSAGE AGENT_MESSAGE" {
		t.Fatalf("stored %s", got)
	}
}

func TestDiskThatFailsEndsTheChatAndSendsNothingUnwritten(t *testing.T) {
	f := newFakes()
	f.full = store.ErrFull
	_, c := open(t, f)
	<-c.Done()
	if code := <-f.closed; code != contract.CloseInternal {
		t.Errorf("closed with %d", code)
	}
	if f.messages() != "error" || f.status != store.Failed {
		t.Errorf("sent %q, status %s", f.messages(), f.status)
	}
}

func TestSettingsApplyToTheAudioAfterThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes()
		_, c := open(t, f)
		if c.Audio() != nil {
			t.Errorf("the chat begins with the format %+v", c.Audio())
		}
		format := contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: 16000, Channels: 1}
		if err := c.Receive(contract.SessionSettings{Audio: &format, CustomSessionID: "mine"}); err != nil {
			t.Fatal(err)
		}
		if a := c.Audio(); a == nil || *a != format {
			t.Errorf("after the settings %+v is in force", a)
		}
		empty := " "
		refused := contract.SessionSettings{SystemPrompt: &empty,
			Audio: &contract.AudioConfiguration{Encoding: contract.Linear16, SampleRate: 8000, Channels: 1}}
		if err := c.Receive(refused); err != nil {
			t.Fatal(err)
		}
		if a := c.Audio(); *a != format {
			t.Errorf("after settings that were refused %+v is in force", a)
		}
		hear(t, c, 1000, true)
		f.until(t, "user_message")
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, m := range f.sent {
			if u, ok := m.(contract.UserMessage); ok && u.CustomSessionID != "mine" {
				t.Errorf("the user message has custom_session_id %q", u.CustomSessionID)
			}
		}
	})
}

func TestResumedChatRemembers(t *testing.T) {
	f := newFakes()
	_, c := open(t, f, func(p *contract.ConnectSettings) { p.ResumedChatGroupID = contract.NewID() })
	if err := c.Receive(contract.UserInput{Text: "Who am I?"}); err != nil {
		t.Fatal(err)
	}
	f.until(t, "assistant_end")
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked[0]
	if len(asked) != 4 || asked[2].Content != "Hello, Ann." {
		t.Fatalf("the model was asked %+v", asked)
	}
}

func TestUnknownVoiceIsRefused(t *testing.T) {
	f := newFakes()
	h := hostOf(f)
	_, err := enter(t, h, connection.Opening{Line: f, Settings: contract.ConnectSettings{VoiceID: "nobody"}})
	if fault, ok := errors.AsType[contract.Fault](err); !ok || fault.Code != contract.VoiceNotFound {
		t.Fatalf("refused with %v", err)
	}
	if h.Running() != 0 {
		t.Fatal("the slot was not given back")
	}
}

func TestFullHostRefusesAndAStoppedOneEndsItsChats(t *testing.T) {
	f := newFakes()
	h, c := open(t, f)
	if _, err := h.Reserve("a"); err == nil {
		t.Fatal("a second chat found a slot")
	}
	if err := h.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if code := <-f.closed; code != contract.CloseGoingAway {
		t.Fatalf("closed with %d", code)
	}
	if _, err := h.Reserve("a"); err == nil {
		t.Fatal("a stopped host took a chat")
	}
}
