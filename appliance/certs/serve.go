package certs

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Serve serves l until the server is shut down. If the box has a certificate, Serve tells
// clients without TLS to use it, and passes each TLS connection with HTTP/1.1 through
// http1.
func (id *Identity) Serve(server *http.Server, l net.Listener, http1 func(net.Conn) net.Conn) error {
	if id.config == nil {
		return server.Serve(l)
	}
	plain := &plainListener{conns: make(chan net.Conn, 16), closed: make(chan struct{}), addr: l.Addr()}
	plainServer := id.plainServer()
	plainDone := make(chan struct{})
	go func() {
		defer close(plainDone)
		_ = plainServer.Serve(plain) // returns when it is closed below
	}()
	server.TLSConfig = id.config.Clone()
	for _, protocol := range []string{"h2", "http/1.1"} {
		if !slices.Contains(server.TLSConfig.NextProtos, protocol) {
			server.TLSConfig.NextProtos = append(server.TLSConfig.NextProtos, protocol)
		}
	}
	server.ConnContext = withConnTLS
	server.Handler = withRequestTLS(server.Handler)
	secure := newSecureListener(sniffingListener{l, plain}, server.TLSConfig, http1)
	err := server.Serve(secure)
	_ = secure.Close()
	_ = plainServer.Close()
	<-plainDone
	return err
}

// withRequestTLS sets the TLS state of requests whose server does not see the TLS
// connection.
func withRequestTLS(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if state, ok := r.Context().Value(stateKey{}).(tls.ConnectionState); ok {
			r.TLS = &state
		}
		h.ServeHTTP(w, r)
	})
}

// sniffingListener accepts connections that look at their first byte. Those that do not
// speak TLS go to the plain listener.
type sniffingListener struct {
	net.Listener
	plain *plainListener
}

func (s sniffingListener) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &sniffedConn{Conn: c, plain: s.plain}, nil
}

// sniffedConn is a connection below TLS. Its first Read checks whether the client speaks
// TLS.
type sniffedConn struct {
	net.Conn
	plain      *plainListener
	checked    bool        // the first byte; only the goroutine of the handshake uses it
	handedOver atomic.Bool // to the plain listener, which then closes it
}

// handshakeByte is the first byte of every TLS connection (RFC 8446, section 5.1).
const handshakeByte = 0x16

var errPlain = errors.New("the client does not speak TLS")

func (c *sniffedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.checked || n == 0 {
		return n, err
	}
	c.checked = true
	if p[0] == handshakeByte {
		return n, err
	}
	if c.plain.take(&replayedConn{c.Conn, append([]byte(nil), p[:n]...)}) {
		c.handedOver.Store(true)
	}
	return 0, errPlain
}

// Close leaves a connection open that was handed to the plain listener.
func (c *sniffedConn) Close() error {
	if c.handedOver.Load() {
		return nil
	}
	return c.Conn.Close()
}

// SetWriteBuffer sets the buffer of the TCP connection.
func (c *sniffedConn) SetWriteBuffer(bytes int) error {
	if b, ok := c.Conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		return b.SetWriteBuffer(bytes)
	}
	return errors.ErrUnsupported
}

// replayedConn is a connection whose first bytes were read before; Read returns them again.
type replayedConn struct {
	net.Conn
	first []byte
}

func (c *replayedConn) Read(p []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// plainListener passes the connections without TLS to their server.
type plainListener struct {
	conns  chan net.Conn
	done   atomic.Bool
	closed chan struct{}
	addr   net.Addr
}

// take returns false if the queue is full.
func (s *plainListener) take(c net.Conn) bool {
	select {
	case s.conns <- c:
		if s.done.Load() {
			_ = s.Close() // Accept will not be called again
		}
		return true
	default:
		return false
	}
}

func (s *plainListener) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

// Close also closes the connections in the queue.
func (s *plainListener) Close() error {
	if s.done.CompareAndSwap(false, true) {
		close(s.closed)
	}
	for {
		select {
		case c := <-s.conns:
			_ = c.Close()
		default:
			return nil
		}
	}
}

func (s *plainListener) Addr() net.Addr { return s.addr }

// plainServer returns the server for clients without TLS. Each connection has one small
// request, for which ten seconds are plenty.
func (id *Identity) plainServer() *http.Server {
	s := &http.Server{
		Handler:           http.HandlerFunc(id.answerPlain),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		MaxHeaderBytes:    64 << 10,
		// The operator can do nothing about the protocol errors of clients.
		ErrorLog:                     slog.NewLogLogger(id.log.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true,
	}
	s.SetKeepAlivesEnabled(false)
	return s
}

// answerPlain answers a client without TLS. It redirects browsers to https. Programs get an
// error: if they were redirected silently, they would go on sending their key unencrypted.
// The certificate of the authority, which clients must trust, is served here too.
func (id *Identity) answerPlain(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Request-Id", uuid.Must(uuid.NewV7()).String())
	h.Set("X-Content-Type-Options", "nosniff")
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	ca := id.Authority()
	switch {
	case reading && r.URL.Path == "/ca.crt" && ca != nil:
		h.Set("Content-Type", "application/x-x509-ca-cert")
		_, _ = w.Write(ca)
		return
	case reading && r.Host != "" && strings.Contains(r.Header.Get("Accept"), "text/html"):
		http.Redirect(w, r, "https://"+r.Host+r.URL.RequestURI(), http.StatusTemporaryRedirect)
		return
	}
	why := "this port speaks TLS only: use https:// and wss:// instead of http:// and ws://; a key that was sent " +
		"just now could be read on the way"
	if ca != nil {
		why += "; the box's certificate is signed by the box's authority, which clients have to trust: GET /ca.crt"
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"code": "tls_required",
		"error": http.StatusText(http.StatusBadRequest), "message": why})
}
