package api

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"parley/appliance/contract"
)

// sessionCookie is the name of the cookie that holds a session. Browsers send the
// cookies of a host to all of its ports: the port in the name keeps two boxes on
// a machine apart. Over TLS the name says that nobody but this host, over TLS, may
// have set it (https://www.rfc-editor.org/rfc/rfc6265#section-4.1, and the prefix
// __Host- of its successor).
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

// requireSameOrigin refuses what a page of another origin asks for with the cookie of a
// session, which a browser sends along by itself: SameSite keeps it from other
// sites, and not from other ports of this host. Browsers say where a request comes
// from in Sec-Fetch-Site, and where they do not (over plain HTTP to another
// machine, and old ones) in Origin with all that changes something, and with every
// socket.
func requireSameOrigin(r *http.Request) error {
	changes := r.Method != http.MethodGet && r.Method != http.MethodHead || r.Header.Get("Upgrade") != ""
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	switch {
	case site == "same-origin":
		return nil
	case site == "none" && !changes: // typed, or a bookmark
		return nil
	case site == "" && origin == "" && !changes:
		return nil
	case site == "" && isBoxOrigin(r, origin):
		return nil
	}
	from := firstNonBlank(origin, site, "nowhere that it names")
	return contract.ErrForbidden{Why: fmt.Sprintf("a session of the console is for the pages of this box alone, and "+
		"this request comes from %.80q; other programs send a key (X-Service-Api-Key)", from)}
}

// isBoxOrigin tells whether an origin is that of the box's own pages.
func isBoxOrigin(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host) && (r.TLS == nil || u.Scheme == "https")
}
