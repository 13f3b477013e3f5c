package source

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"

	"parley/internal/addresses"
	"parley/internal/machine"
)

const (
	// connectTime bounds connecting, and then the TLS handshake: two lost packets, and slow
	// servers far away.
	connectTime = 10 * time.Second
	// maxHops bounds redirects: download links take one to three.
	maxHops = 5
	// maxURL bounds a URL. Signed links have up to 2 KiB.
	maxURL = 8 << 10
	// maxRemoteText bounds what a server's own words take in an error.
	maxRemoteText = 100
)

// Limits bound one fetch.
type Limits struct {
	Bytes int64         // of the body
	Time  time.Duration // from the DNS lookup to the last byte
	Stall time.Duration // without a byte, and until the headers arrive
}

// DefaultLimits allow an hour of video in good quality (2 Mbit/s: 900 MB) over a line of
// 10 Mbit/s. A server that sends nothing for half a minute will not go on.
func DefaultLimits() Limits {
	return Limits{Bytes: 1 << 30, Time: 15 * time.Minute, Stall: 30 * time.Second}
}

// Fetcher fetches files over http and https.
type Fetcher struct {
	Allowed addresses.Allowed // what may be called besides public addresses
	Agent   string            // the User-Agent

	resolver *net.Resolver // nil for the system's
}

// Fetch writes the body of a GET to a new file at path and returns the name of the file
// as the URL or the server gives it. Its faults name the host, never an address that the
// URL does not contain, nor the path of the URL, which may be secret.
func (f Fetcher) Fetch(ctx context.Context, text, path string, l Limits) (name string, err error) {
	u, err := parseURL(text)
	if err != nil {
		return "", err
	}
	ctx, stall := context.WithCancelCause(ctx)
	defer stall(nil)
	late := fault("%s did not send the whole file within %v", u.Hostname(), l.Time)
	ctx, cancel := context.WithTimeoutCause(ctx, l.Time, late)
	defer cancel()
	timer := time.AfterFunc(l.Stall, func() { stall(fault("%s sent nothing for %v", u.Hostname(), l.Stall)) })
	defer timer.Stop()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", fault("the URL is not valid")
	}
	request.Header.Set("User-Agent", f.Agent)
	response, err := f.client(func() { timer.Reset(l.Stall) }).Do(request)
	if err != nil {
		return "", fetchError(ctx, u.Hostname(), err)
	}
	defer response.Body.Close()
	host := response.Request.URL.Hostname()
	if response.StatusCode/100 != 2 {
		return "", fault("%s answered %d %s", host, response.StatusCode, http.StatusText(response.StatusCode))
	}
	tooLong := fault("%s sends more than the %s that a URL may have", host, size(l.Bytes))
	if response.ContentLength > l.Bytes {
		return "", tooLong
	}
	if err := checkSpace(path, max(response.ContentLength, 0)); err != nil {
		return "", err
	}
	body := reader(func(b []byte) (int, error) {
		timer.Reset(l.Stall)
		n, err := response.Body.Read(b)
		if err != nil && err != io.EOF {
			err = fetchError(ctx, host, err)
		}
		return n, err
	})
	if _, err := save(ctx, path, body, l.Bytes, tooLong); err != nil {
		return "", err
	}
	return responseName(text, response.Header.Get("Content-Disposition")), nil
}

// reader is an io.Reader that is a function.
type reader func([]byte) (int, error)

func (r reader) Read(b []byte) (int, error) { return r(b) }

// client returns a client for one fetch. It calls next before each redirect.
func (f Fetcher) client(next func()) *http.Client {
	return &http.Client{
		// No proxy: it would connect to addresses that dial does not check.
		Transport: &http.Transport{
			DialContext:            f.dial,
			TLSHandshakeTimeout:    connectTime,
			MaxResponseHeaderBytes: 64 << 10,
			DisableKeepAlives:      true,
			// A compressed response would make Content-Length and the limit meaningless.
			DisableCompression: true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			next()
			if len(via) > maxHops {
				return fault("%s redirects more than %d times", via[0].URL.Hostname(), maxHops)
			}
			return check(r.URL)
		},
	}
}

// dial connects to address, HOST:PORT, if what it resolves to is allowed. It checks the
// address of the connection itself, before the first packet, so that a name that resolves
// differently the second time gains nothing.
func (f Fetcher) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	table := addresses.NewTable(machine.Addresses)
	dialer := net.Dialer{Timeout: connectTime, Resolver: f.resolver}
	dialer.ControlContext = func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
		to, err := table.Destination(resolved)
		switch {
		case err != nil:
			return fault("%s has no usable address", host)
		case to.Kind == addresses.Public || f.Allowed.Allows(host, to):
			return nil
		case to.Kind == addresses.Special:
			return fault("%s is at an address that the box never calls", host)
		}
		return fault("%s is in the box's own network, where only the operator of the box can allow it", host)
	}
	return dialer.DialContext(ctx, network, address)
}

// parseURL parses and checks the URL of a client.
func parseURL(text string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, fault("the URL has %d bytes; at most %d are allowed", len(text), maxURL)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fault("the URL is not valid") // the reason contains the URL, with its password
	}
	return u, check(u)
}

// check returns a fault for a URL that is not fetched.
func check(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fault("the URL begins with %.20q; http:// and https:// are allowed", u.Scheme+":")
	case u.Hostname() == "":
		return fault("the URL names no host")
	case u.User != nil:
		return fault("the URL of %s contains a user name or a password; use a link that works without", u.Hostname())
	}
	return nil
}

// fetchError describes why host cannot be read: the cause of ctx if it has ended, and
// otherwise a fault without the addresses that errors of the network contain.
func fetchError(ctx context.Context, host string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return fault("%s cannot be found: the name has no address", host)
		}
		return fault("%s cannot be found: the name service does not answer", host)
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fault("%s has no valid certificate: %.*s", host, maxRemoteText, e.Err)
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return fault("%s cannot be reached: %s", host, number)
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() || errors.Is(err, os.ErrDeadlineExceeded) {
		return fault("%s cannot be reached within %v", host, connectTime)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault("%s closed the connection before the end", host)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err
	}
	return fault("%s cannot be read: %.*s", host, maxRemoteText, err)
}

// size returns a number of bytes for people, such as "1 GiB".
func size(n int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.bytes {
			return fmt.Sprintf("%.4g %s", float64(n)/float64(unit.bytes), unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
