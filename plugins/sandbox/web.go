package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"parley/internal/addresses"
	"parley/internal/machine"
	"parley/plugins/manifest"
)

const (
	// connectTime bounds the connecting: two lost packets.
	connectTime = 5 * time.Second
	// maxResponse bounds a response, uncompressed. A module of 64 MiB could not parse more.
	maxResponse = 4 << 20
	// maxRequestHead bounds URL and headers of a request. Servers accept 8 to 64 KiB, and a
	// list of a million headers would take 100 MB to parse.
	maxRequestHead = 64 << 10
	// maxRequests bounds the requests of one call: a plugin is no crawler, and must not
	// flood a server.
	maxRequests = 32
	// maxHops bounds redirects.
	maxHops = 5
	// idleTime is how long a connection is kept: turns of a conversation are seconds apart.
	idleTime = 30 * time.Second
)

// request is an HTTP request as modules write it, also those of Extism.
type request struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	body    []byte
}

// response is the response to a request.
type response struct {
	status  int
	headers map[string]string // by lower-case name
	body    []byte
}

// web is a module's access to the network: to the granted hosts, at the moment of
// connecting.
type web struct {
	granted []manifest.HTTP
	client  *http.Client
	table   addresses.Table
}

func newWeb(granted []manifest.HTTP, resolver *net.Resolver) *web {
	w := &web{granted: granted, table: addresses.NewTable(machine.Addresses)}
	dialer := net.Dialer{Timeout: connectTime, Resolver: resolver, ControlContext: w.control}
	w.client = &http.Client{
		// No proxy: it would connect to addresses that control does not check.
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    connectTime,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           8,
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        idleTime,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: w.redirect,
	}
	return w
}

// same reports whether the permissions have not changed.
func (w *web) same(granted []manifest.HTTP) bool {
	return slices.EqualFunc(w.granted, granted, func(a, b manifest.HTTP) bool {
		return a.Host == b.Host && slices.Equal(a.Methods, b.Methods)
	})
}

func (w *web) close() { w.client.CloseIdleConnections() }

// allows returns an error for a request that was not granted. The module can read it.
func (w *web) allows(method string, u *url.URL) error {
	port := u.Port()
	switch u.Scheme {
	case "https":
		port = or(port, "443")
	case "http":
		port = or(port, "80")
	default:
		return fault(Refused, "unknown scheme (%.20q): http and https are allowed", u.Scheme)
	}
	host, usual := strings.ToLower(u.Hostname()),
		port == "443" && u.Scheme == "https" || port == "80" && u.Scheme == "http"
	named := false
	for _, g := range w.granted {
		name, p := manifest.SplitHost(g.Host)
		if !matches(name, host) || p != port && !(p == "" && usual) {
			continue
		}
		named = true
		if slices.Contains(g.Methods, method) {
			return nil
		}
	}
	if named {
		return fault(Refused, "%s was not granted for %s", method, host)
	}
	return fault(Refused, "%s on port %s was not granted", host, port)
}

// matches reports whether host is the name of a permission, or below its wildcard.
func matches(name, host string) bool {
	if below, ok := strings.CutPrefix(name, "*"); ok {
		_, err := netip.ParseAddr(host)
		return err != nil && strings.HasSuffix(host, below) && len(host) > len(below)
	}
	return name == host
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// control refuses a connection before its first packet, by the address that the name has
// resolved to for this connection.
func (w *web) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := w.table.Destination(address)
	if err != nil {
		return fault(Refused, "%v", err)
	}
	if to.Kind == addresses.Public || w.byAddress(to) {
		return nil
	}
	const why = "%s is no public address; plugins reach such only where permissions.http names the address itself"
	return fault(Refused, why, to.IP)
}

// byAddress reports whether an address was granted as an address.
func (w *web) byAddress(to addresses.Destination) bool {
	return slices.ContainsFunc(w.granted, func(g manifest.HTTP) bool {
		name, p := manifest.SplitHost(g.Host)
		a, err := netip.ParseAddr(name)
		return err == nil && w.table.Effective(a) == to.IP &&
			(p == strconv.Itoa(int(to.Port)) || p == "" && (to.Port == 80 || to.Port == 443))
	})
}

// redirect checks each redirect as a request of its own.
func (w *web) redirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxHops {
		return fault(Failed, "redirected more than %d times", maxHops)
	}
	if from := via[len(via)-1].URL; from.Scheme == "https" && r.URL.Scheme != "https" {
		return fault(Refused, "redirected from https to http, which is not followed")
	}
	return w.allows(r.Method, r.URL)
}

// do makes a request. Its errors are Faults, which contain no address that the module did
// not name.
func (w *web) do(ctx context.Context, client *http.Client, q request) (response, error) {
	method := or(strings.ToUpper(q.Method), http.MethodGet)
	u, err := url.Parse(q.URL)
	if err != nil {
		return response{}, fault(Failed, "not a URL: %.200q", q.URL)
	}
	if err := w.allows(method, u); err != nil {
		return response{}, err
	}
	r, err := http.NewRequestWithContext(ctx, method, q.URL, bytes.NewReader(q.body))
	if err != nil {
		return response{}, fault(Failed, "not a request: %v", err)
	}
	for name, value := range q.Headers {
		if !isConnectionHeader(name) {
			r.Header.Set(name, value)
		}
	}
	answer, err := client.Do(r)
	if err != nil {
		return response{}, requestFault(ctx, u, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxResponse+1))
	switch {
	case err != nil:
		return response{}, requestFault(ctx, u, err)
	case len(body) > maxResponse:
		return response{}, fault(Failed, "%s answered with more than %d bytes", u.Hostname(), maxResponse)
	}
	headers := map[string]string{}
	for name, values := range answer.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	return response{answer.StatusCode, headers, body}, nil
}

// isConnectionHeader reports whether a header controls the connection, which modules may
// not.
func isConnectionHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Connection", "Upgrade", "Transfer-Encoding", "Content-Length", "Te", "Trailer", "Keep-Alive",
		"Proxy-Connection", "Proxy-Authorization", "Host", "Accept-Encoding":
		return true
	}
	return false
}

// requestFault returns the fault for a failed request, without the parts of the URL after
// the host: they may contain secrets.
func requestFault(ctx context.Context, u *url.URL, err error) error {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	if ctx.Err() != nil {
		return fault(Failed, "%s did not answer in time", u.Hostname())
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return fault(Failed, "%s cannot be found: %s", u.Hostname(), e.Err)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fault(Failed, "%s: %v", u.Hostname(), err)
}

// webFor returns the web for the permissions.
func (m *Module) webFor(granted []manifest.HTTP) *web {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.web == nil || !m.web.same(granted) {
		if m.web != nil {
			m.web.close()
		}
		m.web = newWeb(slices.Clone(granted), m.host.resolver)
	}
	return m.web
}

// fetch makes a request that a module wrote as JSON.
func (r *callContext) fetch(text, body []byte) (response, error) {
	if len(r.call.Granted.HTTP) == 0 {
		return response{}, fault(Refused, "the network was not granted")
	}
	if r.requests++; r.requests > maxRequests {
		return response{}, fault(Refused, "more than %d requests in one call", maxRequests)
	}
	if len(text) > maxRequestHead {
		return response{}, fault(Failed, "the request without its body has %d bytes; at most %d are allowed",
			len(text), maxRequestHead)
	}
	if len(body) > maxResponse {
		return response{}, fault(Failed, "the body has %d bytes; at most %d are allowed", len(body), maxResponse)
	}
	var q request
	if err := json.Unmarshal(text, &q); err != nil {
		return response{}, fault(Failed,
			`the request is not JSON like {"method":"GET","url":"https://…","headers":{}}: %v`, err)
	}
	q.body = bytes.Clone(body)
	w := r.instance.module.webFor(r.call.Granted.HTTP)
	client := w.client
	if r.call.Transport != nil {
		client = &http.Client{Transport: r.call.Transport, CheckRedirect: w.redirect}
	}
	return w.do(r, client, q)
}
