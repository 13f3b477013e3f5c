package remote

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// maxAnswerBytes limits one answer on the wire. A reply of the default length has about 50 kB with
// its JSON around every token; a hundred times that is no reply any more.
const maxAnswerBytes = 8 << 20

var errAnswerSize = fmt.Errorf("the answer has more than %d bytes", maxAnswerBytes)

// dialTimeout limits connecting, and the TLS handshake after it. A server on the local network
// answers in milliseconds, one across the world in a second; half of FirstPiece leaves time to
// report the failure.
const dialTimeout = 5 * time.Second

// newClient returns the HTTP client for one server. It keeps connections, so that a turn does not
// begin with a handshake, and it contacts no other server: a redirect to another host would pass
// the conversation to that one.
func newClient(server *url.URL) *http.Client {
	return &http.Client{
		Transport: limitedTransport{&http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: dialTimeout,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 16,              // as many as a box has chats
			IdleConnTimeout:     5 * time.Minute, // longer than the pauses of a conversation
		}},
		CheckRedirect: sameServerOnly(server),
	}
}

var (
	errRedirectsElsewhere = errors.New("it redirects to")
	errRedirectsOn        = errors.New("it redirects without end")
)

// sameServerOnly follows redirects to the same server only.
func sameServerOnly(server *url.URL) func(to *http.Request, via []*http.Request) error {
	return func(to *http.Request, via []*http.Request) error {
		if to.URL.Host != server.Host || to.URL.Scheme != server.Scheme {
			return fmt.Errorf("%w %s://%s: set that address if it is meant", errRedirectsElsewhere, to.URL.Scheme,
				to.URL.Host)
		}
		if len(via) > 3 {
			return errRedirectsOn
		}
		return nil
	}
}

// limitedTransport ends answers with an error at maxAnswerBytes.
type limitedTransport struct{ http.RoundTripper }

func (l limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = &limitedBody{response.Body, maxAnswerBytes}
	}
	return response, err
}

func (l limitedTransport) CloseIdleConnections() {
	if t, ok := l.RoundTripper.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errAnswerSize
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// brokenConnection reports whether the other side went away.
func brokenConnection(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// dialFailed reports whether no connection could be made.
func dialFailed(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect")
}

// failedHandshake reports whether the other side exists but has no trusted certificate, or no TLS.
func failedHandshake(err error) bool {
	_, notTrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	return notTrusted || noTLS || alert || errors.Is(err, http.ErrSchemeMismatch)
}

// timedOut reports whether a limit of the transport was exceeded.
func timedOut(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}
