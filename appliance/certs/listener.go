package certs

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// handshakeLimit is how long a client may take for the TLS handshake: who needs longer
// holds a connection for nothing.
const handshakeLimit = 10 * time.Second

// secureListener accepts connections over TLS when their handshakes are done, of
// which many may be under way.
type secureListener struct {
	net.Listener
	config *tls.Config
	// http1 is given each connection over which HTTP/1.1 will be spoken.
	http1 func(net.Conn) net.Conn

	ready  chan net.Conn
	failed chan error // of the listener beneath; one
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
		_ = secure.Close() // what clients do wrong here is nothing the operator can mend
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
		s.failed <- err // for the next
		return nil, err
	case <-s.closing.Done():
		return nil, net.ErrClosed
	}
}

// Close ends what is under way, too.
func (s *secureListener) Close() error {
	err := s.Listener.Close()
	s.close()
	s.running.Wait()
	return err
}

// http1Conn is a connection over which HTTP/1.1 is spoken.
type http1Conn struct {
	net.Conn
	tls *tls.Conn
}

// NetConn is the connection under TLS, as a tls.Conn has it.
func (c http1Conn) NetConn() net.Conn { return c.tls.NetConn() }

// CloseWrite says that nothing more comes.
func (c http1Conn) CloseWrite() error { return c.tls.CloseWrite() }

type stateKey struct{}

// withConnTLS has the requests that come over it know of their TLS, as those do
// that come over a tls.Conn.
func withConnTLS(ctx context.Context, c net.Conn) context.Context {
	if over, ok := c.(http1Conn); ok {
		return context.WithValue(ctx, stateKey{}, over.tls.ConnectionState())
	}
	return ctx
}
