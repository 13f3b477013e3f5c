package api

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"parley/appliance/contract"
	"parley/internal/limit"
)

// openLimiter limits what is open at once, connections or requests, by address.
type openLimiter struct{ *limit.Limiter[netip.Prefix] }

func newOpenLimiter(l Limits) openLimiter {
	rule := limit.Rule{MaxActive: l.Connections, MaxPerKey: l.ConnectionsPerAddress}
	return openLimiter{limit.New[netip.Prefix](rule)}
}

// reservedForLocal of all places are for clients on the machine itself, so that
// its operator and its health checks get in when others hold the rest.
const reservedForLocal = 16

// openRetry is the Retry-After at the limit: idle connections are closed within a
// minute and a half, most others within seconds.
const openRetry = 5 * time.Second

// enter admits one more from an address; leave must be called once it is closed.
// The error is a contract.ErrTooMany for an address at its limit, and a
// contract.ErrFull at the limit of the box.
func (p openLimiter) enter(from netip.Prefix) (leave func(), err error) {
	atOnce, ofOne := p.MaxActive, 0
	if !from.Addr().IsLoopback() {
		atOnce, ofOne = p.MaxActive-min(reservedForLocal, p.MaxActive/2), p.MaxPerKey
	}
	leave, err = p.TryAcquireWithin(from, atOnce, ofOne)
	switch err {
	case limit.ErrPerKey:
		return nil, contract.ErrTooMany{What: "too many connections or requests at once from this address",
			RetryAfter: openRetry}
	case limit.ErrFull:
		return nil, contract.ErrFull{What: "too many connections or requests at once", RetryAfter: openRetry}
	}
	return leave, err
}

// sendBuffer is how much of an answer the operating system buffers for a client,
// in bytes. The default is megabytes, which for a thousand clients that read
// nothing would be gigabytes. A writer also learns of progress only when a third
// of the buffer is free, so with a large one a slow client would look stalled. It
// still allows 6 MB a second at a round-trip time of 10 ms.
const sendBuffer = 64 << 10

// Listen returns l with a limit on the connections that are open at once.
// Connections above it are closed when they are accepted, before a TLS handshake.
func Listen(l net.Listener, limits Limits, log *slog.Logger) net.Listener {
	return &listener{Listener: l, limiter: newOpenLimiter(limits), log: log}
}

type listener struct {
	net.Listener
	limiter  openLimiter
	log      *slog.Logger
	warnedAt time.Time // used by the accepting goroutine only
}

// warnEvery is how often the log reports rejected connections.
const warnEvery = time.Minute

// Accept returns the next connection within the limit.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		leave, err := l.limiter.enter(networkOf(conn.RemoteAddr().String()))
		if err == nil {
			if b, ok := conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
				_ = b.SetWriteBuffer(sendBuffer) // best effort: without it a client may be slower
			}
			return &limitedConn{errorRewriter: errorRewriter{conn, l.log}, release: leave}, nil
		}
		if now := time.Now(); now.Sub(l.warnedAt) > warnEvery {
			l.warnedAt = now
			l.log.Warn("connection refused; further ones are not logged for a minute", "client", conn.RemoteAddr(),
				"why", err.Error())
		}
		_ = conn.Close()
	}
}

// limitedConn is a connection that counts against the limit.
type limitedConn struct {
	errorRewriter
	release func()
}

// Close closes the connection and gives its place back.
func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// SetWriteBuffer sets the write buffer of the TCP connection.
func (c *limitedConn) SetWriteBuffer(bytes int) error {
	if b, ok := c.Conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		return b.SetWriteBuffer(bytes)
	}
	return errors.ErrUnsupported
}
