package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/fleet"
	"parley/fleet/door"
	"parley/store"
)

// oneBox is a fleet of one box.
type oneBox struct{ door.Box }

func (f oneBox) Boxes() []door.Box                                           { return []door.Box{f.Box} }
func (f oneBox) BoxesOf(string) (map[string]bool, bool)                      { return nil, false }
func (f oneBox) BoxOfGroup(context.Context, string, string) (string, error)  { return "", nil }
func (f oneBox) BoxOfChat(_ context.Context, _, chat string) (string, error) { return chat, nil }
func (f oneBox) Key(_ context.Context, _, account string) (string, error) {
	return "hub " + account, nil
}

// startHub makes the API of a box that of a hub, whose one box has an address.
func startHub(t *testing.T, mode door.Mode, box http.HandlerFunc, origins ...string) *storeBox {
	b := startBox(t, origins...)
	server := httptest.NewServer(box)
	t.Cleanup(server.Close)
	d := door.New(oneBox{door.Box{Name: "b", Seen: time.Now(), State: fleet.State{
		Ready:   true,
		Seats:   100,
		Address: server.URL,
	}}}, door.Options{Mode: mode, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(d.Close)
	b.api.Door = d
	return b
}

// tell answers with the path, the query and the key that the box got.
func tell(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Request-Id", "of-the-box")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	fmt.Fprint(w, r.Method, " ", r.URL.RequestURI(), " ", r.Header.Get("X-Service-Api-Key"))
}

func TestAHubHasABoxAnswerWhatNeedsModels(t *testing.T) {
	b := startHub(t, door.Proxy, tell)
	made := b.key("home")
	token := b.token(made)
	g, err := b.store.OpenKey(t.Context(), made.APIKey)
	if err != nil {
		t.Fatal(err)
	}
	key := " hub " + g.AccountID
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/v0/evi/chat?config_id=c", "GET /v0/evi/chat?config_id=c"},
		{"GET", "/v0/assistant/chat", "GET /v0/assistant/chat"},
		{"GET", "/v0/evi/chat/b/connect", "GET /v0/evi/chat/b/connect"},
		{"POST", "/v0/evi/chat/b/send", "POST /v0/evi/chat/b/send"},
		{"GET", "/v0/evi/chat/b/turns", "GET /v0/evi/chat/b/turns"},
		{"POST", "/v0/evi/chat/webrtc", "POST /v0/evi/chat/webrtc"},
		{"POST", "/v0/tts", "POST /v0/tts"},
		{"POST", "/v0/tts/file", "POST /v0/tts/file"},
		{"GET", "/v0/tts/stream/input", "GET /v0/tts/stream/input"},
		{"POST", "/v0/tts/stream/json", "POST /v0/tts/stream/json"},
		{"POST", "/v0/tts/stream/file", "POST /v0/tts/stream/file"},
		{"GET", "/v0/tts/generations/1/file", "GET /v0/tts/generations/1/file"},
		{"POST", "/v0/tts/voice_conversion/json", "POST /v0/tts/voice_conversion/json"},
		{"GET", "/v0/stream/models", "GET /v0/stream/models"},
	} {
		a := b.ask(c.method, c.path, `{}`, "X-Service-Api-Key", made.APIKey, "Origin", b.http.URL)
		if a.StatusCode != 200 || a.text != c.want+key || a.Header.Get("X-Request-Id") != "of-the-box" ||
			len(a.Header.Values("X-Content-Type-Options")) != 1 || a.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s: %d %s %v", c.method, c.path, a.StatusCode, a.text, a.Header)
		}
	}
	if a := b.ask("GET", "/v0/evi/chat?access_token="+token, ""); a.text != "GET /v0/evi/chat"+key {
		t.Errorf("with a token: %d %s", a.StatusCode, a.text)
	}
	for path, status := range map[string]int{
		"/v0/evi/chat":                               401, // the hub lets nobody in whom it does not know
		"/v0/evi/chat/webrtc/calls/1":                405,
		"/v0/evi/chat/b/turns?access_token=" + token: 401,
	} {
		if a := b.ask("GET", path, ""); a.StatusCode != status {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.text)
		}
	}
	a := b.ask("DELETE", "/v0/evi/chat/webrtc/calls/1", "", "X-Service-Api-Key", made.APIKey)
	if a.StatusCode != 404 || a.body["code"] != "not_found" {
		t.Errorf("a call that nobody began: %d %s", a.StatusCode, a.text)
	}
}

func TestAHubRedirectsClientsWhoseKeyIsOnEachBox(t *testing.T) {
	b := startHub(t, door.Redirect, tell)
	operator := b.key("home")
	made, err := b.store.CreateKey(t.Context(), store.NewKey{Account: "home", Role: store.ClientKey})
	if err != nil {
		t.Fatal(err)
	}
	token := b.token(made)
	b.http.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for query, redirected := range map[string]bool{
		"api_key=" + made.APIKey: true, "api_key=" + operator.APIKey: false, "access_token=" + token: false,
	} {
		a := b.ask("GET", "/v0/evi/chat?"+query, "")
		if redirected != (a.StatusCode == http.StatusTemporaryRedirect) || !redirected && a.StatusCode != 200 {
			t.Errorf("%.13s: %d %s", query, a.StatusCode, a.text)
		}
		if at := a.Header.Get("Location"); redirected && !strings.HasSuffix(at, "/v0/evi/chat?"+query) {
			t.Errorf("it goes to %q", at)
		}
	}
}

func TestAHubGivesAScreenNoneOfItsRights(t *testing.T) {
	b := startHub(t, door.Proxy, tell)
	code, err := b.store.StartPairing(t.Context(), "home", store.Kiosk{Name: "Lobby"}, b.api.now())
	if err != nil {
		t.Fatal(err)
	}
	screen, _, err := b.store.Pair(t.Context(), code, b.api.now())
	if err != nil {
		t.Fatal(err)
	}
	if a := b.ask("GET", "/v0/evi/chat?api_key="+screen.APIKey, ""); a.StatusCode != 403 {
		t.Errorf("%d %s", a.StatusCode, a.text)
	}
}

// A page of another origin opens no socket, and a revoked key closes its sockets.
func TestASocketThroughTheDoorHasTheHubsRules(t *testing.T) {
	b := startHub(t, door.Proxy, func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, nil); err == nil {
			_ = c.Write(r.Context(), websocket.MessageText, []byte("hello"))
			_, _, _ = c.Read(context.WithoutCancel(r.Context()))
			_ = c.CloseNow()
		}
	}, "https://page.example")
	made := b.key("home")
	dial := func(origin string) (*websocket.Conn, *http.Response, error) {
		return websocket.Dial(t.Context(), b.http.URL+"/v0/evi/chat?api_key="+made.APIKey,
			&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
	}
	if _, res, err := dial("https://other.example"); err == nil || res.StatusCode != 403 {
		t.Fatal(err)
	}
	c, res, err := dial("https://page.example")
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	if got := res.Header.Values("Access-Control-Allow-Origin"); len(got) != 1 || got[0] != "https://page.example" {
		t.Errorf("allowed: %v", got)
	}
	if _, text, err := c.Read(t.Context()); err != nil || string(text) != "hello" {
		t.Fatal(string(text), err)
	}
	if err := b.store.RevokeKey(t.Context(), made.KeyID); err != nil {
		t.Fatal(err)
	}
	_, _, err = c.Read(t.Context())
	if e := (websocket.CloseError{}); !errors.As(err, &e) || e.Code != websocket.StatusPolicyViolation ||
		!strings.Contains(e.Reason, "revoked") {
		t.Errorf("closed with %v", err)
	}
}
