package engines

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/voice"
)

// engineServer runs a server that speaks every text as a second of silence, hears and writes "Ten.", and
// refuses those without the key.
func engineServer(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"data": [{"id": "big"}, {"id": "tts-1"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: {\"choices\": [{\"delta\": {\"content\": \"Ten.\"}, \"finish_reason\": \"stop\"}]}\n\n")
	})
	mux.HandleFunc("POST /v1/audio/transcriptions", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"text": "Ten.", "language": "german"}`)
	})
	mux.HandleFunc("POST /v1/audio/speech", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Voice string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Voice != "af_heart" && q.Voice != "JOE" {
			t.Errorf("%+v, %v", q, err)
		}
		w.Write(audio.AppendLinear16(nil, make([]float32, 24000)))
	})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer geheim" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// down is the address of a server that is not there.
func down() string {
	s := httptest.NewServer(nil)
	s.Close()
	return s.URL + "/v1"
}

// remoteSet returns a Set with ears, voices and minds on two servers, of which one is down.
func remoteSet(t *testing.T) *Set {
	t.Helper()
	t.Setenv("THE_KEY", "geheim")
	text := strings.NewReplacer("UP", engineServer(t), "DOWN", down()).Replace(`
engines:
  transcriber: DOWN|whisper-1|THE_KEY,UP|whisper-1|THE_KEY
  language_model: DOWN|big|THE_KEY,UP|big|THE_KEY
  voice: af_heart
  voice_servers:
    - {url: DOWN, model: tts-1, key_env: THE_KEY, voices: [af_heart]}
    - {url: UP, model: tts-1, key_env: THE_KEY, voices: [af_heart, JOE], language: en-US}
routes:
  - {provider: OPEN_AI, model: "*", to: "UP|big|THE_KEY"}
packs: packs
`)
	c := load(t, text)
	write(t, filepath.Join(c.Packs, "voice-joe", "voice.onnx"), "x")
	e := &Set{cfg: c, voices: map[string]*voicePack{}, log: slog.New(slog.DiscardHandler)}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestEnginesOnServers(t *testing.T) {
	e := remoteSet(t)
	if err := e.openModels(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.openTranscriber(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.openServedVoices(); err != nil {
		t.Fatal(err)
	}
	if err := e.openVoices(t.Context()); err != nil {
		t.Fatal(err)
	}
	said := ""
	_, err := e.Model.Generate(t.Context(), engine.Prompt{}, func(p engine.Part) error {
		said += p.Text
		return nil
	})
	if said != "Ten." || err != nil {
		t.Errorf("%q, %v", said, err)
	}
	heard, err := e.Transcriber.Transcribe(t.Context(), make([]float32, 16000), engine.TranscribeOptions{})
	if heard.Text != "Ten." || heard.Language != "de" || err != nil {
		t.Errorf("%+v, %v", heard, err)
	}
	if rules, check := e.Rules(e.Model); rules || check {
		t.Error("a model on servers has the rules for small models")
	}
	if !FeelingsInPrompt(config.Expression{Models: config.ForServers})(e.Model) {
		t.Error("a model on servers gets no feelings")
	}
	for _, name := range []string{"", "AF_Heart", "joe", "voice-joe"} {
		v, err := e.Voice(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := engine.SpeakWhole(t.Context(), v, "Ten o'clock.", engine.SpeakOptions{}); err != nil ||
			len(s.PCM) != 24000 || s.RateHz != 24000 {
			t.Errorf("%q: %d samples at %d Hz, %v", name, len(s.PCM), s.RateHz, err)
		}
	}
	states := map[string]string{}
	for _, s := range e.Servers() {
		states[s.Serves+" "+s.Model] += " " + s.State
	}
	for what, want := range map[string]string{"language model big": " down up", "transcriber whisper-1": " down up",
		"voice tts-1": " down up"} {
		if states[what] != want {
			t.Errorf("%s:%s, want%s", what, states[what], want)
		}
	}
}

func TestVoicesOnServersAreInTheLibrary(t *testing.T) {
	e := remoteSet(t)
	all := Library(e.cfg)
	joe, _ := voice.Find(all, "joe")
	heart, _ := voice.Find(all, "af_heart")
	if joe.ID != "voice-joe" || joe.Served != "JOE" || joe.Pack != "voice-joe" || joe.Language != "en-US" {
		t.Errorf("%+v", joe)
	}
	if heart.ID != "af_heart" || heart.Served != "af_heart" || heart.Pack != "" || heart.Model != "tts-1" {
		t.Errorf("%+v", heart)
	}
	if len(all) != 2 {
		t.Errorf("%+v", all)
	}
	for b, want := range map[string]voice.Base{"joe": joe, "af_heart": joe} {
		of, _ := voice.Find(all, b)
		if got, found := e.embeddedVoice(of); !found || got.ID != want.ID {
			t.Errorf("%s is spoken by %q if no server is up", b, got.ID)
		}
	}
	if needs := Needs(e.cfg); strings.Join(needs, " ") != "runtime-onnx turn" {
		t.Errorf("it needs %v", needs)
	}
	if languages := TranscriberLanguages(e.cfg); languages != nil {
		t.Errorf("%v", languages)
	}
}

func TestAServerWithoutItsKeyIsAnError(t *testing.T) {
	e := remoteSet(t)
	t.Setenv("THE_KEY", "")
	if err := e.openTranscriber(t.Context()); err == nil || !strings.Contains(err.Error(), "THE_KEY is not set") {
		t.Errorf("%v", err)
	}
	t.Setenv("THE_KEY", "wrong")
	if err := e.openModels(t.Context()); err == nil || !strings.Contains(err.Error(), "HTTP 401") {
		t.Errorf("%v", err)
	}
}

func TestServersAreChecked(t *testing.T) {
	e := remoteSet(t)
	checks := CheckServers(t.Context(), e.cfg)
	if len(checks) != 6 {
		t.Fatalf("%+v", checks)
	}
	for i, c := range checks {
		isUp := i%2 == 1
		if (c.Err == nil) != isUp || (len(c.Models) == 2) != isUp || !c.Covered || c.Describe() == "" {
			t.Errorf("%+v", c)
		}
	}
}
