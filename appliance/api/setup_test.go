package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// fakeSetUp accepts all settings, and counts what it writes.
type fakeSetUp struct {
	written, restarts atomic.Int32
	full              atomic.Bool // the disk, so that nothing can be written
}

func (*fakeSetUp) Facts(context.Context) (contract.ReturnSetUp, error) {
	return contract.ReturnSetUp{Listen: "127.0.0.1:8080"}, nil
}

func (*fakeSetUp) Check(s contract.PostedSetUp) contract.ReturnSetUpCheck {
	found := contract.ReturnSetUpCheck{Problems: []contract.ReturnSetUpProblem{}}
	if s.Listen == "taken" {
		found.Problems = append(found.Problems, contract.ReturnSetUpProblem{Field: "listen", Why: "it is taken"})
	}
	return found
}

func (f *fakeSetUp) Write(context.Context, contract.PostedSetUp) (contract.ReturnSetUpDone, error) {
	if f.full.Load() {
		return contract.ReturnSetUpDone{}, errors.New("the disk is full")
	}
	f.written.Add(1)
	return contract.ReturnSetUpDone{Packs: []contract.ReturnSetUpPack{}}, nil
}

func (f *fakeSetUp) Restart(context.Context, string) (contract.ReturnRestart, error) {
	f.restarts.Add(1)
	return contract.ReturnRestart{}, nil
}

// setUpBox is an API with a new database.
func setUpBox(t *testing.T) (*API, *store.Store, *fakeSetUp) {
	t.Helper()
	records, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { records.Close() })
	f := &fakeSetUp{}
	return New(Parts{Keys: records, Records: records, BoxSetUp: f, Log: slog.New(slog.DiscardHandler)}), records, f
}

const goodSetUp = `{"listen":"127.0.0.1:1","profile":"small","tls":"off","password":"a good password"}`

// visit sends a request as a browser on the machine itself does, changed by the test.
func visit(a *API, method, path, body string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost:8080"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:4711"
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w
}

func TestTheFirstVisitIsForABrowserOnTheMachineItself(t *testing.T) {
	a, records, f := setUpBox(t)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for what, change := range map[string]func(*http.Request){
		"over the network":       func(r *http.Request) { r.RemoteAddr = "192.0.2.7:4711" },
		"over a Unix socket":     func(r *http.Request) { r.RemoteAddr = "@" },
		"DNS rebinding":          func(r *http.Request) { r.Host = "attacker.example:8080" },
		"a name that looks so":   func(r *http.Request) { r.Host = "localhost.attacker.example" },
		"another address":        func(r *http.Request) { r.Host = "192.0.2.7" },
		"a proxy":                header("X-Forwarded-For", "127.0.0.1"),
		"a proxy by the book":    header("Forwarded", "for=127.0.0.1"),
		"a proxy with its name":  header("Via", "1.1 proxy"),
		"a proxy without a word": func(r *http.Request) { r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.0", 1, 0 },
		"a page of another site": header("Sec-Fetch-Site", "cross-site"),
		"a page of another port": header("Sec-Fetch-Site", "same-site"),
		"an old browser": func(r *http.Request) {
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set("Origin", "http://attacker.example")
		},
		"a sandboxed page": func(r *http.Request) {
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set("Origin", "null")
		},
	} {
		for _, path := range []string{"GET /v0/box/setup", "POST /v0/box/setup/check", "POST /v0/box/setup"} {
			method, path, _ := strings.Cut(path, " ")
			body := ""
			if method == "POST" {
				body = goodSetUp
			}
			if w := visit(a, method, path, body, change); w.Code != http.StatusForbidden ||
				!strings.Contains(w.Body.String(), "message") {
				t.Errorf("%s: %s %s: %d %s", what, method, path, w.Code, w.Body)
			}
		}
		w := visit(a, "GET", "/v0/box/sign-in", "", change)
		if strings.Contains(w.Body.String(), `"set_up":true`) {
			t.Errorf("%s: offered: %s", what, w.Body)
		}
	}
	state, err := records.SetUpState(t.Context())
	if err != nil || state.HasOperator || f.written.Load() != 0 {
		t.Errorf("%+v, %d written, %v", state, f.written.Load(), err)
	}
	for what, change := range map[string]func(*http.Request){
		"a browser":        nil,
		"another loopback": func(r *http.Request) { r.RemoteAddr, r.Host = "[::1]:4711", "[::1]:8080" },
		"curl on the box":  func(r *http.Request) { r.Header.Del("Sec-Fetch-Site") },
	} {
		if w := visit(a, "GET", "/v0/box/setup", "", change); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
		if w := visit(a, "GET", "/v0/box/sign-in", "", change); !strings.Contains(w.Body.String(), `"set_up":true`) {
			t.Errorf("%s: not offered: %s", what, w.Body)
		}
	}
}

func TestTheFirstVisitorBecomesTheOperatorAndTheSecondComesTooLate(t *testing.T) {
	a, _, f := setUpBox(t)
	for body, field := range map[string]string{
		`{"listen":"taken","profile":"small","tls":"off","password":"a good password"}`: "listen",
		`{"listen":"h:1","profile":"small","tls":"off"}`:                                "password",
		`{"listen":"h:1","profile":"small","tls":"off","password":"short"}`:             "password",
	} {
		if w := visit(a, "POST", "/v0/box/setup", body, nil); w.Code != http.StatusBadRequest ||
			!strings.Contains(w.Body.String(), field) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
		if w := visit(a, "POST", "/v0/box/setup/check", body, nil); !strings.Contains(w.Body.String(),
			`"field":"`+field+`"`) {
			t.Errorf("checking %s: %d %s", body, w.Code, w.Body)
		}
	}
	// Two at once: one goes on.
	codes := make(chan *httptest.ResponseRecorder, 4)
	var all sync.WaitGroup
	for range cap(codes) {
		all.Go(func() { codes <- visit(a, "POST", "/v0/box/setup", goodSetUp, nil) })
	}
	all.Wait()
	close(codes)
	var winner *httptest.ResponseRecorder
	for w := range codes {
		switch {
		case w.Code == http.StatusOK && winner == nil:
			winner = w
		case w.Code != http.StatusConflict:
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if winner == nil || f.written.Load() != 1 {
		t.Fatalf("%d written", f.written.Load())
	}
	cookie := winner.Result().Cookies()[0]
	signedIn := func(r *http.Request) { r.AddCookie(cookie) }
	if w := visit(a, "GET", "/v0/box/operator", "", signedIn); w.Code != http.StatusOK {
		t.Errorf("the winner is not signed in: %d %s", w.Code, w.Body)
	}
	for _, change := range []func(*http.Request){nil, signedIn} {
		if w := visit(a, "POST", "/v0/box/setup", goodSetUp, change); w.Code != http.StatusConflict ||
			!strings.Contains(w.Body.String(), "set up already") {
			t.Errorf("a second visit: %d %s", w.Code, w.Body)
		}
		if w := visit(a, "GET", "/v0/box/setup", "", change); w.Code != http.StatusConflict {
			t.Errorf("a second look: %d %s", w.Code, w.Body)
		}
	}
	if w := visit(a, "POST", "/v0/box/restart", "", nil); w.Code != http.StatusUnauthorized || f.restarts.Load() != 0 {
		t.Errorf("a stranger restarts the box: %d", w.Code)
	}
	if w := visit(a, "POST", "/v0/box/restart", "", signedIn); w.Code != http.StatusAccepted || f.restarts.Load() != 1 {
		t.Errorf("the operator does not: %d %s", w.Code, w.Body)
	}
}

func TestASetUpThatCouldNotBeWrittenIsTriedAgainWithTheSamePassword(t *testing.T) {
	a, _, f := setUpBox(t)
	f.full.Store(true)
	w := visit(a, "POST", "/v0/box/setup", goodSetUp, nil)
	if w.Code != http.StatusInternalServerError || len(w.Result().Cookies()) != 1 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	cookie := w.Result().Cookies()[0]
	signedIn := func(r *http.Request) { r.AddCookie(cookie) }
	f.full.Store(false)
	another := strings.Replace(goodSetUp, "a good password", "another password", 1)
	if w := visit(a, "POST", "/v0/box/setup", another, signedIn); w.Code != http.StatusConflict {
		t.Errorf("with another password: %d %s", w.Code, w.Body)
	}
	if w := visit(a, "POST", "/v0/box/setup", goodSetUp, signedIn); w.Code != http.StatusOK || f.written.Load() != 1 {
		t.Errorf("the second try: %d %s", w.Code, w.Body)
	}
}

// An operator who signed in with a link, also over the network, may set the box up; others may not
// any more.
func TestALinkOpensSetUpForItsBrowserAlone(t *testing.T) {
	a, records, _ := setUpBox(t)
	link, err := records.StartSignIn(t.Context(), "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	far := func(r *http.Request) { r.RemoteAddr, r.Host = "192.0.2.7:4711", "192.0.2.1:8080" }
	w := visit(a, "POST", "/v0/box/sessions", `{"link":"`+link+`"}`, far)
	if w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	cookie := w.Result().Cookies()[0]
	signedIn := func(r *http.Request) { far(r); r.AddCookie(cookie) }
	if w := visit(a, "GET", "/v0/box/setup", "", nil); w.Code != http.StatusConflict {
		t.Errorf("a first visitor after an operator: %d %s", w.Code, w.Body)
	}
	if w := visit(a, "GET", "/v0/box/setup", "", func(r *http.Request) {
		signedIn(r)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}); w.Code != http.StatusForbidden {
		t.Errorf("a page of another site with the cookie: %d %s", w.Code, w.Body)
	}
	noPassword := `{"listen":"127.0.0.1:1","profile":"small","tls":"off"}`
	if w := visit(a, "POST", "/v0/box/setup", noPassword, signedIn); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := visit(a, "POST", "/v0/box/setup", noPassword, signedIn); w.Code != http.StatusConflict {
		t.Errorf("twice: %d %s", w.Code, w.Body)
	}
}

func TestWrongPasswordsAreLimitedAndTheRightOneSignsIn(t *testing.T) {
	a, records, _ := setUpBox(t)
	now := time.Now()
	a.now = func() time.Time { return now }
	signIn := func(secret string, from string) *httptest.ResponseRecorder {
		return visit(a, "POST", "/v0/box/sessions", `{"password":"`+secret+`"}`,
			func(r *http.Request) { r.RemoteAddr = from + ":1" })
	}
	if w := signIn("a good password", "192.0.2.1"); w.Code != http.StatusUnauthorized ||
		!strings.Contains(w.Body.String(), "no password") {
		t.Errorf("without a password: %d %s", w.Code, w.Body)
	}
	if _, err := records.SetConsolePassword(t.Context(), "a good password", "", now); err != nil {
		t.Fatal(err)
	}
	if w := visit(a, "GET", "/v0/box/sign-in", "", nil); w.Body.String() != `{"password":true,"set_up":false}`+"\n" {
		t.Errorf("%s", w.Body)
	}
	for n := range maxWrong {
		if w := signIn("a wrong password", "192.0.2.2"); w.Code != http.StatusUnauthorized {
			t.Errorf("wrong password %d: %d %s", n, w.Code, w.Body)
		}
	}
	// Also the right one is not compared now, or a guesser would learn from it.
	if w := signIn("a good password", "192.0.2.2"); w.Code != http.StatusTooManyRequests ||
		w.Header().Get("Retry-After") == "" {
		t.Errorf("after too many: %d %s", w.Code, w.Body)
	}
	if w := signIn("a good password", "192.0.2.3"); w.Code != http.StatusCreated {
		t.Errorf("from another address: %d %s", w.Code, w.Body)
	}
	now = now.Add(wrongWindow)
	if w := signIn("a good password", "192.0.2.2"); w.Code != http.StatusCreated {
		t.Errorf("a minute later: %d %s", w.Code, w.Body)
	}
}

func TestASessionMustShowThePresentPasswordToChangeIt(t *testing.T) {
	a, records, _ := setUpBox(t)
	cookies := []*http.Cookie{}
	for range 2 {
		link, err := records.StartSignIn(t.Context(), "", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		w := visit(a, "POST", "/v0/box/sessions", `{"link":"`+link+`"}`, nil)
		cookies = append(cookies, w.Result().Cookies()[0])
	}
	set := func(body string) *httptest.ResponseRecorder {
		return visit(a, "PUT", "/v0/box/password", body, func(r *http.Request) { r.AddCookie(cookies[0]) })
	}
	for _, step := range []struct {
		body string
		code int
		want string
	}{
		{`{"password":"short"}`, 400, "at least 10"},
		{`{"password":"a good password"}`, 200, `"signed_out":1`},
		{`{"password":"a better password"}`, 403, "present password is wrong"},
		{`{"password":"a better password","current":"a wrong password"}`, 403, "present password is wrong"},
		{`{"password":"a better password","current":"a good password"}`, 200, `"signed_out":0`},
	} {
		if w := set(step.body); w.Code != step.code || !strings.Contains(w.Body.String(), step.want) {
			t.Errorf("%s: %d %s", step.body, w.Code, w.Body)
		}
	}
	if w := visit(a, "GET", "/v0/box/operator", "", func(r *http.Request) { r.AddCookie(cookies[1]) }); w.Code != 401 {
		t.Errorf("the other browser: %d", w.Code)
	}
	if _, _, err := records.ConsolePassword(t.Context()); err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	var acts []string
	err := records.Acts(t.Context(), store.ActFilter{}, func(one store.Act) error {
		if strings.Contains(one.What, "password") {
			acts = append(acts, string(one.Outcome))
		}
		text, _ := json.Marshal(one)
		if strings.Contains(string(text), "good password") {
			t.Errorf("the audit log has a password: %s", text)
		}
		return nil
	})
	if err != nil || len(acts) != 4 { // two changes and two refusals
		t.Errorf("acts: %v %v", acts, err)
	}
}
