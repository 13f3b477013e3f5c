package webrtc

import (
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/pion/turn/v5"
	pion "github.com/pion/webrtc/v4"
	"go.uber.org/goleak"

	"parley/appliance/contract"
)

// relay starts a TURN server with a user.
func relay(t *testing.T) (address string) {
	t.Helper()
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := turn.NewServer(turn.ServerConfig{
		Realm: "box.example",
		AuthHandler: func(a *turn.RequestAttributes) (string, []byte, bool) {
			return a.Username, turn.GenerateAuthKey("box", "box.example", "secret"), a.Username == "box"
		},
		PacketConnConfigs: []turn.PacketConnConfig{
			{PacketConn: socket,
				RelayAddressGenerator: &turn.RelayAddressGeneratorStatic{RelayAddress: net.IPv4(127, 0, 0, 1),
					Address: "127.0.0.1"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return socket.LocalAddr().String()
}

// A box that is not reachable itself is reached through a TURN server.
func TestACallCanUseATURNServer(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	at := relay(t)
	d := &desk{opened: make(chan *talk, 9)}
	n := Network{Address: "127.0.0.1:0",
		Servers: []pion.ICEServer{{URLs: []string{"turn:" + at + "?transport=udp"}, Username: "box",
			Credential: "secret"}}}
	s, err := Open(d, n, Timing{}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	l := startOn(t, d, s)
	l.answered = func(answer string) string { // the client learns only the relay's address
		var kept strings.Builder
		relays := 0
		for line := range strings.Lines(answer) {
			if strings.HasPrefix(line, "a=candidate:") && !strings.Contains(line, "typ relay") {
				continue
			}
			if strings.Contains(line, "typ relay") {
				relays++
			}
			kept.WriteString(line)
		}
		if relays == 0 {
			t.Errorf("the answer has no relay:\n%s", answer)
		}
		return kept.String()
	}
	c := l.dial(t, "")
	talk := got(t, l.opened)
	if err := talk.Line.Send(t.Context(), contract.AssistantMessage{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	if m := got(t, c.messages); !strings.Contains(m, "assistant_message") {
		t.Errorf("the client got %s", m)
	}
	talk.end(contract.CloseNormal, "")
}
