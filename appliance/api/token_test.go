package api

import (
	"strings"
	"testing"
)

func TestATokenIsIssuedForKeyAndSecret(t *testing.T) {
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
			a.body["issued_at"] != 1_700_000_000_000.0 || a.body["grant_type"] != "client_credentials" ||
			len(a.body) != 5 {
			t.Errorf("%s %s: %d %s", c.kind, c.body, a.StatusCode, a.text)
		}
		if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Pragma") != "no-cache" {
			t.Errorf("the token may be kept by a cache: %v", a.Header)
		}
	}
}

// error is one of the words of RFC 6749, section 5.2; the other fields are those
// of every error.
func TestTokenErrorsFollowOAuth(t *testing.T) {
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
		if a.StatusCode != c.status || a.body["error"] != c.word || a.body["code"] != c.word ||
			a.body["message"] == "" || a.body["error_description"] != a.body["message"] {
			t.Errorf("%.40s %s: %d %s", c.auth, c.body, a.StatusCode, a.text)
		}
		if c.status == 401 && !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("WWW-Authenticate is %q", a.Header.Get("WWW-Authenticate"))
		}
	}
	if a := b.ask("GET", "/oauth2-cc/token", "", "Authorization", right); a.StatusCode != 405 ||
		a.Header.Get("Allow") != "POST" {
		t.Errorf("GET: %d, Allow %q", a.StatusCode, a.Header.Get("Allow"))
	}
	if a := b.ask("POST", "/oauth2-cc/token", strings.Repeat("x", smallBody+1), "Authorization", right, "Content-Type",
		form); a.StatusCode != 413 {
		t.Errorf("a large body: %d", a.StatusCode)
	}
}
