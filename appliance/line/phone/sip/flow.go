package sip

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"
)

const (
	// maxMessage bounds a message: what a UDP datagram carries. A call with every option and
	// a dozen proxies has less than 8 KiB.
	maxMessage = 64 << 10
	// writeTimeout is how long a peer over TCP or TLS may leave its buffer full.
	writeTimeout = 5 * time.Second
	// dialTimeout bounds connecting, with the TLS handshake.
	dialTimeout = 10 * time.Second
)

// A listener is one socket at which the endpoint listens.
type listener struct {
	transport string // UDP, TCP or TLS
	local     netip.AddrPort
	udp       *datagramSocket
	streams   net.Listener // nil for UDP
}

func (l *listener) String() string {
	return strings.ToLower(l.transport) + "://" + l.local.String()
}

func (l *listener) close() error {
	if l.udp != nil {
		return l.udp.Close()
	}
	return l.streams.Close()
}

// listen opens the socket of an address such as udp://0.0.0.0:5060.
func (e *Endpoint) listen(address string) (*listener, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("expected udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT")
	}
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = map[string]string{"tls": "5061"}[u.Scheme]
	}
	if port == "" {
		port = "5060"
	}
	// With 0.0.0.0 the peers of IPv6 are not meant, which Go would let in.
	family := ""
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		family = "4"
	}
	l := &listener{transport: strings.ToUpper(u.Scheme)}
	at := net.JoinHostPort(host, port)
	switch u.Scheme {
	case "udp":
		l.udp, err = openDatagrams("udp"+family, at)
	case "tcp":
		l.streams, err = net.Listen("tcp"+family, at)
	case "tls":
		if e.TLS == nil {
			return nil, errors.New("tls:// needs a certificate")
		}
		l.streams, err = tls.Listen("tcp"+family, at, e.TLS)
	default:
		return nil, fmt.Errorf("the transport is %q; expected udp, tcp or tls", u.Scheme)
	}
	if err != nil {
		return nil, err
	}
	if l.udp != nil {
		l.local = l.udp.local
	} else {
		l.local = addrPort(l.streams.Addr())
	}
	return l, nil
}

// addrPort returns an address of package net as a value, IPv4 addresses as such.
func addrPort(a net.Addr) netip.AddrPort {
	p, _ := netip.ParseAddrPort(a.String())
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}

// serve takes what comes in at a listener, until it is closed.
func (e *Endpoint) serve(l *listener) {
	if l.udp != nil {
		e.serveUDP(l)
		return
	}
	for {
		conn, err := l.streams.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of file descriptors: a live call needs none, and a later one may find one.
			pause(e.stopping, 100*time.Millisecond)
			continue
		}
		e.accept(l, conn)
	}
}

func (e *Endpoint) serveUDP(l *listener) {
	buffer := make([]byte, maxMessage)
	for {
		n, local, from, err := l.udp.read(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			pause(e.stopping, 10*time.Millisecond)
			continue
		}
		e.receive(&flow{transport: "UDP", local: local, remote: from, udp: l.udp}, buffer[:n])
	}
}

// A flow is a way to one peer (RFC 5626): over UDP the socket of a listener and the peer's
// address, otherwise one connection. Responses go back on the flow of their request. It
// implements sip.Connection.
type flow struct {
	transport string // UDP, TCP or TLS
	local     netip.AddrPort
	remote    netip.AddrPort
	udp       *datagramSocket
	stream    *stream
}

// flowTo returns a way to a peer: over UDP from the socket of a listener, so that address
// translators let the answers through; otherwise an open connection, or a new one.
// serverName is what the peer's certificate has to name.
func (e *Endpoint) flowTo(ctx context.Context, transport string, to netip.AddrPort, serverName string) (*flow, error) {
	transport = strings.ToUpper(transport)
	if transport != "UDP" {
		return e.connect(ctx, transport, to, serverName)
	}
	for _, l := range e.listeners {
		if l.udp != nil && reaches(l.local.Addr(), to.Addr()) {
			return &flow{transport: "UDP", local: l.local, remote: to, udp: l.udp}, nil
		}
	}
	return nil, fmt.Errorf("sip: no udp:// listener reaches %s", to)
}

// reaches reports whether a socket at from can send to an address.
func reaches(from, to netip.Addr) bool {
	switch {
	case from.Is6() && from.IsUnspecified():
		return true
	case from.Is4() != to.Is4():
		return false
	}
	return from.IsUnspecified() || from.IsLoopback() == to.IsLoopback()
}

// alive reports whether messages can still be sent.
func (f *flow) alive() bool { return f.stream == nil || f.stream.alive() }

// WriteMsg sends a message.
func (f *flow) WriteMsg(m sip.Message) error {
	text := m.String()
	if f.stream != nil {
		return f.stream.write([]byte(text))
	}
	return f.udp.write([]byte(text), f.local, f.remote)
}

// LocalAddr implements sip.Connection.
func (f *flow) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(f.local) }

// Ref, TryClose and Close implement sip.Connection. A flow lives as long as its socket, not
// as long as its transactions.
func (*flow) Ref(int) int            { return 1 }
func (*flow) TryClose() (int, error) { return 1, nil }
func (*flow) Close() error           { return nil }

// reply returns the flow for responses to a request with this topmost Via. Over UDP a
// response goes to the port that Via names (RFC 3261, section 18.2.2), unless the request
// asks for symmetric responses (RFC 3581) or came through a translator of addresses.
func (f *flow) reply(via *sip.ViaHeader) *flow {
	if f.stream != nil || via.Params.Has("rport") {
		return f
	}
	if at, err := netip.ParseAddr(via.Host); err != nil || at.Unmap() != f.remote.Addr() {
		return f
	}
	port := via.Port
	if port <= 0 || port > 65535 {
		port = sip.DefaultUdpPort
	}
	back := *f
	back.remote = netip.AddrPortFrom(f.remote.Addr(), uint16(port))
	return &back
}
