package appliance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"parley/appliance/config"
	"parley/appliance/contract"
)

// Programs for the cloud library use the names and the ids of its voices: in configs, in
// the URL of a chat, in its settings and in requests for speech. An unknown name is refused
// until the operator sets a stand-in.
func TestVoicesOfTheOldLibraryAreAnswered(t *testing.T) {
	b := startBox(t, func(c *config.Config) {
		c.Engines.LanguageModel = config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
		c.VoiceAliases = map[string]string{"Bent": "joe"}
	})
	config := b.post(t, "/v0/evi/configs",
		`{"name":"old","evi_version":"3","voice":{"name":"ITO","provider":"HUME_AI"}}`)
	read, _ := json.Marshal(b.get(t, "/v0/evi/configs/"+config+"/version/0")["voice"])
	if string(read) != `{"id":"voice-joe","name":"Joe","provider":"HUME_AI"}` {
		t.Errorf("the config's voice is %s", read)
	}
	for voice, want := range map[string]string{
		`{"id":"9e068547-5ba4-4c8e-8e03-69282a008f04"}`: "voice-alan",
		`{"name":"alice bennett","provider":"HUME_AI"}`: "voice-jenny", `{"name":"Bent"}`: "voice-joe",
	} {
		status, text := b.ask(t, b.key, "POST", "/v0/tts", `{"utterances":[{"text":"Hello.","voice":`+voice+`}]}`)
		if status != 200 {
			t.Errorf("%s: %d %.300s", voice, status, text)
		}
		made := b.post(t, "/v0/evi/configs", `{"name":"of `+want+`","evi_version":"3","voice":`+voice+`}`)
		if got := b.get(t, "/v0/evi/configs/"+made+"/version/0")["voice"].(map[string]any)["id"]; got != want {
			t.Errorf("%s is %v, want %s", voice, got, want)
		}
	}

	const hint = `parley voices alias "Zara" joe`
	refused := b.call(t, "&voice_id=Zara").until("error", 1, waitLimit)
	if e := refused[0].ServerMessage.(contract.WebSocketError); e.Code != contract.VoiceNotFound ||
		!strings.Contains(e.Message, hint) {
		t.Errorf("a chat gets %s %q", e.Code, e.Message)
	}
	for path, body := range map[string]string{
		"/v0/tts":         `{"utterances":[{"text":"Hello.","voice":{"name":"Zara","provider":"HUME_AI"}}]}`,
		"/v0/evi/configs": `{"name":"z","evi_version":"3","voice":{"name":"Zara"}}`,
	} {
		if status, text := b.ask(t, b.key, "POST", path, body); status != 404 ||
			!strings.Contains(text, `parley voices alias \"Zara\" joe`) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, text := b.ask(t, b.key, "PUT", "/v0/box/voice-aliases/zara", `{"voice":"jenny"}`); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	c := b.call(t, "&voice_id=Zara&config_id="+config)
	c.until("chat_metadata", 1, waitLimit)
	if err := c.conn.Write(t.Context(), websocket.MessageText,
		[]byte(`{"type":"session_settings","voice_id":"f60ecf9e-ff1e-4bae-9206-dba7c653a69e"}`)); err != nil {
		t.Fatal(err)
	}
	c.send(contract.AssistantInput{Text: "Hello."})
	for _, m := range c.until("audio_output", 1, waitLimit) {
		if e, is := m.ServerMessage.(contract.WebSocketError); is {
			t.Errorf("%s %s", e.Code, e.Message)
		}
	}
}
