package appliance

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"parley/appliance/chat"
	"parley/appliance/contract"
	"parley/appliance/expression"
)

// A chat can start at its older path too, with settings as JSON text, which the history
// stores as it stores event_limit.
func TestOlderClientsStartAChat(t *testing.T) {
	b := startFakeBox(t)
	query := url.Values{"apiKey": {b.key}, "event_limit": {"7"}, "session_settings[variables]": {`{"name": "Joshua"}`},
		"session_settings[system_prompt]": {"The user is {{name}}."},
		"session_settings[audio]":         {`{"sample_rate":48000,"channels":32}`}}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, b.url+"/v0/assistant/chat?"+query.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, first, err := conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var begun contract.ChatMetadata
	if err := json.Unmarshal(first, &begun); err != nil || begun.ChatID == "" {
		t.Fatalf("%s %v", first, err)
	}
	conn.CloseNow()
	received := map[string]any{}
	for _, e := range b.ended(t, begun.ChatID)["events_page"].([]any) {
		event := e.(map[string]any)
		received[event["type"].(string)] = event["message_text"]
	}
	want := `{"type":"session_settings","audio":{"channels":32,"encoding":"linear16","sample_rate":48000},` +
		`"system_prompt":"The user is {{name}}.","variables":{"name":"Joshua"},"event_limit":7}`
	if received["SESSION_SETTINGS"] != want {
		t.Errorf("the history has the settings\n%s, want\n%s", received["SESSION_SETTINGS"], want)
	}
	if text, _ := received["SYSTEM_PROMPT"].(string); !strings.HasPrefix(text, "The user is Joshua.") {
		t.Errorf("the prompt is %q", text)
	}
}

// A client that is older than assistant_prosody does not get it; a follower with a newer
// library does, and the history has it.
func TestOlderClientsGetNoNewerMessages(t *testing.T) {
	b := startFakeBox(t, func(p *chat.Parts) {
		m, err := expression.New()
		if err != nil {
			t.Fatal(err)
		}
		p.Expression = meter{m}
	})
	older := b.call(t, "&allow_connection=true&fernSdkLanguage=JavaScript&fernSdkVersion=0.11.4")
	id := older.chatID()
	follower, status := b.follow(t, b.key, id, "&audio_output=false&fernSdkLanguage=JavaScript&fernSdkVersion=0.16.0")
	if follower == nil {
		t.Fatal(status)
	}
	older.send(contract.UserInput{Text: "When do you open?"})
	received := types(older.until("assistant_end", 1, waitLimit))
	older.conn.CloseNow()
	followed, _ := readAll(follower)
	if strings.Contains(received, "assistant_prosody") || !strings.Contains(received, "assistant_message") {
		t.Errorf("the older client gets %s", received)
	}
	prosody := func(m string) bool { return strings.Contains(m, `"type":"assistant_prosody"`) }
	if !slices.ContainsFunc(followed, prosody) {
		t.Errorf("the newer follower is sent %q", followed)
	}
	events, err := json.Marshal(b.ended(t, id))
	if err != nil || !strings.Contains(string(events), "ASSISTANT_PROSODY") {
		t.Errorf("the history has %s (%v)", events, err)
	}
}

// A client that opens all 32 channels of a PulseAudio microphone is heard, in messages of
// 100 ms, which are 400 KB each.
func TestClientWith32ChannelsIsTranscribed(t *testing.T) {
	b := startFakeBox(t)
	c := b.call(t, "&session_settings[audio]="+
		url.QueryEscape(`{"encoding":"linear16","sample_rate":48000,"channels":32}`))
	c.until("chat_metadata", 1, waitLimit)
	const frames, frame = 4800, 2 * 32
	voice := make([]byte, frames*frame)
	for i := range frames {
		voice[i*frame+2*17+1] = 0x20 // the 18th channel
	}
	for i := range 30 {
		sound := voice
		if i >= 12 {
			sound = make([]byte, len(voice))
		}
		c.send(contract.AudioInput{Data: sound})
	}
	heard := c.until("user_message", 1, waitLimit)
	if m := heard[len(heard)-1].ServerMessage.(contract.UserMessage); m.Message.Content != "When do you open?" ||
		m.FromText {
		t.Errorf("it is heard as %+v", m)
	}
}
