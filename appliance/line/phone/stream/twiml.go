package stream

import (
	"encoding/xml"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// busyTwiML makes the provider reject the call, so that the caller hears the busy tone.
const busyTwiML = xml.Header + `<Response><Reject reason="busy"/></Response>`

// tokenParameter is the name under which the token comes back in the start message.
const tokenParameter = "token"

// connectTwiML returns the TwiML that connects a call with a socket.
func connectTwiML(socket, token string) string {
	return xml.Header + `<Response><Connect><Stream url="` + escaped(socket) + `"><Parameter name="` +
		tokenParameter + `" value="` + escaped(token) + `"/></Stream></Connect></Response>`
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}

func writeTwiML(w http.ResponseWriter, text string) error {
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("Cache-Control", "no-store")
	_, err := w.Write([]byte(text))
	return err
}

// socketURL returns the address of the socket, at the host that the request came to. It is wss, as providers
// require, except for a client on the box itself that uses no TLS. A proxy that terminates TLS need not say
// so, because it forwards the host that the client named.
func socketURL(r *http.Request) string {
	u := url.URL{Scheme: "wss", Host: hostOf(r), Path: SocketPath}
	if !isSecure(r) && isLoopback(u.Hostname()) {
		u.Scheme = "ws"
	}
	return u.String()
}

// hostOf returns the host and port that a request came to.
func hostOf(r *http.Request) string {
	if here, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && r.Host == "" { // HTTP/1.0 names none
		return here.String()
	}
	return r.Host
}

// isSecure reports whether a client used TLS, to the box or to a proxy before it.
func isSecure(r *http.Request) bool {
	proto, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",") // with several proxies it is a list
	return r.TLS != nil || strings.EqualFold(strings.TrimSpace(proto), "https")
}

func isLoopback(host string) bool {
	at, err := netip.ParseAddr(host)
	return err == nil && at.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}
