package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/store"
)

// consoleBox is a box with a browser that is signed in to its console.
type consoleBox struct {
	*storeBox
	cookie *http.Cookie
	id     string
}

func signedIn(t *testing.T) *consoleBox {
	b := startBox(t)
	b.api.Records = b.store
	c := &consoleBox{storeBox: b}
	a := c.signIn(c.link())
	if a.StatusCode != 201 || len(a.Cookies()) != 1 {
		t.Fatalf("%d %s", a.StatusCode, a.text)
	}
	c.cookie, c.id = a.Cookies()[0], a.body["id"].(string)
	return c
}

func (c *consoleBox) link() string {
	c.t.Helper()
	link, err := c.store.StartSignIn(c.t.Context(), "", c.api.now())
	if err != nil {
		c.t.Fatal(err)
	}
	return link
}

func (c *consoleBox) signIn(link string, header ...string) answer {
	c.t.Helper()
	return c.ask("POST", "/v0/box/sessions", `{"link":"`+link+`"}`, header...)
}

// withCookie sends a request with the cookie.
func (c *consoleBox) withCookie(method, path, body string, header ...string) answer {
	c.t.Helper()
	return c.ask(method, path, body, append(header, "Cookie", c.cookie.Name+"="+c.cookie.Value)...)
}

func TestTheSessionCookieIsForTheBoxOnly(t *testing.T) {
	c := signedIn(t)
	port := c.http.URL[strings.LastIndexByte(c.http.URL, ':')+1:]
	if k := c.cookie; k.Name != "parley-"+port || !k.HttpOnly || k.SameSite != http.SameSiteStrictMode ||
		k.Path != "/" || k.Domain != "" || k.MaxAge != int(store.SessionLife.Seconds()) || k.Secure {
		t.Errorf("%+v", k)
	}
}

// A browser sends the cookie for pages of other origins too.
func TestOnlyPagesOfTheBoxCanUseTheCookie(t *testing.T) {
	c := signedIn(t)
	own := c.http.URL
	for _, try := range []struct {
		name, method, path string
		header             []string
		want               int
	}{
		{"a page of its own reads", "GET", "/v0/box/operator", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"an old browser reads", "GET", "/v0/box/operator", nil, 200},
		{"an address that is typed", "GET", "/v0/box/operator", []string{"Sec-Fetch-Site", "none"}, 200},
		{"another site reads", "GET", "/v0/box/operator", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another port reads", "GET", "/v0/box/operator", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"another origin reads", "GET", "/v0/box/operator", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"a page of its own writes", "PATCH", "/v0/box/operator", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"an old browser's page of its own writes", "PATCH", "/v0/box/operator", []string{"Origin", own}, 200},
		{"another site writes", "PATCH", "/v0/box/operator",
			[]string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 403},
		{"another port writes", "PATCH", "/v0/box/operator",
			[]string{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"}, 403},
		{"an old browser's other port writes", "PATCH", "/v0/box/operator", []string{"Origin", "http://127.0.0.1:1"},
			403},
		{"a page without an origin writes", "PATCH", "/v0/box/operator", []string{"Origin", "null"}, 403},
		{"nobody knows who writes", "PATCH", "/v0/box/operator", nil, 403},
		{"typed, and it writes", "PATCH", "/v0/box/operator", []string{"Sec-Fetch-Site", "none"}, 403},
		{"a socket of its own", "GET", "/v0/evi/chat", []string{"Upgrade", "websocket", "Origin", own}, 200},
		{"a socket of another port", "GET", "/v0/evi/chat",
			[]string{"Upgrade", "websocket", "Origin", "http://127.0.0.1:1"}, 403},
		{"a socket of another site", "GET", "/v0/evi/chat",
			[]string{"Upgrade", "websocket", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, 403},
		{"a socket of nobody knows whom", "GET", "/v0/evi/chat", []string{"Upgrade", "websocket"}, 403},
	} {
		if a := c.withCookie(try.method, try.path, `{"account":"default"}`, try.header...); a.StatusCode != try.want {
			t.Errorf("%s: %d, want %d: %s", try.name, a.StatusCode, try.want, a.text)
		}
	}
	// A page of another site cannot sign its visitor in to another session either.
	if a := c.signIn(c.link(), "Sec-Fetch-Site", "cross-site"); a.StatusCode != 403 {
		t.Errorf("signing in from elsewhere: %d", a.StatusCode)
	}
}

func TestGuessedLinksAndCookiesAreLimited(t *testing.T) {
	c := signedIn(t)
	for n := range maxWrong + 2 {
		want := http.StatusUnauthorized
		if n >= maxWrong {
			want = http.StatusTooManyRequests
		}
		guess := func() answer { return c.signIn("guess") }
		if n%2 == 1 {
			guess = func() answer { return c.ask("GET", "/v0/box/operator", "", "Cookie", c.cookie.Name+"=guess") }
		}
		a := guess()
		if a.StatusCode != want {
			t.Errorf("try %d: %d, want %d: %s", n, a.StatusCode, want, a.text)
		}
	}
	if a := c.withCookie("GET", "/v0/box/operator", ""); a.StatusCode != 200 {
		t.Errorf("who is signed in is shut out with them: %d", a.StatusCode)
	}
	if a := c.signIn(c.link()); a.StatusCode != 201 {
		t.Errorf("a good link does not sign in: %d", a.StatusCode)
	}
}

func TestASignInLinkWorksOnceAndInTime(t *testing.T) {
	c := signedIn(t)
	link := c.link()
	c.wait(store.SignInLife)
	if a := c.signIn(link); a.StatusCode != 401 || !strings.Contains(a.text, "parley console") {
		t.Errorf("late: %d %s", a.StatusCode, a.text)
	}
	link = c.link()
	if first, second := c.signIn(link), c.signIn(link); first.StatusCode != 201 || second.StatusCode != 401 {
		t.Errorf("%d, and again %d", first.StatusCode, second.StatusCode)
	}
	for _, body := range []string{`{}`, `{"link":1}`, `{"link":"` + strings.Repeat("x", 300) + `"}`, `[]`, ``} {
		if a := c.ask("POST", "/v0/box/sessions", body); a.StatusCode != 422 && a.StatusCode != 400 {
			t.Errorf("%q: %d %s", body, a.StatusCode, a.text)
		}
	}
}

func TestEndedAndExpiredSessionsOpenNothing(t *testing.T) {
	c := signedIn(t)
	if a := c.withCookie("GET", "/v0/box/sessions", ""); a.StatusCode != 200 ||
		!strings.Contains(a.text, `"current":true`) ||
		strings.Contains(a.text, c.cookie.Value) {
		t.Errorf("%d %s", a.StatusCode, a.text)
	}
	a := c.withCookie("DELETE", "/v0/box/sessions/"+c.id, "", "Sec-Fetch-Site", "same-origin")
	if a.StatusCode != 200 || len(a.Cookies()) != 1 || a.Cookies()[0].MaxAge != -1 {
		t.Errorf("%d %v", a.StatusCode, a.Cookies())
	}
	if a := c.withCookie("GET", "/v0/box/operator", ""); a.StatusCode != 401 {
		t.Errorf("ended: %d", a.StatusCode)
	}
	c = signedIn(t)
	c.wait(store.SessionIdle - time.Minute)
	if a := c.withCookie("GET", "/v0/box/operator", ""); a.StatusCode != 200 {
		t.Errorf("in time: %d", a.StatusCode)
	}
	c.wait(store.SessionIdle)
	if a := c.withCookie("GET", "/v0/box/operator", ""); a.StatusCode != 401 {
		t.Errorf("idle: %d", a.StatusCode)
	}
}

func TestASessionCanSwitchAccountsAndAKeyCannot(t *testing.T) {
	c := signedIn(t)
	made := c.key("museum") // the first key of all, so it is an operator's
	if a := c.withCookie("PATCH", "/v0/box/operator", `{"account":"museum"}`, "Sec-Fetch-Site",
		"same-origin"); a.StatusCode != 200 || a.body["account"] != "museum" {
		t.Errorf("%d %s", a.StatusCode, a.text)
	}
	museum, err := c.store.Account(t.Context(), "museum")
	if err != nil {
		t.Fatal(err)
	}
	if a := c.withCookie("GET", "/v0/evi/chat", ""); a.text != museum.ID {
		t.Errorf("it talks for %q", a.text)
	}
	if a := c.withCookie("PATCH", "/v0/box/operator", `{"account":"nobody"}`, "Sec-Fetch-Site",
		"same-origin"); a.StatusCode != 422 && a.StatusCode != 400 {
		t.Errorf("%d %s", a.StatusCode, a.text)
	}
	if a := c.ask("PATCH", "/v0/box/operator", `{"account":"default"}`, "X-Service-Api-Key",
		made.APIKey); a.StatusCode != 403 {
		t.Errorf("a key: %d %s", a.StatusCode, a.text)
	}
	// A key takes precedence over the cookie, so a page with its own key, such as the
	// kiosk's, has that key's rights.
	if a := c.withCookie("GET", "/v0/box/operator", "", "X-Service-Api-Key", "wrong"); a.StatusCode != 401 {
		t.Errorf("a wrong key beside the cookie: %d", a.StatusCode)
	}
}

func TestHomeIsAPageForBrowsersAndTextForOthers(t *testing.T) {
	b := startBox(t)
	page := b.ask("GET", "/", "", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	if page.StatusCode != 200 || !strings.Contains(page.text, "console.js") ||
		!strings.Contains(page.Header.Get("Content-Security-Policy"), "default-src 'none'") ||
		page.Header.Get("Vary") != "Accept" {
		t.Errorf("%d %v", page.StatusCode, page.Header)
	}
	if text := b.ask("GET", "/", "", "Accept", "*/*"); !strings.HasPrefix(text.text, "Parley ") ||
		text.Header.Get("Vary") != "Accept" {
		t.Errorf("%q", text.text)
	}
}
