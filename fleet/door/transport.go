package door

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"parley/fleet"
)

const (
	// dialLimit and handshakeLimit bound the connection to a box: a box in the next room answers in a millisecond, one
	// on the other side of the world in half a second. A lost packet costs a second.
	dialLimit      = 3 * time.Second
	handshakeLimit = 5 * time.Second
	// idleLimit is shorter than the 90 s after which boxes close idle connections, so that no request meets the close.
	idleLimit = 60 * time.Second
	// idleConnections is how many idle connections to one box stay open.
	idleConnections = 8
	// receiveBuffer is the system's buffer for what a box sends, in bytes: half a second of speech as the socket sends
	// it. By default it grows to megabytes, and a box cannot take back sound that lies there when the user interrupts.
	receiveBuffer = 32 << 10
)

// transport is the way to one box.
type transport struct {
	*http.Transport
	base      *url.URL
	address   string // of the State that it was made from
	authority string
}

// transport returns the way to a box, made anew when the box's address or authority has changed.
func (d *Door) transport(box string) (*transport, error) {
	all := d.fleet.Boxes()
	at := slices.IndexFunc(all, func(b Box) bool { return b.Name == box })
	if at < 0 {
		return nil, fmt.Errorf("the hub has no box %q", box)
	}
	state := all[at].State
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.transports[box]
	if t != nil && t.address == state.Address && t.authority == state.Authority {
		return t, nil
	}
	if t != nil {
		t.CloseIdleConnections()
	}
	t, err := newTransport(state)
	if err != nil {
		return nil, fmt.Errorf("box %s: %w", box, err)
	}
	d.transports[box] = t
	return t, nil
}

func newTransport(state fleet.State) (*transport, error) {
	base, err := url.Parse(state.Address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("its address is %.80q; allowed: http://HOST:PORT and https://HOST:PORT", state.Address)
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if state.Authority != "" {
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM([]byte(state.Authority)) {
			return nil, fmt.Errorf("the authority that it reported is no certificate in PEM")
		}
	}
	dialer := net.Dialer{Timeout: dialLimit}
	return &transport{
		base:      base,
		address:   state.Address,
		authority: state.Authority,
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := dialer.DialContext(ctx, network, address)
				if tcp, ok := c.(*net.TCPConn); ok {
					_ = tcp.SetReadBuffer(receiveBuffer) // errors do not matter
				}
				return c, err
			},
			TLSClientConfig:     secure,
			TLSHandshakeTimeout: handshakeLimit,
			TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1: sockets need it
			MaxIdleConnsPerHost: idleConnections,
			IdleConnTimeout:     idleLimit,
			DisableCompression:  true, // answers pass as they are
		},
	}, nil
}
