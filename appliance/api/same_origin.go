package api

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"parley/appliance/contract"
)

// sessionCookie returns the name of the cookie that holds a session. Browsers
// send the cookies of a host to all of its ports, so the port in the name keeps
// two boxes on one machine apart. Over TLS, the prefix __Host- guarantees that
// this host set the cookie over TLS
// (https://www.rfc-editor.org/rfc/rfc6265#section-4.1 and its successor).
func sessionCookie(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	switch {
	case err == nil:
	case r.TLS != nil:
		port = "443"
	default:
		port = "80"
	}
	if r.TLS != nil {
		return "__Host-parley-" + port
	}
	return "parley-" + port
}

// requireSameOrigin rejects a request with a session cookie that a page of
// another origin caused. The cookie's SameSite attribute stops other sites, but
// not other ports of this host. Browsers name the origin in Sec-Fetch-Site. Where
// they do not (over plain HTTP to another machine, and old browsers), they name
// it in Origin for every socket and every request that changes something.
func requireSameOrigin(r *http.Request) error {
	changes := r.Method != http.MethodGet && r.Method != http.MethodHead || r.Header.Get("Upgrade") != ""
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch {
	case site == "same-origin":
		return nil
	case site == "none" && !changes: // a typed address or a bookmark
		return nil
	case site == "" && origin == "" && !changes:
		return nil
	case site == "" && isBoxOrigin(r, origin):
		return nil
	}
	from := firstNonBlank(origin, site, "an unnamed origin")
	return contract.ErrForbidden{Why: fmt.Sprintf("a session of the console works for the pages of this box only, and "+
		"this request comes from %.80q; other programs send a key (X-Service-Api-Key)", from)}
}

// isBoxOrigin reports whether an origin is that of the box's pages.
func isBoxOrigin(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host) && (r.TLS == nil || u.Scheme == "https")
}
