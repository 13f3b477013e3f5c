package ws

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// Each client gets only the message types that its library knows, in their order. A client
// without a known library gets all types.
func TestAClientGetsTheTypesThatItsLibraryKnows(t *testing.T) {
	python := func(version string) http.Header {
		return http.Header{"X-Fern-Language": {"Python"}, "X-Fern-Sdk-Name": {"hume"}, "X-Fern-Sdk-Version": {version}}
	}
	javaScript := "fernSdkLanguage=JavaScript&fernSdkVersion="
	page := http.Header{"Origin": {"https://shop.example"}}
	const prosody, both = "assistant_prosody", "assistant_prosody tool_error"
	for _, c := range []struct {
		query   string
		header  http.Header
		unknown string
	}{
		{"", nil, ""},
		{javaScript + "0.8.10", nil, prosody},
		{javaScript + "0.9.18", nil, prosody},
		{javaScript + "0.10.4-beta.3", page, prosody},
		{javaScript + "0.11.4", nil, prosody},
		{javaScript + "0.12.1", nil, ""},
		{javaScript + "0.16.0", page, ""},
		{javaScript + "1.2.3", nil, ""},
		{javaScript + "new", nil, ""},
		{javaScript + "-1.-1", nil, ""},
		{javaScript + "99999999999999999999.1", nil, ""},
		{javaScript, nil, ""},
		{"fernSdkVersion=0.9.1", nil, ""},
		{"apiKey=k&fernSdkLanguage=Swift&fernSdkVersion=0.1.0", nil, ""},
		{"apiKey=k", python("1.0.0"), prosody}, // of 0.7.1 to 0.8.3
		{"apiKey=k", python("0.8.6"), prosody},
		{"apiKey=k", python("0.9.1"), prosody},
		{"apiKey=k", python("0.10.1"), ""},
		{"", python("0.14.1"), ""},
		{"", python("2.0.0"), ""},
		{"", python(""), ""},
		{"apiKey=k", page, both}, // @humeai/voice
		{"accessToken=t", page, both},
		{"api_key=k", page, ""},
		{"apiKey=k", nil, ""},
	} {
		b := start(t, Timing{}, "*")
		client, s := b.dial(c.query, &websocket.DialOptions{HTTPHeader: c.header})
		var want []string
		for _, m := range contract.ServerMessages() {
			if m.MessageType() == "session_settings" {
				continue // the box sends none
			}
			if err := s.Line.Send(context.Background(), m); err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(strings.Fields(c.unknown), m.MessageType()) {
				want = append(want, m.MessageType())
			}
		}
		var got []string
		for range want {
			got = append(got, read(t, client).MessageType())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s %v is sent\n%q, want\n%q", c.query, c.header, got, want)
		}
		s.Line.Close(contract.CloseNormal, "")
		if ce := closed(t, client); ce.Code != contract.CloseNormal {
			t.Errorf("%s: closed with %d", c.query, ce.Code)
		}
	}
}

// A follower gets the types that its own library knows, independent of the chat's client.
func TestAFollowerGetsTheTypesThatItsLibraryKnows(t *testing.T) {
	s := startShow(t, Timing{})
	follower, _, err := websocket.Dial(t.Context(), s.http.URL+"/?fernSdkLanguage=JavaScript&fernSdkVersion=0.11.4",
		nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = follower.CloseNow() }()
	<-s.sound
	for _, m := range []contract.ServerMessage{contract.AssistantMessage{ID: "a"}, contract.AssistantProsody{ID: "a"},
		contract.AssistantEnd{}} {
		s.copies <- connection.Copy{Message: m}
	}
	for _, want := range []string{"assistant_message", "assistant_end"} {
		if got := read(t, follower).MessageType(); got != want {
			t.Errorf("%s came, want %s", got, want)
		}
	}
}
