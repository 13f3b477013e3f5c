package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/store"
)

// fakes are fake Parts.
type fakes struct {
	missing []string
	serve   func(w http.ResponseWriter, r *http.Request, account string) error
	steered []contract.ClientMessage
	steers  error // answers messages to the chat "live"
}

func (f *fakes) Missing(context.Context) []string { return f.missing }

func (f *fakes) ServeChat(w http.ResponseWriter, r *http.Request, account string, _ connection.Authorization) error {
	return f.serve(w, r, account)
}

func (f *fakes) Follow(w http.ResponseWriter, _ *http.Request, account, chatID string, sound bool,
	_ connection.Authorization) error {
	if account != "acme" || chatID != "live" {
		return contract.ErrNotFound{What: "live chat", ID: chatID}
	}
	_, err := fmt.Fprintf(w, "follow %s, sound %v", chatID, sound)
	return err
}

func (f *fakes) Steer(account, chatID string, m contract.ClientMessage) error {
	if account != "acme" || chatID != "live" {
		return contract.ErrNotFound{What: "live chat", ID: chatID}
	}
	f.steered = append(f.steered, m)
	return f.steers
}

func (f *fakes) Turns(account, chatID string) ([]contract.ReturnTurn, error) {
	if account != "acme" || chatID != "live" {
		return nil, contract.ErrNotFound{What: "live chat", ID: chatID}
	}
	return []contract.ReturnTurn{{Turn: 1, TurnEnd: 800, Sent: 900}}, nil
}

func (f *fakes) OpenKey(_ context.Context, key string) (store.Grant, error) {
	switch key {
	case "good":
		return store.Grant{AccountID: "acme"}, nil
	case "locked":
		return store.Grant{}, fmt.Errorf("looking up the API key: %w", store.ErrBusy)
	}
	return store.Grant{}, fmt.Errorf("looking up the API key: %w", store.ErrNotFound)
}

func (f *fakes) OpenToken(context.Context, string, time.Time) (store.Grant, error) {
	return store.Grant{}, fmt.Errorf("looking up the access token: %w", store.ErrNotFound)
}

func (f *fakes) Holds(context.Context, store.Grant) error { return nil }

func (f *fakes) WatchKey(store.Grant) (lost context.Context, release func()) {
	return context.Background(), func() {}
}

// Pair accepts every code but one.
func (f *fakes) Pair(_ context.Context, code string, _ time.Time) (store.Credentials, store.Kiosk, error) {
	if code == "WRNG-2345" {
		return store.Credentials{}, store.Kiosk{}, fmt.Errorf("looking up a code: %w", store.ErrNotFound)
	}
	return store.Credentials{APIKey: "screen"}, store.Kiosk{Name: "Lobby"}, nil
}

// SignIn accepts no link.
func (f *fakes) SignIn(context.Context, string, string, string, time.Time) (string, store.Session, error) {
	return "", store.Session{}, fmt.Errorf("looking up a link: %w", store.ErrNotFound)
}

func (f *fakes) OpenSession(context.Context, string, time.Time) (store.Grant, error) {
	return store.Grant{}, fmt.Errorf("looking up a session: %w", store.ErrNotFound)
}

func (f *fakes) CreateToken(context.Context, string, string, time.Time) (string, error) {
	return "", fmt.Errorf("looking up the API key and its secret: %w", store.ErrNotFound)
}

func box(log io.Writer) (*API, *fakes) {
	f := &fakes{}
	f.serve = func(w http.ResponseWriter, _ *http.Request, account string) error {
		_, err := io.WriteString(w, "hello "+account)
		return err
	}
	return New(Parts{
		Keys:    f,
		Chats:   f,
		Ready:   f,
		Version: "test",
		Log:     slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}), f
}

func ask(a *API, method, target string, header ...string) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil || r.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d with %q: %v", r.StatusCode, r.Header.Get("Content-Type"), err)
	}
	return v
}

func TestAChatNeedsAKeyInAnyOfItsPlaces(t *testing.T) {
	a, _ := box(io.Discard)
	for _, c := range []struct {
		target string
		header []string
		status int
	}{
		{"/v0/evi/chat", nil, 401},
		{"/v0/evi/chat?api_key=", nil, 401},
		{"/v0/evi/chat?api_key=bad", nil, 401},
		{"/v0/evi/chat?api_key=" + strings.Repeat("x", 5000), nil, 401},
		{"/v0/evi/chat?access_token=good", nil, 401},
		{"/v0/evi/chat?api_key=locked", nil, 503},
		{"/v0/evi/chat?api_key=good", nil, 200},
		{"/v0/evi/chat?apiKey=good&more=1", nil, 200},
		{"/v0/evi/chat", []string{"X-Service-Api-Key", "good"}, 200},
		{"/v0/evi/chat", []string{"X-Hume-Api-Key", "good"}, 200},
		{"/v0/evi/chat?api_key=good", []string{"X-Service-Api-Key", "bad"}, 401},
		{"/v0/evi/chat?api_key=good", []string{"X-Service-Api-Key", ""}, 200},
		{"/v0/evi/chat?api_key=good", []string{"Authorization", "Bearer "}, 200},
		{"/v0/evi/chat?api_key=%20&apiKey=good", nil, 200},
	} {
		r := ask(a, "GET", c.target, c.header...)
		if r.StatusCode != c.status {
			t.Errorf("%.60s %v: %d, want %d", c.target, c.header, r.StatusCode, c.status)
		}
		if c.status == 401 {
			if b := body(t, r); b["code"] != "unauthorized" || b["message"] == "" ||
				r.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s: %v", c.target, b)
			}
		}
	}
}

func TestEveryAnswerHasItsOwnRequestID(t *testing.T) {
	a, f := box(io.Discard)
	f.serve = func(http.ResponseWriter, *http.Request, string) error { panic("boom") }
	seen := map[string]bool{}
	for _, target := range []string{"/", "/healthz", "/readyz", "/none", "/v0/evi/chat", "/v0/evi/chat?api_key=good"} {
		id := ask(a, "GET", target).Header.Get("X-Request-Id")
		if !contract.ValidID(id) || seen[id] {
			t.Errorf("%s: request id %q", target, id)
		}
		seen[id] = true
	}
}

func TestStrangePathsAndMethodsAreAnsweredInJSON(t *testing.T) {
	a, _ := box(io.Discard)
	if r := ask(a, "GET", "/v2/nothing"); r.StatusCode != 404 || body(t, r)["code"] != "not_found" {
		t.Errorf("%d", r.StatusCode)
	}
	for _, target := range []string{"/", "/healthz", "/v0/evi/chat"} {
		r := ask(a, "DELETE", target)
		if r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD" || body(t, r)["code"] != "method_not_allowed" {
			t.Errorf("DELETE %s: %d, Allow %q", target, r.StatusCode, r.Header.Get("Allow"))
		}
		if r := ask(a, "HEAD", target); r.StatusCode == 405 {
			t.Errorf("HEAD %s is refused", target)
		}
	}
}

// The mux would redirect with an HTML page that contains the key of the query.
func TestAnUncleanPathIsAnsweredInJSON(t *testing.T) {
	a, _ := box(io.Discard)
	for _, target := range []string{
		"/v0/evi/../evi/chat", "/v0/evi/./chat", "//v0/evi/chat", "/v0/evi//chat", "/v0/evi/chat/..", "/..",
		"/v0/evi/%2e%2e/evi/chat",
	} {
		r := ask(a, "GET", target+"?api_key=good-secret")
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		if r.StatusCode != 404 || r.Header.Get("Content-Type") != "application/json" ||
			r.Header.Get("Location") != "" ||
			!strings.Contains(string(text), `"not_found"`) || strings.Contains(string(text), "secret") ||
			r.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %v %s", target, r.StatusCode, r.Header, text)
		}
	}
}

func TestABrokenQueryIsRejected(t *testing.T) {
	a, _ := box(io.Discard)
	server := httptest.NewUnstartedServer(nil)
	server.Config = NewServer(a, slog.New(slog.DiscardHandler))
	server.Start()
	defer server.Close()
	for _, line := range []string{
		"OPTIONS *", "GET *", "CONNECT other.example:443",
		"GET /healthz?page_size=%zz", "GET /healthz?page_size=1;x=2", "GET /healthz?" + strings.Repeat("a=1&", 20_000),
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: box\r\nConnection: close\r\n\r\n", line)
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%.60s: %v", line, err)
		}
		if b := body(t, r); r.StatusCode != 400 || b["code"] != "invalid_request" ||
			!contract.ValidID(r.Header.Get("X-Request-Id")) {
			t.Errorf("%.60s: %d %v", line, r.StatusCode, b)
		}
		conn.Close()
	}
}

func TestHTTP2AnswersHaveNoConnectionHeaders(t *testing.T) {
	a, f := box(io.Discard)
	f.serve = func(http.ResponseWriter, *http.Request, string) error {
		return contract.ErrUpgradeRequired{Why: "WebSocket only"}
	}
	for proto, want := range map[int]string{1: "websocket", 2: ""} {
		r := httptest.NewRequest("GET", "/v0/evi/chat?api_key=good", nil)
		r.ProtoMajor = proto
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if w.Code != 426 || w.Header().Get("Upgrade") != want {
			t.Errorf("HTTP/%d: %d %v", proto, w.Code, w.Header())
		}
	}
}

func TestLoggedPathsAreCut(t *testing.T) {
	var log bytes.Buffer
	a, _ := box(&log)
	ask(a, "GET", "/"+strings.Repeat("x", 100_000))
	if log.Len() == 0 || log.Len() > 2000 {
		t.Errorf("%d bytes", log.Len())
	}
}

func TestReadinessSaysWhatIsMissing(t *testing.T) {
	a, f := box(io.Discard)
	f.missing = []string{"the voice is being loaded"}
	r := ask(a, "GET", "/readyz")
	if r.StatusCode != 503 || fmt.Sprint(body(t, r)["missing"]) != "[the voice is being loaded]" {
		t.Errorf("%d", r.StatusCode)
	}
	if r := ask(a, "GET", "/healthz"); r.StatusCode != 200 || body(t, r)["status"] != "ok" {
		t.Errorf("health: %d", r.StatusCode)
	}
	f.missing = nil
	if r := ask(a, "GET", "/readyz"); r.StatusCode != 200 {
		t.Errorf("ready: %d", r.StatusCode)
	}
}

func TestEachKindOfErrorHasItsStatus(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{contract.ErrInvalid{Field: "name", Why: "too long"}, 400, "invalid_request"},
		{contract.ErrForbidden{Why: "no"}, 403, "forbidden"},
		{fmt.Errorf("reading: %w", contract.ErrNotFound{What: "chat", ID: "7"}), 404, "not_found"},
		{fmt.Errorf("reading: %w", store.ErrNotFound), 404, "not_found"},
		{contract.ErrConflict{Why: "active"}, 409, "conflict"},
		{&http.MaxBytesError{Limit: 7}, 413, "too_large"},
		{contract.ErrUpgradeRequired{Why: "ws"}, 426, "upgrade_required"},
		{contract.ErrTooMany{RetryAfter: 1500 * time.Millisecond}, 429, "too_many_requests"},
		{fmt.Errorf("opening: %w", contract.ErrFull{RetryAfter: 2 * time.Second}), 503, "full"},
		{contract.ErrUnavailable{Why: "warming up"}, 503, "unavailable"},
		{errors.New("open /secret/path: permission denied"), 500, "internal_error"},
	} {
		a, f := box(io.Discard)
		f.serve = func(http.ResponseWriter, *http.Request, string) error { return c.err }
		r := ask(a, "GET", "/v0/evi/chat?api_key=good")
		b := body(t, r)
		if r.StatusCode != c.status || b["code"] != c.code || b["error"] != http.StatusText(c.status) ||
			b["message"] == "" {
			t.Errorf("%v: %d %v", c.err, r.StatusCode, b)
		}
		if want := map[int]string{429: "2",
			503: r.Header.Get("Retry-After")}[c.status]; r.Header.Get("Retry-After") != want {
			t.Errorf("%v: Retry-After %q", c.err, r.Header.Get("Retry-After"))
		}
		if strings.Contains(fmt.Sprint(b), "secret") {
			t.Errorf("a fault of ours is told: %v", b)
		}
	}
}

func TestAMalformedBodyIsAnsweredInDetail(t *testing.T) {
	a, f := box(io.Discard)
	f.serve = func(http.ResponseWriter, *http.Request, string) error {
		return contract.ErrMalformed{
			Detail: []contract.ValidationError{{Loc: []any{"body", "tools", 0}, Msg: "missing", Type: "missing"}}}
	}
	r := ask(a, "GET", "/v0/evi/chat?api_key=good")
	text, _ := io.ReadAll(r.Body)
	if want := `{"detail":[{"loc":["body","tools",0],"msg":"missing","type":"missing"}]}` + "\n"; r.StatusCode != 422 ||
		string(text) != want {
		t.Errorf("%d %s", r.StatusCode, text)
	}
}

func TestAPanicIsLoggedAndNotSentToTheClient(t *testing.T) {
	var log bytes.Buffer
	a, f := box(&log)
	f.serve = func(http.ResponseWriter, *http.Request, string) error { panic("the secret broke") }
	r := ask(a, "GET", "/v0/evi/chat?api_key=good")
	b := body(t, r)
	if r.StatusCode != 500 || strings.Contains(fmt.Sprint(b), "secret") ||
		!strings.Contains(fmt.Sprint(b["message"]), r.Header.Get("X-Request-Id")) {
		t.Errorf("%d %v", r.StatusCode, b)
	}
	if !strings.Contains(log.String(), "the secret broke") || !strings.Contains(log.String(), "api_test.go") {
		t.Errorf("log: %s", &log)
	}
}

func TestTheAccessLogHoldsNoKey(t *testing.T) {
	var log bytes.Buffer
	a, _ := box(&log)
	ask(a, "GET", "/v0/evi/chat?api_key=good", "X-Service-Api-Key", "good")
	ask(a, "GET", "/v0/evi/chat?api_key=topsecret")
	if strings.Contains(log.String(), "good") || strings.Contains(log.String(), "topsecret") ||
		strings.Count(log.String(), `"msg":"request"`) != 2 {
		t.Errorf("log: %s", &log)
	}
}
