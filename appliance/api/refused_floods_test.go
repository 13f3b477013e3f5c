package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/store"
)

// countingKeys counts the lookups.
type countingKeys struct {
	keys
	asked atomic.Int32
}

func (k *countingKeys) OpenKey(ctx context.Context, key string) (store.Grant, error) {
	k.asked.Add(1)
	return k.keys.OpenKey(ctx, key)
}

func (k *countingKeys) OpenToken(ctx context.Context, token string, at time.Time) (store.Grant, error) {
	k.asked.Add(1)
	return k.keys.OpenToken(ctx, token, at)
}

func (k *countingKeys) OpenSession(ctx context.Context, cookie string, at time.Time) (store.Grant, error) {
	k.asked.Add(1)
	return k.keys.OpenSession(ctx, cookie, at)
}

func (k *countingKeys) CreateToken(ctx context.Context, key, secret string, at time.Time) (string, error) {
	k.asked.Add(1)
	return k.keys.CreateToken(ctx, key, secret, at)
}

func (k *countingKeys) SignIn(ctx context.Context, link, browser, address string, at time.Time) (string, store.Session,
	error) {
	k.asked.Add(1)
	return "", store.Session{}, store.ErrNotFound
}

func (k *countingKeys) Pair(context.Context, string, time.Time) (store.Credentials, store.Kiosk, error) {
	k.asked.Add(1)
	return store.Credentials{}, store.Kiosk{}, store.ErrNotFound
}

// newFloodedAPI returns an API that allows an address ten requests at once, and
// one more in a thousand seconds.
func newFloodedAPI(t *testing.T) (*API, *countingKeys) {
	t.Helper()
	a, _ := echoAPI(t)
	k := &countingKeys{}
	a.Keys = k
	a.mux = http.NewServeMux()
	a.register(a.routes())
	a.rates = newRequestRates(Limits{RequestsPerSecond: 1, RequestBurst: 10})
	for _, b := range []string{"192.0.2.1", "192.0.2.2", "127.0.0.1"} { // so slow that no test sees one come back
		a.rates.bucket(b + "/32").SetLimit(0.001)
	}
	return a, k
}

// statusOf returns the status of a request from an address.
func statusOf(t *testing.T, a *API, from, method, path, body string, header ...string) int {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr = from
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	if w.Code == 429 {
		if n, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || n < 1 {
			t.Errorf("%s %s: Retry-After is %q", method, path, w.Header().Get("Retry-After"))
		}
	}
	return w.Code
}

// However many wrong credentials come from an address, even from the machine
// itself, no more of them are looked up than its rate allows. Other addresses are
// not delayed.
func TestAFloodOfWrongKeysDoesNotReachTheDatabase(t *testing.T) {
	for _, c := range []struct {
		what, method, path, body string
		header                   func(i int) []string
	}{
		{"keys", "GET", "/v0/evi/configs", "", func(i int) []string {
			return []string{"X-Service-Api-Key", fmt.Sprint("wrong", i)}
		}},
		{"one key", "GET", "/v0/evi/configs", "", func(int) []string { return []string{"X-Service-Api-Key", "wrong"} }},
		{"tokens", "GET", "/v0/evi/configs", "", func(i int) []string {
			return []string{"Authorization", fmt.Sprint("Bearer wrong", i)}
		}},
		{"sessions", "GET", "/v0/box/operator", "", func(i int) []string {
			return []string{"Cookie", fmt.Sprint(sessionCookie(&http.Request{}), "=wrong", i), "Sec-Fetch-Site",
				"same-origin"}
		}},
		{"secrets", "POST", "/oauth2-cc/token", "grant_type=client_credentials", func(i int) []string {
			return []string{"Authorization", basic("key", fmt.Sprint("wrong", i)), "Content-Type", form}
		}},
		{"links", "POST", "/v0/box/sessions", `{"link":"wrong"}`, func(int) []string { return nil }},
		{"codes", "POST", "/v0/box/kiosks", `{"code":"ABCD-2345"}`, func(int) []string { return nil }},
	} {
		for _, from := range []string{"192.0.2.1:5", "127.0.0.1:5"} {
			a, k := newFloodedAPI(t)
			for i := range 100 {
				if got := statusOf(t, a, from, c.method, c.path, c.body, c.header(i)...); got != 401 && got != 429 {
					t.Fatalf("%s: %d", c.what, got)
				}
			}
			if n := k.asked.Load(); n != 10 {
				t.Errorf("%s from %s: the database was asked %d times", c.what, from, n)
			}
			if got := statusOf(t, a, "192.0.2.2:5", "GET", "/v0/evi/configs", "", "X-Service-Api-Key",
				"wrong"); got != 401 {
				t.Errorf("%s: another address gets %d", c.what, got)
			}
		}
	}
}

func TestAFloodWithAValidKeyDoesNotReachTheDatabase(t *testing.T) {
	a, k := newFloodedAPI(t)
	a.rates.bucket("client").SetLimit(0.001)
	last := 0
	for range 100 {
		last = statusOf(t, a, "192.0.2.1:5", "GET", "/v0/evi/configs", "", "X-Service-Api-Key", "client")
	}
	if n := k.asked.Load(); last != 429 || n != 10 {
		t.Errorf("%d, and the database was asked %d times", last, n)
	}
}

// Requests that are rejected without a lookup count too.
func TestRejectedRequestsCountForTheAddress(t *testing.T) {
	for _, c := range []struct {
		what, method, path string
		header             []string
		want               int
	}{
		{"no such path", "GET", "/nowhere", nil, 404},
		{"an unclean path", "GET", "/v0//evi", nil, 404},
		{"a broken query", "GET", "/docs?%", nil, 400},
		{"a method", "PUT", "/healthz", nil, 405},
		{"OPTIONS", "OPTIONS", "/healthz", nil, 204},
		{"a preflight", "OPTIONS", "/v0/evi/chat",
			[]string{"Origin", "https://other.example", "Access-Control-Request-Method", "GET"}, 403},
		{"no key", "GET", "/v0/evi/configs", nil, 401},
		{"a key in the query", "GET", "/v0/evi/configs?api_key=client", nil, 401},
		{"a link", "GET", "/v0/evi/chats/x/audio.wav?expires=1&signature=00", nil, 403},
	} {
		a, k := newFloodedAPI(t)
		for i := range 10 {
			if got := statusOf(t, a, "192.0.2.1:5", c.method, c.path, "", c.header...); got != c.want {
				t.Fatalf("%s, the %dth: %d", c.what, i, got)
			}
		}
		if got := statusOf(t, a, "192.0.2.1:5", c.method, c.path, "", c.header...); got != 429 {
			t.Errorf("%s, above the share: %d", c.what, got)
		}
		got := statusOf(t, a, "192.0.2.1:5", "GET", "/v0/evi/configs", "", "X-Service-Api-Key", "wrong")
		if got != 429 ||
			k.asked.Load() != 0 {
			t.Errorf("%s: a wrong key after it: %d, and the database was asked", c.what, got)
		}
		if got := statusOf(t, a, "192.0.2.2:5", c.method, c.path, "", c.header...); got != c.want {
			t.Errorf("%s, from another address: %d", c.what, got)
		}
	}
}

// Clients with valid credentials share the address with an attacker.
func TestOtherClientsAtAFloodingAddressKeepWorking(t *testing.T) {
	a, rows := echoAPI(t)
	a.rates = newRequestRates(Limits{RequestsPerSecond: 1, RequestBurst: 1000})
	a.rates.bucket("192.0.2.1/32").SetLimit(0.001)
	a.rates.bucket("192.0.2.1/32").SetBurst(10)
	open := rows[slices.IndexFunc(rows, func(rt route) bool {
		return rt.access == byToken && rt.method == "GET" && !rt.isSocket()
	})]
	office := func(header ...string) int {
		return statusOf(t, a, "192.0.2.1:9", open.method, pathOf(open), "", header...)
	}
	// An office of a hundred that behaves takes nothing of it.
	for i := range 100 {
		if got := office("X-Service-Api-Key", "client"); got != 200 {
			t.Fatalf("request %d: %d", i, got)
		}
	}
	if got := office("Authorization", "Bearer client token"); got != 200 {
		t.Fatalf("a token: %d", got)
	}
	for range 100 {
		office("X-Service-Api-Key", "wrong")
	}
	for _, good := range [][]string{{"X-Service-Api-Key", "client"}, {"X-Hume-Api-Key", "client"},
		{"Authorization", "Bearer client token"}} {
		if got := office(good...); got != 200 {
			t.Errorf("%v after a flood: %d", good, got)
		}
	}
	if got := office("X-Service-Api-Key", "wrong"); got != 429 {
		t.Errorf("a wrong key: %d", got)
	}
}

// A new token, or the key of a newly paired screen, works although its address
// has not used it yet.
func TestNewCredentialsWorkAtAFloodingAddress(t *testing.T) {
	b := startBox(t)
	made := b.key("home")
	b.api.rates = newRequestRates(Limits{RequestsPerSecond: 1, RequestBurst: 10})
	b.api.rates.bucket("127.0.0.1/32").SetLimit(0.001)
	token := b.token(made)
	for range 20 {
		b.ask("GET", "/v0/evi/chat", "", "X-Service-Api-Key", "wrong")
	}
	if a := b.ask("GET", "/v0/evi/chat", "", "Authorization", "Bearer "+token); a.StatusCode != 200 {
		t.Errorf("a fresh token: %d %s", a.StatusCode, a.text)
	}
	if a := b.ask("GET", "/v0/evi/chat", "", "X-Service-Api-Key", made.APIKey); a.StatusCode != 429 {
		t.Errorf("a key that nobody has shown: %d %s", a.StatusCode, a.text)
	}
	// A revoked key no longer counts as valid lately.
	if err := b.store.RevokeKey(t.Context(), made.KeyID); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{401, 429} { // the second is not looked up
		if a := b.ask("GET", "/v0/evi/chat", "", "Authorization", "Bearer "+token); a.StatusCode != want {
			t.Errorf("a token of a revoked key, the %dth time: %d %s", i, a.StatusCode, a.text)
		}
	}
}
