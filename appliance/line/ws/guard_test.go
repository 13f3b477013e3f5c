package ws

import (
	"errors"
	"testing"

	"github.com/coder/websocket"

	"parley/appliance/contract"
)

var revoked = contract.ErrUnauthorized{Why: "revoked"}

// wantBarred reads the error KeyRevoked, and then the close.
func wantBarred(t *testing.T, c *websocket.Conn) {
	t.Helper()
	if e, ok := read(t, c).(contract.WebSocketError); !ok || e.Code != contract.KeyRevoked {
		t.Errorf("got %+v, want %s", e, contract.KeyRevoked)
	}
	if ce := closed(t, c); ce.Code != contract.ClosePolicy || ce.Reason != "key_revoked" {
		t.Errorf("closed with %d %q", ce.Code, ce.Reason)
	}
}

func TestMessagesOfARevokedKeyAreNotAccepted(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial("", nil)
	send(t, c, websocket.MessageText, `{"type":"user_input","text":"one"}`)
	if m := got(t, s.got); m != (contract.UserInput{Text: "one"}) {
		t.Fatalf("received %+v", m)
	}
	b.bar(revoked)
	send(t, c, websocket.MessageText, `{"type":"user_input","text":"two"}`)
	wantBarred(t, c)
	if len(s.got) > 0 {
		t.Errorf("received %+v", <-s.got)
	}
}

func TestARevokedClientIsDroppedEvenIfItSendsNoMessage(t *testing.T) {
	b := start(t, Timing{})
	c, _ := b.dial("", nil)
	b.lose()
	wantBarred(t, c)
	if b.asked != 0 {
		t.Errorf("asked %d times", b.asked)
	}
}

// Fifty pieces of audio a second must not cause as many database queries.
func TestAudioCausesNoAuthorizationChecks(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial(raw, nil)
	for range 50 {
		send(t, c, websocket.MessageBinary, "\x00\x00")
		send(t, c, websocket.MessageText, `{"type":"audio_input","data":"AAAAAA=="}`)
		got(t, s.got)
		got(t, s.got)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked != 0 {
		t.Errorf("asked %d times", b.asked)
	}
}

func TestAFailedAuthorizationCheckDropsNobody(t *testing.T) {
	b := start(t, Timing{})
	c, s := b.dial("", nil)
	b.bar(errors.New("the database is busy"))
	for range 5 {
		send(t, c, websocket.MessageText, `{"type":"user_input","text":"still here"}`)
		if m := got(t, s.got); m != (contract.UserInput{Text: "still here"}) {
			t.Fatalf("received %+v", m)
		}
	}
}
