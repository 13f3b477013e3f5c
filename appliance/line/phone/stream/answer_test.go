package stream

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
)

func TestTwiMLConnectsTheCallWithASocketAtTheSameHost(t *testing.T) {
	b := newBox(t, "")
	for _, c := range []struct{ host, proto, want string }{
		{"box.example", "", "wss://box.example" + SocketPath},
		{"box.example:8443", "", "wss://box.example:8443" + SocketPath},
		{"192.0.2.1:8080", "", "wss://192.0.2.1:8080" + SocketPath},
		{"127.0.0.1:8080", "https, http", "wss://127.0.0.1:8080" + SocketPath},
		{"127.0.0.1:8080", "", "ws://127.0.0.1:8080" + SocketPath},
		{"[::1]:8080", "http", "ws://[::1]:8080" + SocketPath},
		{"localhost", "", "ws://localhost" + SocketPath},
	} {
		r := b.request("config_id=c&api_key=secret", nil)
		r.Host = c.host
		if c.proto != "" {
			r.Header.Set("X-Forwarded-Proto", c.proto)
		}
		status, x := b.ask(r)
		if status != http.StatusOK || x.Stream.URL != c.want {
			t.Errorf("%+v: %d, %q", c, status, x.Stream.URL)
		}
		if len(x.token()) < 40 || strings.Contains(fmt.Sprint(x), "secret") {
			t.Errorf("%+v", x)
		}
	}
}

func TestTheTicketHasWhatTheProviderSaysOfTheCall(t *testing.T) {
	b := newBox(t, "")
	for _, form := range []url.Values{callerForm(), nil} {
		query := "config_id=c&session_settings[custom_session_id]=s"
		if form == nil {
			query += "&" + callerForm().Encode()
		}
		_, x := b.ask(b.request(query, form))
		p := b.dial(SocketPath)
		p.start(x.token())
		got := b.answered().Ticket()
		if got.Account != "account" || got.Settings.ConfigID != "c" || got.Caller != "+15551234567" ||
			got.Called != "+15557654321" || got.CallSID != "CA1" ||
			got.Settings.SessionSettings.CustomSessionID != "s" {
			t.Errorf("%+v", got)
		}
		if len(got.Twilio) != 14 || got.Twilio["caller_name"] != "A & B" || got.Twilio["from_city"] != "" ||
			got.Twilio["from_number"] != "+15551234567" {
			t.Errorf("%v", got.Twilio)
		}
	}
}

func TestAWithheldNumberIsNoNumber(t *testing.T) {
	for from, want := range map[string]string{
		"+15551234567": "+15551234567",
		" 15551234567": "+15551234567",
		"100":          "100",
		"+266696687":   "",
		"anonymous":    "",
		"client:alice": "",
		"":             "",
		"+1555; drop":  "",
	} {
		if got := number(from); got != want {
			t.Errorf("%q: %q", from, got)
		}
	}
}

func TestABusyBoxRejectsTheCall(t *testing.T) {
	b := newBox(t, "")
	for _, why := range []error{contract.ErrFull{}, contract.ErrTooMany{}, contract.ErrUnavailable{Why: "loading"}} {
		b.busy = fmt.Errorf("reserving: %w", why)
		status, x := b.ask(b.request("", callerForm()))
		if status != http.StatusOK || x.Reject == nil || x.Reject.Reason != "busy" || x.Stream.URL != "" {
			t.Errorf("%v: %d, %+v", why, status, x)
		}
	}
	b.busy = contract.ErrForbidden{}
	if status, _ := b.ask(b.request("", callerForm())); status != http.StatusForbidden {
		t.Errorf("an error that another try does not mend was answered with %d", status)
	}
}

func TestOnlySignedRequestsAreAnsweredWhereATokenIsSet(t *testing.T) {
	b := newBox(t, "12345")
	ask := func(form url.Values, sign func(url string) []byte) int {
		r := b.request("config_id=c", form)
		r.Host = "box.example"
		if sign != nil {
			r.Header.Set(signatureHeader, base64.StdEncoding.EncodeToString(sign(r.URL.RequestURI())))
		}
		status, _ := b.ask(r)
		return status
	}
	form := callerForm()
	for name, c := range map[string]struct {
		form url.Values
		sign func(string) []byte
		want int
	}{
		"POST":      {form, func(u string) []byte { return b.server.sign("https://box.example"+u, form) }, 200},
		"with port": {form, func(u string) []byte { return b.server.sign("https://box.example:443"+u, form) }, 200},
		"GET":       {nil, func(u string) []byte { return b.server.sign("https://box.example"+u, nil) }, 200},
		"none":      {form, nil, 403},
		"wrong":     {form, func(string) []byte { return make([]byte, 20) }, 403},
		"other URL": {form, func(string) []byte { return b.server.sign("https://box.example/", form) }, 403},
		"other form": {form, func(u string) []byte {
			return b.server.sign("https://box.example"+u, url.Values{"From": {"+1"}})
		}, 403},
	} {
		if got := ask(c.form, c.sign); got != c.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// The signatures are those of PyPI twilio 9 for the auth token 12345; the first one is the example of
// https://www.twilio.com/docs/usage/security.
func TestTheSignatureIsThatOfTheProvider(t *testing.T) {
	s := Open(Options{AuthToken: "12345"})
	for _, c := range []struct {
		url  string
		form url.Values
		want string
	}{
		{"https://mycompany.com/myapp.php?foo=1&bar=2", url.Values{
			"CallSid": {"CA1234567890ABCDE"},
			"Caller":  {"+14158675309"},
			"Digits":  {"1234"},
			"From":    {"+14158675309"},
			"To":      {"+18005551212"},
		}, "RSOYDt4T1cUTdK1PDd93/VVr8B8="},
		{"https://box.example/v0/evi/twilio?config_id=c&api_key=k", url.Values{
			"CallerName": {"Zoë & Söhne"},
			"From":       {"+1"},
			"Empty":      {""},
			"Media":      {"b", "a", "b"},
		}, "4ST4scRL/iMWILFzRV4EkZxBpEI="},
	} {
		if got := base64.StdEncoding.EncodeToString(s.sign(c.url, c.form)); got != c.want {
			t.Errorf("%s: %s", c.url, got)
		}
	}
}

func TestAForgedSocketIsNotOpened(t *testing.T) {
	b := newBox(t, "12345")
	try := func(signature, path string) int {
		h := http.Header{}
		if signature != "" {
			h.Set(signatureHeader, signature)
		}
		conn, answer, err := websocket.Dial(t.Context(), strings.Replace(b.http.URL, "http", "ws", 1)+path,
			&websocket.DialOptions{HTTPHeader: h})
		if err == nil {
			conn.CloseNow()
		}
		return answer.StatusCode
	}
	address := strings.Replace(b.http.URL, "http", "ws", 1) + SocketPath
	right := base64.StdEncoding.EncodeToString(b.server.sign(address+"/", nil))
	if got := try(right, SocketPath); got != 101 {
		t.Errorf("signed: %d", got)
	}
	if got := try("", SocketPath); got != 101 {
		t.Errorf("without a signature: %d", got)
	}
	if got := try("AAAA", SocketPath); got != 403 {
		t.Errorf("wrong signature: %d", got)
	}
	if got := try("", SocketPath+"?token=wrong"); got != 403 {
		t.Errorf("wrong token: %d", got)
	}
}

func TestATokenOpensOneStreamForAMinute(t *testing.T) {
	b := newBox(t, "")
	token := b.token()
	b.dial(SocketPath + "?token=" + token).start("")
	b.answered()
	p := b.dial(SocketPath)
	p.start(token)
	if code, reason := p.closed(); code != contract.ClosePolicy || !strings.Contains(reason, "used before") {
		t.Errorf("a used token: %d %s", code, reason)
	}
	var all tokens
	now := time.Now()
	text, err := all.issue(Ticket{}, now)
	if err != nil || !all.has(text, now.Add(tokenLifetime-time.Second)) {
		t.Error("a new token is not valid", err)
	}
	if _, err := all.redeem(text, now.Add(tokenLifetime)); err == nil {
		t.Error("a token is valid after a minute")
	}
	if len(all.valid) != 0 || len(all.issued) != 0 {
		t.Error("an expired token is stored")
	}
}

func TestAnAccountCannotUseUpTheTokens(t *testing.T) {
	var all tokens
	now := time.Now()
	for range maxTokensEach {
		text, err := all.issue(Ticket{Account: "a"}, now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := all.redeem(text, now); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := all.issue(Ticket{Account: "a"}, now); !isBusy(err) {
		t.Error("no limit:", err)
	}
	if _, err := all.issue(Ticket{Account: "b"}, now); err != nil {
		t.Error("another account:", err)
	}
	if _, err := all.issue(Ticket{Account: "a"}, now.Add(tokenLifetime)); err != nil {
		t.Error("a minute later:", err)
	}
}
