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

// slots lets in what is open at once, connections or requests, by address.
type openLimiter struct{ *limit.Limiter[netip.Prefix] }

func newOpenLimiter(l Limits) openLimiter {
	return openLimiter{limit.New[netip.Prefix](limit.Rule{MaxActive: l.Connections, MaxPerKey: l.ConnectionsPerAddress})}
}

// reservedForLocal of all are for clients on the machine itself, so that its
// operator and its health checks get in when strangers hold the rest.
const reservedForLocal = 16

// openRetry is when it is worth to try again: connections that do nothing are
// closed within a minute and a half, most others within seconds.
const openRetry = 5 * time.Second

// enter takes a slot, which leave gives back. The error is a
// contract.ErrTooMany for an address that holds all it may, and a
// contract.ErrFull where there is no slot left.
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

// sendBuffer is how much of an answer the operating system holds for a client,
// in bytes. Left to itself it is megabytes: of a thousand clients that read
// nothing that would be gigabytes. And since a writer hears of progress when a
// third of it is free, a slow client that moves would look like one that does
// not. It is still 6 MB a second at 10 ms to the client and back.
const sendBuffer = 64 << 10

// Listen returns l with a limit on how many connections are open at once. Those
// above it are closed as soon as they are made, before a TLS handshake or
// anything else is spent on them.
func Listen(l net.Listener, limits Limits, log *slog.Logger) net.Listener {
	return &listener{Listener: l, limiter: newOpenLimiter(limits), log: log}
}

type listener struct {
	net.Listener
	limiter  openLimiter
	log      *slog.Logger
	warnedAt time.Time // of the goroutine that accepts
}

// warnEvery is how often the log says that connections are refused.
const warnEvery = time.Minute

// Accept returns the next connection that has a slot.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		leave, err := l.limiter.enter(networkOf(conn.RemoteAddr().String()))
		if err == nil {
			if b, ok := conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
				_ = b.SetWriteBuffer(sendBuffer) // a wish; without it a client may be slower
			}
			return &limitedConn{errorRewriter: errorRewriter{conn, l.log}, release: leave}, nil
		}
		if now := time.Now(); now.Sub(l.warnedAt) > warnEvery {
			l.warnedAt = now
			l.log.Warn("connections are refused; more of them are not told for a minute", "client", conn.RemoteAddr(),
				"why", err.Error())
		}
		_ = conn.Close()
	}
}

// limitedConn is a connection that has a slot.
type limitedConn struct {
	errorRewriter
	release func()
}

// Close gives the slot back, once.
func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// SetWriteBuffer reaches through to the TCP connection.
func (c *limitedConn) SetWriteBuffer(bytes int) error {
	if b, ok := c.Conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		return b.SetWriteBuffer(bytes)
	}
	return errors.ErrUnsupported
}
