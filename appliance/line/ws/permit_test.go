package ws

import (
	"testing"

	"github.com/coder/websocket"

	"parley/appliance/contract"
)

func TestForbiddenMessagesAreAnsweredWithAnError(t *testing.T) {
	b := start(t, Timing{})
	b.permits = contract.CheckKioskMessage
	c, s := b.dial("", nil)
	send(t, c, websocket.MessageText, `{"type":"session_settings","system_prompt":"You are a poet."}`)
	if e, ok := read(t, c).(contract.WebSocketError); !ok || e.Code != contract.NotPermitted {
		t.Errorf("got %+v", e)
	}
	send(t, c, websocket.MessageText, `{"type":"user_input","text":"still here"}`)
	if m := got(t, s.got); m != (contract.UserInput{Text: "still here"}) {
		t.Errorf("received %+v", m)
	}
}
