package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/store"
)

// storeBox is an API over a real store, with real clients. The test sets its
// clock.
type storeBox struct {
	t     *testing.T
	dir   string
	store *store.Store
	api   *API
	http  *httptest.Server

	mu   sync.Mutex
	time time.Time
	kept connection.Authorization // of the last chat

	Chats // nil: the tests follow and steer no chat
}

func startBox(t *testing.T, origins ...string) *storeBox {
	b := &storeBox{t: t, dir: t.TempDir(), time: time.UnixMilli(1_700_000_000_000)}
	b.open(origins...)
	t.Cleanup(b.close)
	return b
}

func (b *storeBox) open(origins ...string) {
	b.t.Helper()
	s, err := store.Open(context.Background(), b.dir, slog.New(slog.DiscardHandler))
	if err != nil {
		b.t.Fatal(err)
	}
	b.store = s
	b.api = New(Parts{
		Keys:    s,
		Chats:   b,
		Ready:   &fakes{},
		Origins: origins,
		Log:     slog.New(slog.DiscardHandler),
	})
	b.api.now = func() time.Time {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.time
	}
	b.http = httptest.NewServer(b.api)
}

func (b *storeBox) close() {
	b.http.Close()
	if err := b.store.Close(); err != nil {
		b.t.Error(err)
	}
}

func (b *storeBox) wait(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.time = b.time.Add(d)
}

// ServeChat answers with the account.
func (b *storeBox) ServeChat(w http.ResponseWriter, _ *http.Request, account string,
	pass connection.Authorization) error {
	b.kept = pass
	_, err := io.WriteString(w, account)
	return err
}

func (b *storeBox) key(account string) store.Credentials {
	b.t.Helper()
	made, err := b.store.CreateKey(b.t.Context(), store.NewKey{Account: account})
	if err != nil {
		b.t.Fatal(err)
	}
	return made
}

// answer is the answer to a request.
type answer struct {
	*http.Response
	text string
	body map[string]any
}

func (b *storeBox) ask(method, path, body string, header ...string) answer {
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

func (b *storeBox) token(made store.Credentials) string {
	b.t.Helper()
	a := b.ask("POST", "/oauth2-cc/token", "grant_type=client_credentials", "Authorization",
		basic(made.APIKey, made.SecretKey), "Content-Type", form)
	token, _ := a.body["access_token"].(string)
	if a.StatusCode != 200 || token == "" {
		b.t.Fatalf("no token: %d %s", a.StatusCode, a.text)
	}
	return token
}

func TestATokenOpensItsAccountUntilItExpiresOverARestart(t *testing.T) {
	b := startBox(t)
	home, work := b.key("home"), b.key("work")
	token := b.token(home)
	account := b.ask("GET", "/v0/evi/chat", "", "X-Service-Api-Key", home.APIKey).text
	if other := b.ask("GET", "/v0/evi/chat", "", "X-Hume-Api-Key", work.APIKey).text; account == other ||
		len(account) != 36 {
		t.Fatalf("accounts %q and %q", account, other)
	}
	opens := func() {
		t.Helper()
		for _, path := range []string{"?access_token=" + token, "?accessToken=" + token,
			"?api_key=&access_token=" + token} {
			if a := b.ask("GET", "/v0/evi/chat"+path, ""); a.StatusCode != 200 || a.text != account {
				t.Errorf("%s: %d %s", path, a.StatusCode, a.text)
			}
		}
		for _, scheme := range []string{"Bearer ", "bearer ", "Bearer  "} {
			if a := b.ask("GET", "/v0/evi/chat", "", "Authorization", scheme+token); a.StatusCode != 200 ||
				a.text != account {
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
	if a := b.ask("GET", "/v0/evi/chat?access_token="+token, ""); a.StatusCode != 401 ||
		!strings.Contains(a.text, "/oauth2-cc/token") {
		t.Errorf("expired: %d %s", a.StatusCode, a.text)
	}
	// A key is no token, nor the other way round.
	for _, path := range []string{"?access_token=" + home.APIKey, "?api_key=" + b.token(home),
		"?api_key=" + home.SecretKey} {
		if a := b.ask("GET", "/v0/evi/chat"+path, ""); a.StatusCode != 401 {
			t.Errorf("%s: %d", path, a.StatusCode)
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
		if err := errors.Join(byKey.Check(t.Context()), byToken.Check(t.Context())); err != nil {
			t.Fatal(err)
		}
		var lost []context.Context
		for _, p := range []connection.Authorization{byKey, byToken} {
			watched, release := p.Watch()
			defer release()
			if lost = append(lost, watched); watched.Err() != nil {
				t.Errorf("%s: it is lost before", name)
			}
		}
		if err := end(made.KeyID); err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{"api_key=" + made.APIKey, "access_token=" + token} {
			if a := b.ask("GET", "/v0/evi/chat?"+query, ""); a.StatusCode != 401 {
				t.Errorf("%s, %s: %d", name, query, a.StatusCode)
			}
		}
		for i, p := range []connection.Authorization{byKey, byToken} {
			if _, out := errors.AsType[contract.ErrUnauthorized](p.Check(t.Context())); !out {
				t.Errorf("%s: a chat may go on", name)
			}
			select {
			case <-lost[i].Done():
			case <-time.After(time.Minute):
				t.Errorf("%s: who holds a chat is not told", name)
			}
		}
	}
}

func TestTheAuthorityIsPublic(t *testing.T) {
	b := startBox(t)
	if a := b.ask("GET", "/ca.crt", ""); a.StatusCode != 404 || a.body["code"] != "not_found" {
		t.Errorf("none: %d %s", a.StatusCode, a.text)
	}
	b.api.Authority = []byte("PEM")
	if a := b.ask("GET", "/ca.crt", ""); a.StatusCode != 200 || a.text != "PEM" ||
		a.Header.Get("Content-Type") != "application/x-x509-ca-cert" {
		t.Errorf("%d %s %v", a.StatusCode, a.text, a.Header)
	}
}
