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

// Serve answers on l until the server is shut down. Where the box has a
// certificate, clients that come without TLS are told so, and http1 is given each
// connection over which HTTP/1.1 will be spoken within TLS.
func (id *Identity) Serve(front *http.Server, l net.Listener, http1 func(net.Conn) net.Conn) error {
	if id.config == nil {
		return front.Serve(l)
	}
	plain := &plainListener{conns: make(chan net.Conn, 16), closed: make(chan struct{}), addr: l.Addr()}
	guide := id.plainServer()
	guided := make(chan struct{})
	go func() {
		defer close(guided)
		_ = guide.Serve(plain) // returns when it is closed below
	}()
	front.TLSConfig = id.config.Clone()
	for _, protocol := range []string{"h2", "http/1.1"} {
		if !slices.Contains(front.TLSConfig.NextProtos, protocol) {
			front.TLSConfig.NextProtos = append(front.TLSConfig.NextProtos, protocol)
		}
	}
	front.ConnContext = withConnTLS
	front.Handler = withRequestTLS(front.Handler)
	secure := newSecureListener(sniffingListener{l, plain}, front.TLSConfig, http1)
	err := front.Serve(secure)
	_ = secure.Close()
	_ = guide.Close()
	<-guided
	return err
}

// withRequestTLS tells requests of the TLS that they came over, where the server cannot.
func withRequestTLS(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if state, ok := r.Context().Value(stateKey{}).(tls.ConnectionState); ok {
			r.TLS = &state
		}
		h.ServeHTTP(w, r)
	})
}

// sniffingListener is a listener whose connections look at their first byte: those that
// do not speak TLS are handed to the plain listener.
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

// sniffedConn is a connection under TLS whose first byte has yet to say that it is.
type sniffedConn struct {
	net.Conn
	plain      *plainListener
	checked    bool        // used by the one goroutine that shakes hands
	handedOver atomic.Bool // over to the plain listener: it is its to close
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

// Close leaves alone what was handed over.
func (c *sniffedConn) Close() error {
	if c.handedOver.Load() {
		return nil
	}
	return c.Conn.Close()
}

// SetWriteBuffer reaches through to the TCP connection.
func (c *sniffedConn) SetWriteBuffer(bytes int) error {
	if b, ok := c.Conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		return b.SetWriteBuffer(bytes)
	}
	return errors.ErrUnsupported
}

// replayedConn is a connection of which something was read already.
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

// plainListener gives the connections that do not speak TLS to their server.
type plainListener struct {
	conns  chan net.Conn
	done   atomic.Bool
	closed chan struct{}
	addr   net.Addr
}

// take returns false where there is no room for one more.
func (s *plainListener) take(c net.Conn) bool {
	select {
	case s.conns <- c:
		if s.done.Load() {
			_ = s.Close() // nobody will accept it
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

// Close also closes those that nobody has looked at yet.
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

// plainServer is the server for those who came without TLS: each connection brings
// one small request, for which ten seconds are plenty.
func (id *Identity) plainServer() *http.Server {
	s := &http.Server{
		Handler:           http.HandlerFunc(id.answerPlain),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		MaxHeaderBytes:    64 << 10,
		// What clients do wrong below HTTP is nothing the operator can mend.
		ErrorLog:                     slog.NewLogLogger(id.log.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true,
	}
	s.SetKeepAlivesEnabled(false)
	return s
}

// answerPlain answers clients that came without TLS. Browsers are redirected to
// https. Programs get an error: one that is redirected silently would go on
// sending its key in the clear. The authority that they have to trust is served
// here too.
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
		why += "; the box's certificate is signed by an authority of its own, which clients have to trust: GET /ca.crt"
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"code": "tls_required",
		"error": http.StatusText(http.StatusBadRequest), "message": why})
}
