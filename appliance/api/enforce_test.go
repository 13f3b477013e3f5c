package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/api/describe"
	"parley/store"
)

// A row without access would admit nobody, and one without a body limit no body.
func TestEveryRowIsComplete(t *testing.T) {
	a, _ := box(io.Discard)
	for _, rt := range a.routes() {
		if rt.access < byAnyone || rt.access > byOperator {
			t.Errorf("%s %s does not say who may use it", rt.method, rt.path)
		}
		if rt.body <= 0 {
			t.Errorf("%s %s does not say how large its body may be", rt.method, rt.path)
		}
		if (rt.time <= 0) != rt.isSocket() || rt.time == 0 {
			t.Errorf("%s %s: only sockets last as long as they like, and this one has %v", rt.method, rt.path, rt.time)
		}
		if reads := rt.about.Body != "" || rt.about.OneOf != nil || rt.about.Form != nil ||
			rt.about.Upload != ""; reads == (rt.body == noBody) {
			t.Errorf("%s %s reads a body: %v; it may have %d bytes", rt.method, rt.path, reads, rt.body)
		}
		if rt.handle == nil {
			t.Errorf("%s %s has no handler", rt.method, rt.path)
		}
	}
}

// keys has a client's key, an operator's key, and a token of each.
type keys struct{ fakes }

func (k *keys) OpenKey(_ context.Context, key string) (store.Grant, error) {
	switch key {
	case "client", "operator":
		return store.Grant{AccountID: key, Role: store.KeyRole(key)}, nil
	}
	return store.Grant{}, store.ErrNotFound
}

func (k *keys) OpenToken(_ context.Context, token string, _ time.Time) (store.Grant, error) {
	account, of, _ := strings.Cut(token, " ")
	if of != "token" {
		return store.Grant{}, store.ErrNotFound
	}
	return k.OpenKey(context.Background(), account)
}

// echoAPI returns an API with the real rows and one handler for all of them. It
// reads the body and, on request, waits for the end of its context.
func echoAPI(t *testing.T) (a *API, rows []route) {
	t.Helper()
	// It has the key of links, and one that asks for them.
	s, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.CreateKey(t.Context(), store.NewKey{Account: "links"}); err != nil {
		t.Fatal(err)
	}
	k := &keys{}
	a = New(Parts{
		Keys:    k,
		Ready:   k,
		Records: s,
		Log:     slog.New(slog.DiscardHandler),
		Limits:  Limits{BatchUpload: 1 << 20},
	})
	rows = a.routes()
	a.mux = http.NewServeMux()
	for i := range rows {
		rows[i].handle = func(w http.ResponseWriter, r *http.Request, by caller) error {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return err
			}
			if r.Header.Get("Wait") != "" {
				<-r.Context().Done()
				return fmt.Errorf("waiting: %w", r.Context().Err())
			}
			_, err := io.WriteString(w, "account "+by.AccountID+by.client.key)
			return err
		}
	}
	a.register(rows)
	return a, rows
}

func pathOf(rt route) string {
	return strings.NewReplacer("{$}", "", "{id}", "x", "{version}", "0").Replace(rt.path)
}

// try sends a request to a route, with a body of some length.
func try(a *API, rt route, query string, length int64, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(rt.method, pathOf(rt)+"?"+query, io.LimitReader(zeros{}, length))
	r.ContentLength = -1
	if length == 0 {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestEveryRowAdmitsItsCallersOnly(t *testing.T) {
	a, rows := echoAPI(t)
	link, err := linkToX(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	want := func(anybody, linked, client, token, account, operator int) map[describe.Access]int {
		return map[describe.Access]int{
			byAnyone: anybody, byLink: linked, bySecret: client,
			byToken: token, byKey: account, byBearer: account, byOperator: operator,
		}
	}
	asBearer := want(200, 403, 401, 401, 401, 401)
	asBearer[byBearer] = 200
	socket := func(token, account int) map[describe.Access]int {
		return map[describe.Access]int{byToken: token, byKey: account}
	}
	callers := []struct {
		name   string
		query  string
		header []string
		want   map[describe.Access]int
		socket map[describe.Access]int // where the row is a socket
	}{
		{"nobody", "", nil, want(200, 403, 401, 401, 401, 401), socket(401, 401)},
		{"a wrong key", "", []string{"X-Service-Api-Key", "wrong"}, want(200, 403, 401, 401, 401, 401),
			socket(401, 401)},
		{"a client", "", []string{"X-Service-Api-Key", "client"}, want(200, 403, 401, 200, 200, 403), socket(200, 200)},
		{"a client under the other name", "", []string{"X-Hume-Api-Key", "client"}, want(200, 403, 401, 200, 200, 403),
			socket(200, 200)},
		{"an operator", "", []string{"X-Service-Api-Key", "operator"}, want(200, 403, 401, 200, 200, 200),
			socket(200, 200)},
		{"a token", "", []string{"Authorization", "Bearer client token"}, want(200, 403, 401, 200, 403, 403),
			socket(200, 403)},
		{"an operator's token", "", []string{"Authorization", "Bearer operator token"},
			want(200, 403, 401, 200, 403, 403), socket(200, 403)},
		{"a key as a token", "", []string{"Authorization", "Bearer client"}, asBearer, socket(401, 401)},
		{"a key in the query", "api_key=operator", nil, want(200, 403, 401, 401, 401, 401), socket(200, 200)},
		{"a key in the query, in camel case", "apiKey=operator", nil, want(200, 403, 401, 401, 401, 401),
			socket(200, 200)},
		{"a token in the query", "access_token=client+token", nil, want(200, 403, 401, 401, 401, 401),
			socket(200, 403)},
		{"key and secret", "", []string{"Authorization", basic("client", "secret")}, want(200, 403, 200, 401, 401, 401),
			socket(401, 401)},
		{"a link", link, nil, want(200, 200, 401, 401, 401, 401), socket(401, 401)},
	}
	seen := map[describe.Access]bool{}
	for _, rt := range rows {
		seen[rt.access] = true
		for _, c := range callers {
			a.wrongKeys = newWrongKeys()
			status := c.want[rt.access]
			if rt.keyInQuery() {
				status = c.socket[rt.access]
			}
			if w := try(a, rt, c.query, 0, c.header...); w.Code != status {
				t.Errorf("%s at %s %s (%s): %d, want %d: %s", c.name, rt.method, rt.path, rt.access, w.Code, status,
					w.Body)
			}
		}
	}
	if len(seen) != len(callers[0].want) {
		t.Errorf("only %v are tried", seen)
	}
}

func TestAKeyInTheQueryIsRejectedWithAHint(t *testing.T) {
	a, rows := echoAPI(t)
	for _, rt := range rows {
		if rt.access != byToken && rt.access != byKey || rt.keyInQuery() {
			continue
		}
		w := try(a, rt, "api_key=client", 0)
		if w.Code != 401 || !strings.Contains(w.Body.String(), "X-Service-Api-Key") ||
			!strings.Contains(w.Body.String(), "live chats only") {
			t.Errorf("%s %s: %d %s", rt.method, rt.path, w.Code, w.Body)
		}
		if w := try(a, rt, "api_key=wrong", 0, "X-Service-Api-Key", "client"); w.Code != 200 {
			t.Errorf("%s %s with the key in the header too: %d %s", rt.method, rt.path, w.Code, w.Body)
		}
	}
	if len(a.wrongKeys.byAddress.Keys()) > 0 {
		t.Error("a key in the wrong place counts as a wrong key")
	}
}

// credentialsFor returns what a route admits.
func credentialsFor(a *API, rt route) (query string, header []string) {
	switch rt.access {
	case bySecret:
		return "", []string{"Authorization", basic("client", "secret")}
	case byLink:
		link, err := linkToX(context.Background(), a)
		if err != nil {
			return "", nil
		}
		return link, nil
	}
	return "", []string{"X-Service-Api-Key", "operator"}
}

// linkToX returns the query of a link to the recording of chat x.
func linkToX(ctx context.Context, a *API) (string, error) {
	all, err := a.Records.ListKeys(ctx, "")
	if err != nil || len(all) == 0 {
		return "", errors.Join(err, store.ErrNotFound)
	}
	asked, err := a.Records.GrantBy(ctx, all[0].ID, a.now())
	if err != nil {
		return "", err
	}
	key, err := a.Records.Secret(ctx, AudioURLKey)
	if err != nil {
		return "", err
	}
	until := fmt.Sprint(a.now().Add(time.Hour).UnixMilli())
	return linkQuery(key, "x", until, asked), nil
}

func TestEveryRowBoundsItsBody(t *testing.T) {
	a, rows := echoAPI(t)
	for _, rt := range rows {
		query, header := credentialsFor(a, rt)
		if w := try(a, rt, query, rt.body, header...); w.Code != 200 {
			t.Errorf("%s %s with %d bytes: %d %s", rt.method, rt.path, rt.body, w.Code, w.Body)
		}
		if w := try(a, rt, query, rt.body+1, header...); w.Code != 413 ||
			!strings.Contains(w.Body.String(), fmt.Sprint(rt.body)) {
			t.Errorf("%s %s with %d bytes: %d %s", rt.method, rt.path, rt.body+1, w.Code, w.Body)
		}
		r := httptest.NewRequest(rt.method, pathOf(rt)+"?"+query, http.NoBody)
		r.ContentLength = rt.body + 1 // announced: not a byte of it is waited for
		r.Body = io.NopCloser(errorReader{})
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		if a.ServeHTTP(w, r); w.Code != 413 {
			t.Errorf("%s %s with %d bytes announced: %d %s", rt.method, rt.path, rt.body+1, w.Code, w.Body)
		}
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.New("it was read") }

func TestEveryRowBoundsTheTimeToItsAnswer(t *testing.T) {
	a, rows := echoAPI(t)
	for _, rt := range rows {
		if rt.isSocket() {
			continue
		}
		query, header := credentialsFor(a, rt)
		records := a.Records
		synctest.Test(t, func(t *testing.T) {
			if rt.act.what != "" { // the failure would be recorded by a writer outside the bubble
				a.Records = nil
				defer func() { a.Records = records }()
			}
			begun := time.Now()
			if rt.access == byLink { // its end is in the time of the bubble
				a.now = time.Now
				query, header = credentialsFor(a, rt)
			}
			w := try(a, rt, query, 0, append(header, "Wait", "yes")...)
			if took := time.Since(begun); w.Code != 503 || took != rt.time ||
				!strings.Contains(w.Body.String(), "timed_out") {
				t.Errorf("%s %s: %d after %v, want 503 after %v: %s", rt.method, rt.path, w.Code, took, rt.time, w.Body)
			}
			if w.Header().Get("Retry-After") == "" {
				t.Errorf("%s %s does not say when to try again", rt.method, rt.path)
			}
		})
	}
}

// The time limit is that of the box: the transfer of the body does not count, and
// an answer that has begun continues.
func TestTheAnswerTimerExcludesTransferTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, send := io.Pipe()
		go func() {
			for range 5 {
				time.Sleep(4 * time.Second)
				_, _ = send.Write([]byte("x"))
			}
			_ = send.Close()
		}()
		r := httptest.NewRequest("POST", "/", body)
		w := newResponse(httptest.NewRecorder(), r, maxStall)
		r.Body = newProgressBody(r.Body, w)
		err := beginWithin(5*time.Second, w, r, func(r *http.Request) error {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return err
			}
			w.WriteHeader(200)
			time.Sleep(time.Minute)
			return r.Context().Err()
		})
		if err != nil {
			t.Error(err)
		}
	})
}
