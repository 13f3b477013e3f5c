package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"parley/appliance/engine"
)

// A request is as the OpenAI API documents it, without anything that other servers reject.
func TestTheRequestIsThatOfTheOpenAIAPI(t *testing.T) {
	var path, body string
	var header http.Header
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		path, body, header = r.Method+" "+r.URL.Path, string(b), r.Header
		say(w, delta("Hi"), stop, "[DONE]")
	})
	p := engine.Prompt{MaxTokens: 7, Temperature: 0.5, Messages: []engine.Message{
		{Role: engine.System, Content: "Be brief."}, {Role: engine.User, Content: "a\xffb"},
		{Role: engine.Assistant, Content: "Yes."},
	}}
	if _, err := m.Generate(t.Context(), p, func(engine.Part) error { return nil }); err != nil {
		t.Fatal(err)
	}
	const want = `{"model":"m","messages":[{"role":"system","content":"Be ` +
		`brief."},{"role":"user","content":"a\ufffdb"},{"role":"assistant","content":"Yes."}],` +
		`"temperature":0.5,"max_tokens":7,"stream":true,"stream_options":{"include_usage":true}}`
	var got, wanted any
	if json.Unmarshal([]byte(body), &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil ||
		!reflect.DeepEqual(got, wanted) || path != "POST /v1/chat/completions" {
		t.Errorf("%s %s\nwant %s", path, body, want)
	}
	if header.Get("Authorization") != "Bearer the-key" || header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", header)
	}
}

func TestAClosedPortIsUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	m, err := Open(Options{BaseURL: "http://" + address, Model: "m", Limits: generousLimits})
	if err != nil {
		t.Fatal(err)
	}
	_, err = generate(t.Context(), m)
	if fault, ok := errors.AsType[*Error](err); !ok || fault.Kind != Unreachable ||
		!strings.Contains(err.Error(), address) {
		t.Errorf("got %v, want unreachable with the address", err)
	}
}

func TestARedirectElsewhereIsNotFollowed(t *testing.T) {
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/v1/chat/completions", http.StatusTemporaryRedirect)
	})
	if _, err := generate(t.Context(), m); err == nil || reached.Load() {
		t.Errorf("the conversation went to another host (%v)", err)
	}
}

func TestTheEnvironmentOfTheOpenAILibraryIsNotUsed(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "someone-elses")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: yes")
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		say(w, delta("Hi"), stop, "[DONE]")
	}))
	defer server.Close()
	m, err := Open(Options{BaseURL: server.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if text, err := generate(t.Context(), m); err != nil || text != "Hi" {
		t.Fatalf("said %q, %v", text, err)
	}
	if got.Get("Authorization") != "" || got.Get("X-Leak") != "" {
		t.Errorf("sent Authorization %q, X-Leak %q, want neither", got.Get("Authorization"), got.Get("X-Leak"))
	}
}

func TestAModelThatWantsTheNewNameOfTheTokenLimitGetsIt(t *testing.T) {
	var bodies []string
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		if strings.Contains(string(body), `"max_tokens"`) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w,
				`{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`)
			return
		}
		say(w, delta("Hi"), stop, "[DONE]")
	})
	for range 2 {
		if text, err := generate(t.Context(), m); err != nil || text != "Hi" {
			t.Fatalf("said %q, %v", text, err)
		}
	}
	if len(bodies) != 3 {
		t.Errorf("%d requests, want 3: the second call knows the name", len(bodies))
	}
}

// Some newer models have a fixed temperature and reject the parameter.
func TestAModelWithoutATemperatureIsAskedForNone(t *testing.T) {
	requests := 0
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests++
		for parameter, says := range map[string]string{
			`"max_tokens"`:  "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
			`"temperature"`: "Unsupported value: 'temperature' does not support 0 with this model.",
		} {
			if strings.Contains(string(body), parameter) {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"error":{"message":%q}}`, says)
				return
			}
		}
		say(w, delta("Hi"), stop)
	})
	for range 2 {
		if text, err := generate(t.Context(), m); err != nil || text != "Hi" {
			t.Fatalf("said %q, %v", text, err)
		}
	}
	if requests != 4 {
		t.Errorf("%d requests, want 4: two refusals, and none after them", requests)
	}
}

// A client's key is only used for servers for which the operator has none.
func TestTheOperatorsKeyComesBeforeTheClients(t *testing.T) {
	var key string
	h := func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("Authorization")
		say(w, delta("Hi"), stop)
	}
	with := serve(t, h)
	without := serve(t, h)
	without.key = ""
	p := hello
	p.Key = "the-client's"
	for m, want := range map[*Model]string{with: "Bearer the-key", without: "Bearer the-client's"} {
		if _, err := m.Generate(t.Context(), p, func(engine.Part) error { return nil }); err != nil || key != want {
			t.Errorf("key %q, want %q, %v", key, want, err)
		}
	}
}

func TestAWrongAddressIsRefusedAtOnce(t *testing.T) {
	for _, o := range []Options{
		{BaseURL: "", Model: "m"},
		{BaseURL: "localhost:8000/v1", Model: "m"},
		{BaseURL: "ftp://host/v1", Model: "m"},
		{BaseURL: "http://", Model: "m"},
		{BaseURL: "http://host/v1"},
	} {
		if _, err := Open(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
