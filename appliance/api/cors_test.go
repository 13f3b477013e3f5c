package api

import (
	"strings"
	"testing"
)

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
		if h.Get("Access-Control-Allow-Origin") != c.allowed || !strings.Contains(h.Get("Vary"), "Origin") ||
			h.Get("X-Request-Id") == "" {
			t.Errorf("%v, page of %s: preflight %d %v", c.origins, c.origin, a.StatusCode, h)
		}
		if c.allowed == "" && (a.StatusCode != 403 || !strings.Contains(a.text, "origins")) {
			t.Errorf("%v, page of %s: preflight %d %s", c.origins, c.origin, a.StatusCode, a.text)
		}
		if c.allowed != "" && (a.StatusCode != 204 ||
			h.Get("Access-Control-Allow-Headers") != "authorization,x-hume-api-key,x-fern-language" ||
			!strings.Contains(h.Get("Access-Control-Allow-Methods"), "PATCH") ||
			h.Get("Access-Control-Allow-Credentials") != "") {
			t.Errorf("%v, page of %s: preflight %d %v", c.origins, c.origin, a.StatusCode, h)
		}
		// An error must be readable too.
		for _, key := range []string{made.APIKey, "wrong"} {
			a := b.ask("GET", "/v0/evi/chat", "", "Origin", c.origin, "X-Service-Api-Key", key)
			if a.Header.Get("Access-Control-Allow-Origin") != c.allowed ||
				(c.allowed != "") != strings.Contains(a.Header.Get("Access-Control-Expose-Headers"),
					"X-Request-Id, Retry-After") {
				t.Errorf("%v, page of %s: %d %v", c.origins, c.origin, a.StatusCode, a.Header)
			}
		}
		if h := b.ask("GET", "/healthz", "").Header; h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("who is no page is told of origins: %v", h)
		}
	}
}

// A client asks which media types a path accepts (RFC 9725, section 4.2).
func TestOptionsListMethodsAndMediaTypes(t *testing.T) {
	b := startBox(t)
	for path, want := range map[string][3]string{
		"/v0/evi/chat/webrtc":         {"POST", "application/sdp", ""},
		"/v0/evi/chat/webrtc/calls/1": {"DELETE, PATCH", "", "application/trickle-ice-sdpfrag, application/sdp"},
		"/v0/evi/chats":               {"GET, HEAD", "", ""},
	} {
		a := b.ask("OPTIONS", path, "")
		h := a.Header
		if got := [3]string{h.Get("Allow"), h.Get("Accept-Post"), h.Get("Accept-Patch")}; a.StatusCode != 204 ||
			got != want {
			t.Errorf("%s: %d %q", path, a.StatusCode, got)
		}
	}
}
