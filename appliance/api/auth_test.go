package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/appliance/contract"
	"parley/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// realBox is the API over a real store, asked by real clients. Its clock is the
// test's.
type realBox struct {
	t     *testing.T
	dir   string
	store *store.Store
	api   *API
	http  *httptest.Server

	mu   sync.Mutex
	time time.Time
	kept func(context.Context) error // still, of the last chat
}

func startBox(t *testing.T, origins ...string) *realBox {
	b := &realBox{t: t, dir: t.TempDir(), time: time.UnixMilli(1_700_000_000_000)}
	b.open(origins...)
	t.Cleanup(b.close)
	return b
}

func (b *realBox) open(origins ...string) {
	b.t.Helper()
	s, err := store.Open(context.Background(), b.dir, slog.New(slog.DiscardHandler))
	if err != nil {
		b.t.Fatal(err)
	}
	b.store = s
	b.api = New(Parts{Keys: s, Chats: b, Ready: &fakes{}, Origins: origins, Log: slog.New(slog.DiscardHandler)})
	b.api.now = func() time.Time {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.time
	}
	b.http = httptest.NewServer(b.api)
}

func (b *realBox) close() {
	b.http.Close()
	if err := b.store.Close(); err != nil {
		b.t.Error(err)
	}
}

func (b *realBox) wait(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.time = b.time.Add(d)
}

// ServeChat says whose it is.
func (b *realBox) ServeChat(w http.ResponseWriter, _ *http.Request, account string, still func(context.Context) error) error {
	b.kept = still
	_, err := io.WriteString(w, account)
	return err
}

func (b *realBox) key(account string) store.Credentials {
	b.t.Helper()
	made, err := b.store.CreateKey(b.t.Context(), account, "")
	if err != nil {
		b.t.Fatal(err)
	}
	return made
}

// answer is what came back.
type answer struct {
	*http.Response
	text string
	body map[string]any
}

func (b *realBox) ask(method, path, body string, header ...string) answer {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.http.URL+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := b.http.Client().Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	a := answer{Response: res, text: string(text)}
	_ = json.Unmarshal(text, &a.body) // where it is JSON
	return a
}

func basic(key, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(key+":"+secret))
}

const form = "application/x-www-form-urlencoded"

func (b *realBox) token(made store.Credentials) string {
	b.t.Helper()
	a := b.ask("POST", "/oauth2-cc/token", "grant_type=client_credentials", "Authorization", basic(made.APIKey, made.SecretKey), "Content-Type", form)
	token, _ := a.body["access_token"].(string)
	if a.StatusCode != 200 || token == "" {
		b.t.Fatalf("no token: %d %s", a.StatusCode, a.text)
	}
	return token
}

func TestATokenIsMadeOfKeyAndSecretByFormOrJSON(t *testing.T) {
	b := startBox(t)
	made := b.key("home")
	right := basic(made.APIKey, made.SecretKey)
	for _, c := range []struct{ body, kind string }{
		{"grant_type=client_credentials", form},
		{"grant_type=client_credentials&scope=all", form + "; charset=utf-8"},
		{"grant_type=client_credentials", ""},
		{`{"grant_type":"client_credentials","more":[1]}`, "application/json"},
		{` {"grant_type": "client_credentials"}`, "application/json; charset=utf-8"},
	} {
		a := b.ask("POST", "/oauth2-cc/token", c.body, "Authorization", right, "Content-Type", c.kind)
		if a.StatusCode != 200 || a.body["token_type"] != "Bearer" || a.body["expires_in"] != 1800.0 ||
			a.body["issued_at"] != 1_700_000_000_000.0 || a.body["grant_type"] != "client_credentials" || len(a.body) != 5 {
			t.Errorf("%s %s: %d %s", c.kind, c.body, a.StatusCode, a.text)
		}
		if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Pragma") != "no-cache" {
			t.Errorf("the token may be kept by a cache: %v", a.Header)
		}
	}
}

// The words in error are those of RFC 6749, section 5.2; the rest is as in
// every other error.
func TestATokenIsRefusedInTheWordsOfOAuth(t *testing.T) {
	b := startBox(t)
	made, other := b.key("home"), b.key("work")
	right := basic(made.APIKey, made.SecretKey)
	const good = "grant_type=client_credentials"
	for _, c := range []struct {
		auth, kind, body string
		status           int
		word             string
	}{
		{"", form, good, 401, "invalid_client"},
		{"Bearer x", form, good, 401, "invalid_client"},
		{"Basic ***", form, good, 401, "invalid_client"},
		{basic(made.APIKey, ""), form, good, 401, "invalid_client"},
		{basic(made.APIKey, "x"), form, good, 401, "invalid_client"},
		{basic(made.APIKey, other.SecretKey), form, good, 401, "invalid_client"},
		{basic(made.SecretKey, made.APIKey), form, good, 401, "invalid_client"},
		{basic(made.APIKey, strings.Repeat("x", 5000)), form, good, 401, "invalid_client"},
		{right, form, "", 400, "invalid_request"},
		{right, form, "grant_type=", 400, "invalid_request"},
		{right, form, good + "&" + good, 400, "invalid_request"},
		{right, form, "%zz", 400, "invalid_request"},
		{right, "application/json", good, 400, "invalid_request"},
		{right, "application/json", `{"grant_type":7}`, 400, "invalid_request"},
		{right, form, "grant_type=password", 400, "unsupported_grant_type"},
		{right, "application/json", `{"grant_type":"refresh_token"}`, 400, "unsupported_grant_type"},
	} {
		a := b.ask("POST", "/oauth2-cc/token", c.body, "Authorization", c.auth, "Content-Type", c.kind)
		if a.StatusCode != c.status || a.body["error"] != c.word || a.body["code"] != c.word || a.body["message"] == "" || a.body["error_description"] != a.body["message"] {
			t.Errorf("%.40s %s: %d %s", c.auth, c.body, a.StatusCode, a.text)
		}
		if c.status == 401 && !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("WWW-Authenticate is %q", a.Header.Get("WWW-Authenticate"))
		}
	}
	if a := b.ask("GET", "/oauth2-cc/token", "", "Authorization", right); a.StatusCode != 405 || a.Header.Get("Allow") != "POST" {
		t.Errorf("GET: %d, Allow %q", a.StatusCode, a.Header.Get("Allow"))
	}
	if a := b.ask("POST", "/oauth2-cc/token", strings.Repeat("x", maxTokenBody+1), "Authorization", right, "Content-Type", form); a.StatusCode != 413 {
		t.Errorf("a large body: %d", a.StatusCode)
	}
}

func TestATokenOpensItsAccountUntilItExpiresOverARestart(t *testing.T) {
	b := startBox(t)
	home, work := b.key("home"), b.key("work")
	token := b.token(home)
	account := b.ask("GET", "/v0/evi/chat", "", "X-Service-Api-Key", home.APIKey).text
	if other := b.ask("GET", "/v0/evi/chat", "", "X-Hume-Api-Key", work.APIKey).text; account == other || len(account) != 36 {
		t.Fatalf("accounts %q and %q", account, other)
	}
	opens := func() {
		t.Helper()
		for _, path := range []string{"?access_token=" + token, "?accessToken=" + token, "?api_key=&access_token=" + token} {
			if a := b.ask("GET", "/v0/evi/chat"+path, ""); a.StatusCode != 200 || a.text != account {
				t.Errorf("%s: %d %s", path, a.StatusCode, a.text)
			}
		}
		for _, scheme := range []string{"Bearer ", "bearer ", "Bearer  "} {
			if a := b.ask("GET", "/v0/evi/chat", "", "Authorization", scheme+token); a.StatusCode != 200 || a.text != account {
				t.Errorf("%q: %d %s", scheme, a.StatusCode, a.text)
			}
		}
	}
	opens()
	b.close()
	b.open()
	b.wait(30*time.Minute - time.Millisecond)
	opens()
	b.wait(time.Millisecond)
	if a := b.ask("GET", "/v0/evi/chat?access_token="+token, ""); a.StatusCode != 401 || !strings.Contains(a.text, "/oauth2-cc/token") {
		t.Errorf("expired: %d %s", a.StatusCode, a.text)
	}
	// A key is no token, nor the other way round.
	for _, path := range []string{"?access_token=" + home.APIKey, "?api_key=" + b.token(home), "?api_key=" + home.SecretKey} {
		if a := b.ask("GET", "/v0/evi/chat"+path, ""); a.StatusCode != 401 {
			t.Errorf("%s: %d", path, a.StatusCode)
		}
	}
}

func TestTokensOpenTheAssistantAndSpeechOnly(t *testing.T) {
	b := startBox(t)
	made := b.key("home")
	token := b.token(made)
	for path, open := range map[string]bool{
		"/v0/evi/chat": true, "/v0/evi/configs": true, "/v0/evi/chats/1/audio": true,
		"/v0/tts": true, "/v0/tts/stream/json": true, "/v0/tts/voices": true,
		"/v0/batch/jobs": false, "/v0/evil": false, "/v0/ttsx": false, "/v0/keys": false, "/": false, "/metrics": false,
	} {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		_, err := b.api.caller(r)
		_, forbidden := errors.AsType[contract.ErrForbidden](err)
		if open && err != nil || !open && !forbidden {
			t.Errorf("%s: %v", path, err)
		}
		r.Header.Set("X-Service-Api-Key", made.APIKey)
		if _, err := b.api.caller(r); err != nil {
			t.Errorf("%s with the key: %v", path, err)
		}
	}
}

func TestARevokedKeyFailsAtOnceWithItsTokensAndItsChats(t *testing.T) {
	b := startBox(t)
	for name, end := range map[string]func(string) error{
		"revoked":     func(id string) error { return b.store.RevokeKey(t.Context(), id) },
		"regenerated": func(id string) error { _, err := b.store.RegenerateKey(t.Context(), id); return err },
	} {
		made := b.key("home")
		token := b.token(made)
		b.ask("GET", "/v0/evi/chat?api_key="+made.APIKey, "")
		byKey := b.kept
		b.ask("GET", "/v0/evi/chat?access_token="+token, "")
		byToken := b.kept
		if err := errors.Join(byKey(t.Context()), byToken(t.Context())); err != nil {
			t.Fatal(err)
		}
		if err := end(made.KeyID); err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{"api_key=" + made.APIKey, "access_token=" + token} {
			if a := b.ask("GET", "/v0/evi/chat?"+query, ""); a.StatusCode != 401 {
				t.Errorf("%s, %s: %d", name, query, a.StatusCode)
			}
		}
		for _, still := range []func(context.Context) error{byKey, byToken} {
			if _, out := errors.AsType[contract.ErrUnauthorized](still(t.Context())); !out {
				t.Errorf("%s: a chat may go on", name)
			}
		}
	}
}

func TestWrongKeysAreSlowedAndRightOnesAreNot(t *testing.T) {
	b := startBox(t)
	made := b.key("home")
	wrong := []func() answer{
		func() answer { return b.ask("GET", "/v0/evi/chat?api_key=wrong", "") },
		func() answer { return b.ask("GET", "/v0/evi/chat?access_token=wrong", "") },
		func() answer {
			return b.ask("POST", "/oauth2-cc/token", "grant_type=client_credentials", "Authorization", basic(made.APIKey, "wrong"))
		},
	}
	for i := range maxWrong {
		if a := wrong[i%len(wrong)](); a.StatusCode != 401 {
			t.Fatalf("wrong key %d: %d", i, a.StatusCode)
		}
		b.wait(time.Second)
	}
	for _, try := range wrong {
		a := try()
		if a.StatusCode != 429 || a.Header.Get("Retry-After") != "50" || a.body["code"] != "too_many_requests" {
			t.Errorf("%d, Retry-After %q: %s", a.StatusCode, a.Header.Get("Retry-After"), a.text)
		}
	}
	if a := b.ask("GET", "/v0/evi/chat?api_key="+made.APIKey, ""); a.StatusCode != 200 {
		t.Errorf("the right key: %d", a.StatusCode)
	}
	if a := b.ask("GET", "/v0/evi/chat?access_token="+b.token(made), ""); a.StatusCode != 200 {
		t.Errorf("a right token: %d", a.StatusCode)
	}
	if a := b.ask("GET", "/v0/evi/chat", ""); a.StatusCode != 401 {
		t.Errorf("no key is no wrong key: %d", a.StatusCode)
	}
	b.wait(50 * time.Second)
	if a := wrong[0](); a.StatusCode != 401 {
		t.Errorf("after Retry-After: %d", a.StatusCode)
	}
}

func TestAnAddressIsWhatOneCustomerHas(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.7:1234":                  "192.0.2.7/32",
		"[::ffff:192.0.2.7]:9":            "192.0.2.7/32",
		"[2001:db8:1:2:3:4:5:6]:80":       "2001:db8:1:2::/64",
		"[2001:db8:1:2:ffff::1]:81":       "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80":               "fe80::/64",
		"@":                               "invalid Prefix",
		"":                                "invalid Prefix",
		"192.0.2.7":                       "invalid Prefix",
		"[2001:db8:1:2:3:4:5:6%x]:123456": "invalid Prefix",
	} {
		if got := address(&http.Request{RemoteAddr: remote}).String(); got != want {
			t.Errorf("%q is %s, want %s", remote, got, want)
		}
	}
}

func TestTheMemoryOfWrongKeysIsBounded(t *testing.T) {
	var all tries
	at := time.Unix(1_700_000_000, 0)
	from := func(i int) *http.Request {
		return &http.Request{RemoteAddr: fmt.Sprintf("[2001:db8:%x:%x::1]:1", i>>16, i&0xffff)}
	}
	for range maxWrong {
		all.note(address(from(0)), at)
	}
	for i := range 10 * maxAddresses {
		all.note(address(from(i+1)), at)
		if i%1000 == 0 { // who goes on is remembered however many others come
			if wait, _ := all.note(address(from(0)), at); wait != time.Minute {
				t.Fatalf("after %d others: wait is %v", i, wait)
			}
		}
	}
	if n := len(all.newer) + len(all.before); n > 2*maxAddresses {
		t.Errorf("%d addresses are remembered", n)
	}
}

func TestPagesOfAllowedOriginsMayUseTheAPI(t *testing.T) {
	const page = "https://kiosk.example"
	for _, c := range []struct {
		origins []string
		origin  string
		allowed string
	}{
		{nil, page, ""},
		{[]string{page}, page, page},
		{[]string{"https://other.example", page}, page, page},
		{[]string{page}, "https://kiosk.example.evil.example", ""},
		{[]string{page}, "http://kiosk.example", ""},
		{[]string{page}, "null", ""},
		{[]string{"*"}, page, "*"},
	} {
		b := startBox(t, c.origins...)
		made := b.key("home")
		a := b.ask("OPTIONS", "/v0/evi/chat", "", "Origin", c.origin, "Access-Control-Request-Method", "PATCH",
			"Access-Control-Request-Headers", "authorization,x-hume-api-key,x-fern-language")
		h := a.Header
		if h.Get("Access-Control-Allow-Origin") != c.allowed || !strings.Contains(h.Get("Vary"), "Origin") || h.Get("X-Request-Id") == "" {
			t.Errorf("%v, page of %s: preflight %d %v", c.origins, c.origin, a.StatusCode, h)
		}
		if c.allowed == "" && (a.StatusCode != 403 || !strings.Contains(a.text, "origins")) {
			t.Errorf("%v, page of %s: preflight %d %s", c.origins, c.origin, a.StatusCode, a.text)
		}
		if c.allowed != "" && (a.StatusCode != 204 || h.Get("Access-Control-Allow-Headers") != "authorization,x-hume-api-key,x-fern-language" ||
			!strings.Contains(h.Get("Access-Control-Allow-Methods"), "PATCH") || h.Get("Access-Control-Allow-Credentials") != "") {
			t.Errorf("%v, page of %s: preflight %d %v", c.origins, c.origin, a.StatusCode, h)
		}
		// An error must be readable too.
		for _, key := range []string{made.APIKey, "wrong"} {
			a := b.ask("GET", "/v0/evi/chat", "", "Origin", c.origin, "X-Service-Api-Key", key)
			if a.Header.Get("Access-Control-Allow-Origin") != c.allowed || (c.allowed != "") != strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), "X-Request-Id, Retry-After") {
				t.Errorf("%v, page of %s: %d %v", c.origins, c.origin, a.StatusCode, a.Header)
			}
		}
		if h := b.ask("GET", "/healthz", "").Header; h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("who is no page is told of origins: %v", h)
		}
	}
}

func TestTheAuthorityIsThereForAll(t *testing.T) {
	b := startBox(t)
	if a := b.ask("GET", "/ca.crt", ""); a.StatusCode != 404 || a.body["code"] != "not_found" {
		t.Errorf("none: %d %s", a.StatusCode, a.text)
	}
	b.api.Authority = []byte("PEM")
	if a := b.ask("GET", "/ca.crt", ""); a.StatusCode != 200 || a.text != "PEM" || a.Header.Get("Content-Type") != "application/x-x509-ca-cert" {
		t.Errorf("%d %s %v", a.StatusCode, a.text, a.Header)
	}
}
