package stream

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/appliance/contract"
)

// signatureHeader has the provider's signature of a request.
const signatureHeader = "X-Twilio-Signature"

var errSignature = contract.ErrForbidden{Why: "the header " + signatureHeader + " is missing or does not fit the " +
	"request; the setting phone.twilio_auth_token has to be the auth token of the provider's account, and a proxy " +
	"has to forward the host that the provider named"}

// checkSignature checks the signature of a request for TwiML
// (https://www.twilio.com/docs/usage/security#validating-requests).
func (s *Server) checkSignature(r *http.Request, form url.Values) error {
	if s.AuthToken == "" || s.signed(r, form, "https", "http") {
		return nil
	}
	return errSignature
}

// checkSocketSignature checks the signature of a request for a socket, if there is one. The token of the
// call is what opens the socket.
func (s *Server) checkSocketSignature(r *http.Request) error {
	if s.AuthToken == "" || r.Header.Get(signatureHeader) == "" || s.signed(r, nil, "wss", "https", "ws", "http") {
		return nil
	}
	return errSignature
}

// signed reports whether the provider signed a request. The box does not know the URL that the provider
// used, which is what is signed: a proxy may have terminated TLS, providers add the port of the scheme or
// leave it out, and for sockets some add a slash. So any of these URLs will do.
func (s *Server) signed(r *http.Request, form url.Values, schemes ...string) bool {
	given, err := base64.StdEncoding.DecodeString(r.Header.Get(signatureHeader))
	if err != nil || len(given) != sha1.Size {
		return false
	}
	path := r.URL.EscapedPath()
	if raw, _, _ := strings.Cut(r.RequestURI, "?"); strings.HasPrefix(raw, "/") {
		path = raw
	}
	query := ""
	if r.URL.RawQuery != "" {
		query = "?" + r.URL.RawQuery
	}
	for _, scheme := range schemes {
		for _, host := range withAndWithoutPort(scheme, hostOf(r)) {
			for _, slash := range []string{"", "/"} {
				if hmac.Equal(given, s.sign(scheme+"://"+host+path+slash+query, form)) {
					return true
				}
			}
		}
	}
	return false
}

// sign returns HMAC-SHA1, with the auth token as its key, of the URL and the parameters of a POST in the
// order of their names, each followed by its value.
func (s *Server) sign(url string, form url.Values) []byte {
	h := hmac.New(sha1.New, []byte(s.AuthToken))
	h.Write([]byte(url))
	for _, name := range slices.Sorted(maps.Keys(form)) {
		values := slices.Compact(slices.Sorted(slices.Values(form[name])))
		for _, v := range values {
			h.Write([]byte(name + v))
		}
	}
	return h.Sum(nil)
}

// withAndWithoutPort returns a host as it is, and without its port or with the port of the scheme.
func withAndWithoutPort(scheme, host string) []string {
	port := "80"
	if scheme == "https" || scheme == "wss" {
		port = "443"
	}
	if _, given, err := net.SplitHostPort(host); err == nil {
		return []string{host, strings.TrimSuffix(host, ":"+given)}
	}
	return []string{host, host + ":" + port}
}
