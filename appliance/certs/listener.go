package certs

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// handshakeLimit is how long a client may take for the TLS handshake.
const handshakeLimit = 10 * time.Second

// secureListener accepts TLS connections after their handshake. Many handshakes run in
// parallel.
type secureListener struct {
	net.Listener
	config *tls.Config
	// http1 wraps each connection that speaks HTTP/1.1.
	http1 func(net.Conn) net.Conn

	ready  chan net.Conn
	failed chan error // the error of Listener; holds one
	// closing ends the handshakes.
	closing context.Context
	close   context.CancelFunc
	running sync.WaitGroup
}

func newSecureListener(l net.Listener, config *tls.Config, http1 func(net.Conn) net.Conn) *secureListener {
	s := &secureListener{
		Listener: l,
		config:   config,
		http1:    http1,
		ready:    make(chan net.Conn),
		failed:   make(chan error, 1),
	}
	s.closing, s.close = context.WithCancel(context.Background())
	s.running.Go(s.run)
	return s
}

func (s *secureListener) run() {
	for {
		c, err := s.Listener.Accept()
		if err != nil {
			s.failed <- err
			return
		}
		s.running.Go(func() { s.handshake(c) })
	}
}

// handshake does the handshake of one connection.
func (s *secureListener) handshake(c net.Conn) {
	ctx, cancel := context.WithTimeout(s.closing, handshakeLimit)
	defer cancel()
	secure := tls.Server(c, s.config)
	if secure.HandshakeContext(ctx) != nil {
		_ = secure.Close() // the operator can do nothing about clients' mistakes
		return
	}
	var ready net.Conn = secure
	if p := secure.ConnectionState().NegotiatedProtocol; p == "" || p == "http/1.1" {
		ready = http1Conn{s.http1(secure), secure}
	}
	select {
	case s.ready <- ready:
	case <-s.closing.Done():
		_ = secure.Close()
	}
}

// Accept returns the next connection whose handshake is done.
func (s *secureListener) Accept() (net.Conn, error) {
	select {
	case c := <-s.ready:
		return c, nil
	case err := <-s.failed:
		s.failed <- err // for the next call
		return nil, err
	case <-s.closing.Done():
		return nil, net.ErrClosed
	}
}

// Close also ends the handshakes that are under way.
func (s *secureListener) Close() error {
	err := s.Listener.Close()
	s.close()
	s.running.Wait()
	return err
}

// http1Conn is a TLS connection that speaks HTTP/1.1.
type http1Conn struct {
	net.Conn
	tls *tls.Conn
}

// NetConn returns the connection below TLS, as that of a tls.Conn does.
func (c http1Conn) NetConn() net.Conn { return c.tls.NetConn() }

// CloseWrite ends the sending direction.
func (c http1Conn) CloseWrite() error { return c.tls.CloseWrite() }

type stateKey struct{}

// withConnTLS stores the TLS state of an http1Conn in the context of its requests, since
// the HTTP server only knows that of a tls.Conn.
func withConnTLS(ctx context.Context, c net.Conn) context.Context {
	if over, ok := c.(http1Conn); ok {
		return context.WithValue(ctx, stateKey{}, over.tls.ConnectionState())
	}
	return ctx
}
