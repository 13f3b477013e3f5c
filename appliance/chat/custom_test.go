package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/remote"
	"parley/internal/addresses"
	"parley/store"
)

// customModels opens custom models for real.
type customModels struct{ oneModel }

func (customModels) CustomModel(url string) (engine.LanguageModel, error) {
	here, err := addresses.ParseAllowed([]string{"127.0.0.1"})
	if err != nil {
		return nil, err
	}
	return remote.OpenCustom(remote.CustomOptions{URL: url, Allowed: here, Limits: remote.Limits{
		FirstPiece: 400 * time.Millisecond, Idle: 400 * time.Millisecond, RetryAfter: time.Millisecond}})
}

// customChat opens a chat with a config that has this language_model.
func customChat(t *testing.T, f *fakes, languageModel string) *Session {
	t.Helper()
	c := config(t, `{"name":"n","evi_version":"4-mini","ellm_model":{"allow_short_responses":false},"language_model":`+
		languageModel+`}`)
	h := hostOf(f, func(p *Parts) { p.Configs, p.Models = oneConfig{c}, customModels{oneModel{fallback: f}} })
	return begin(t, h, connection.Opening{Line: f, Settings: contract.ConnectSettings{ConfigID: "c"}})
}

// custom returns a language_model at a server's URL.
func custom(url, more string) string {
	return `{"model_provider":"CUSTOM_LANGUAGE_MODEL","model_resource":"` + url + `"` + more + `}`
}

func typed(t *testing.T, c *Session, text string) {
	t.Helper()
	if err := c.Steer(contract.UserInput{Text: text}); err != nil {
		t.Fatal(err)
	}
}

// answers waits until this many answers have ended, and returns what was said, including error codes.
func (f *fakes) answers(t *testing.T, ends int) []string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; <-time.After(5 * time.Millisecond) {
		f.mu.Lock()
		var said []string
		n := 0
		for _, m := range f.sent {
			switch m := m.(type) {
			case contract.AssistantMessage:
				said = append(said, m.Message.Content)
			case contract.WebSocketError:
				said = append(said, string(m.Code))
			case contract.AssistantEnd:
				n++
			}
		}
		f.mu.Unlock()
		if n >= ends {
			return said
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d answers have ended: %q", n, ends, said)
		}
	}
}

const sorryFor = "I'm sorry, I cannot answer that just now."

func sse(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range pieces {
			text, _ := json.Marshal(p)
			fmt.Fprintf(w, "data: {\"system_fingerprint\":\"desk\",\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n",
				text)
			w.(http.Flusher).Flush()
		}
	}
}

func TestACustomModelAnswersAChatOverHTTP(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		asked = append(asked, r.Header.Get("Authorization")+" "+r.URL.RequestURI()+" "+string(body))
		mu.Unlock()
		sse("We open ", "at ten. Not on Mon", "days.")(w, r)
	}))
	defer s.Close()
	f := newFakes()
	c := customChat(t, f, custom(s.URL+"/chat/completions", `,"temperature":0.25`))
	if err := c.Steer(contract.SessionSettings{LanguageModelAPIKey: "secret-key"}); err != nil {
		t.Fatal(err)
	}
	hear(t, c, 1000, true)
	hear(t, c, 3000, false)
	if said := f.answers(t, 1); strings.Join(said, "|") != "We open at ten.|Not on Mondays." {
		t.Fatalf("the assistant said %q", said)
	}
	time.Sleep(3 * time.Second) // two seconds of sound, the first of which was certainly heard
	typed(t, c, "And on Sundays?")
	f.answers(t, 2)
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 2 { // the model is not asked about speculative transcripts
		t.Fatalf("asked %d times: %q", len(asked), asked)
	}
	if a := asked[0]; !strings.HasPrefix(a, "Bearer secret-key /chat/completions {") ||
		!strings.Contains(a, `"temperature":0.25`) || !strings.Contains(a, `"stream":true`) ||
		!strings.Contains(a, `"messages":[{"role":"user","content":"When do you open?","time":{"begin":`) ||
		!strings.Contains(a, `"models":{}}]`) {
		t.Errorf("asked %s", a)
	}
	if a := asked[1]; !strings.HasPrefix(a, "Bearer secret-key /chat/completions?custom_session_id=desk {") ||
		!strings.Contains(a, `{"role":"assistant","content":"We open at ten. `) {
		t.Errorf("then %s", a)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.sent[len(f.sent)-1]
	if data, _ := contract.Marshal(last); !strings.Contains(string(data), `"custom_session_id":"desk"`) {
		t.Errorf("the session is not named in %s", data)
	}
	for _, e := range f.stored {
		if strings.Contains(e.MessageText+e.Metadata, "secret-key") ||
			e.Type == store.SystemPrompt && e.MessageText != "" {
			t.Errorf("recorded %+v", e)
		}
	}
}

func TestACustomModelAnswersAChatOverAWebSocket(t *testing.T) {
	var mu sync.Mutex
	connections := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		mu.Lock()
		connections++
		mu.Unlock()
		for n := 1; ; n++ {
			_, data, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			var q struct{ Messages []json.RawMessage }
			_ = json.Unmarshal(data, &q)
			text := fmt.Sprintf(`{"type":"assistant_input","text":"Answer %d to %d."}`, n, len(q.Messages))
			for _, m := range []string{text, `{"type":"assistant_end"}`} {
				if conn.Write(r.Context(), websocket.MessageText, []byte(m)) != nil {
					return
				}
			}
		}
	}))
	defer s.Close()
	f := newFakes()
	c := customChat(t, f, custom(strings.Replace(s.URL, "http", "ws", 1)+"/llm", ""))
	typed(t, c, "One")
	f.answers(t, 1)
	time.Sleep(2 * time.Second) // it has been heard
	typed(t, c, "Two")
	if said := f.answers(t, 2); strings.Join(said, "|") != "Answer 1 to 1.|Answer 2 to 3." {
		t.Errorf("the assistant said %q", said)
	}
	c.HangUp()
	<-c.Done()
	mu.Lock()
	defer mu.Unlock()
	if connections != 1 {
		t.Errorf("%d connections", connections)
	}
}

// Each failure has its own code, does not end the chat, and is followed by an apology. What had come is said
// first.
func TestAFailedCustomModelIsReportedByItsCode(t *testing.T) {
	gone := httptest.NewServer(nil)
	url := gone.URL
	gone.Close()
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		want []string
	}{
		"unreachable": {nil, []string{"E0706", sorryFor}},
		"hangs": {func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, []string{"E0712", sorryFor}},
		"breaks off": {func(w http.ResponseWriter, r *http.Request) {
			sse("We open at ten. But on Sun")(w, r)
			panic(http.ErrAbortHandler)
		}, []string{"We open at ten.", "But on", "E0713", sorryFor}},
		"overloaded": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(429)
		}, []string{"E0718", sorryFor}},
		"broken": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
		}, []string{"E0719", sorryFor}},
		"refuses": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(401)
		}, []string{"E0719", sorryFor}},
		"garbage": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "\x00\x01garbage\n\n")
		}, []string{"E0719", sorryFor}},
		"silent": {sse(), []string{"E0719", sorryFor}},
	} {
		t.Run(name, func(t *testing.T) {
			at := url
			if c.h != nil {
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					c.h(w, r)
				}))
				defer s.Close()
				defer s.CloseClientConnections()
				at = s.URL
			}
			f := newFakes()
			chat := customChat(t, f, custom(at+"/x", ""))
			typed(t, chat, "When?")
			got := f.answers(t, 1)
			// Errors are reported at once, sentences when their sound is made.
			for _, w := range c.want {
				if n := strings.Count(strings.Join(got, "|"), w); n != 1 {
					t.Errorf("the client received %q, want %q", got, c.want)
				}
			}
			if len(got) != len(c.want) || got[len(got)-1] != sorryFor {
				t.Errorf("the client received %q, want %q", got, c.want)
			}
			select {
			case <-chat.Done():
				t.Error("the chat has ended")
			default:
			}
		})
	}
}

func TestAConfigsFallbackAnswers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		sse("We open at ei")(w, r)
		panic(http.ErrAbortHandler)
	}))
	defer s.Close()
	f := newFakes()
	f.replies = []string{"Ten."}
	c := customChat(t, f, custom(s.URL, `,"fallback":[{"model_provider":"HUME_AI"}]`))
	typed(t, c, "When?")
	if said := f.answers(t, 1); strings.Join(said, "|") != "We open at|Ten." {
		t.Errorf("the assistant said %q", said)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.asked[0]; !strings.HasPrefix(m[0].Content, "You are the voice assistant on this box") ||
		strings.Contains(m[0].Content, "{{") {
		t.Errorf("the next model's prompt is %q", m[0].Content)
	}
}

// A custom language model has no fallback unless its developer names one. Other models have those of the box.
func TestFallbacksOfModels(t *testing.T) {
	for _, c := range []struct {
		model string
		want  int
	}{
		{`{"model_provider":"OPEN_AI","model_resource":"served"}`, 1},
		{`{"model_provider":"OPEN_AI","model_resource":"served","fallback":[]}`, 0},
		{`{"model_provider":"HUME_AI"}`, 0}, // it is the failed one itself
		{custom("https://h/x", ""), 0},
		{custom("https://h/x", `,"fallback":[{"model_provider":"HUME_AI"},{"model_provider":"CUSTOM_LANGUAGE_MODEL",`+
			`"model_resource":"https://h/x"}]`), 2},
	} {
		var log bytes.Buffer
		f, other := newFakes(), newFakes()
		h := hostWith(t, f, other, config(t, `{"name":"n","evi_version":"4-mini","language_model":`+c.model+`}`), &log)
		h.Models = withFallback{h.Models.(oneModel)}
		got, err := h.setUp(t.Context(),
			connection.Opening{Account: "a", Settings: contract.ConnectSettings{ConfigID: "c"}})
		if err != nil || len(got.fallback) != c.want {
			t.Errorf("%s: %d, %v", c.model, len(got.fallback), err)
		}
		if c.want == 2 && (got.fallback[0].NoSpeculation || !got.fallback[1].NoSpeculation) {
			t.Errorf("%s: %+v", c.model, got.fallback)
		}
		if err := h.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// withFallback has the default model answer when another one fails.
type withFallback struct{ oneModel }

func (w withFallback) Fallback() []engine.LanguageModel { return []engine.LanguageModel{w.fallback} }

// If a config allows short responses, one precedes a late answer.
func TestAQuickAnswerPrecedesALateOne(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(1500 * time.Millisecond)
		sse("At ten.")(w, r)
	}))
	defer s.Close()
	f := newFakes()
	c := config(t, `{"name":"n","evi_version":"4-mini","language_model":`+custom(s.URL, "")+`}`)
	h := hostOf(f, func(p *Parts) { p.Configs, p.Models = oneConfig{c}, patientModels{oneModel{fallback: f}} })
	chat := begin(t, h, connection.Opening{Line: f, Settings: contract.ConnectSettings{ConfigID: "c"}})
	typed(t, chat, "When do you open?")
	said := f.answers(t, 1)
	if len(said) != 2 || !strings.HasPrefix(said[0], "Let me ") || said[1] != "At ten." {
		t.Fatalf("the assistant said %q", said)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	quick := map[string]bool{}
	for _, m := range f.sent {
		if a, ok := m.(contract.AssistantMessage); ok {
			quick[a.Message.Content] = a.IsQuickResponse
		}
	}
	if !quick[said[0]] || quick[said[1]] {
		t.Errorf("sent %v", quick)
	}
	for _, e := range f.stored {
		if e.MessageText == said[0] && !strings.Contains(e.Metadata, `"is_quick_response":true`) {
			t.Errorf("recorded %+v", e)
		}
	}
}

// patientModels are customModels without short timeouts.
type patientModels struct{ oneModel }

func (patientModels) CustomModel(url string) (engine.LanguageModel, error) {
	here, err := addresses.ParseAllowed([]string{"127.0.0.1"})
	if err != nil {
		return nil, err
	}
	return remote.OpenCustom(remote.CustomOptions{URL: url, Allowed: here})
}
