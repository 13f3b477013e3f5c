package appliance

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"parley/appliance/api"
	"parley/appliance/contract"
)

// serve answers on l until the server is shut down. Behind a lock, those who
// come without TLS are told so.
func serve(front *http.Server, l net.Listener, lock *lock, log *slog.Logger) error {
	if lock.config == nil {
		return front.Serve(l)
	}
	astray := &strays{conns: make(chan net.Conn, 16), closed: make(chan struct{}), addr: l.Addr()}
	guide := api.NewServer(guideTo(lock), log)
	guide.ReadTimeout, guide.WriteTimeout, guide.MaxHeaderBytes = 10*time.Second, 10*time.Second, 64<<10
	guide.SetKeepAlivesEnabled(false)
	guided := make(chan struct{})
	go func() {
		defer close(guided)
		_ = guide.Serve(astray) // returns when it is closed below
	}()
	front.TLSConfig = lock.config
	err := front.ServeTLS(sorting{l, astray}, "", "")
	_ = guide.Close()
	<-guided
	return err
}

// sorting is a listener whose connections sort themselves out: those that do
// not speak TLS end up with the strays.
type sorting struct {
	net.Listener
	astray *strays
}

func (s sorting) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &sorted{Conn: c, astray: s.astray}, nil
}

// sorted is a connection under TLS whose first byte has yet to say that it is.
type sorted struct {
	net.Conn
	astray *strays
	looked bool        // of the one goroutine that shakes hands
	handed atomic.Bool // over to the strays: it is theirs to close
}

// handshake is the first byte of every TLS connection (RFC 8446, section 5.1).
const handshake = 0x16

var errStray = errors.New("the client does not speak TLS")

func (c *sorted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.looked || n == 0 {
		return n, err
	}
	c.looked = true
	if p[0] == handshake {
		return n, err
	}
	if c.astray.take(&replayed{c.Conn, append([]byte(nil), p[:n]...)}) {
		c.handed.Store(true)
	}
	return 0, errStray
}

// Close leaves alone what is the strays'.
func (c *sorted) Close() error {
	if c.handed.Load() {
		return nil
	}
	return c.Conn.Close()
}

// SetWriteBuffer reaches through to the TCP connection.
func (c *sorted) SetWriteBuffer(bytes int) error {
	if b, ok := c.Conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		return b.SetWriteBuffer(bytes)
	}
	return errors.ErrUnsupported
}

// replayed is a connection of which something was read already.
type replayed struct {
	net.Conn
	first []byte
}

func (c *replayed) Read(p []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// strays is a listener for the connections that were sorted out.
type strays struct {
	conns  chan net.Conn
	done   atomic.Bool
	closed chan struct{}
	addr   net.Addr
}

// take returns false where there is no room for one more.
func (s *strays) take(c net.Conn) bool {
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

func (s *strays) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

// Close also closes those that nobody has looked at yet.
func (s *strays) Close() error {
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

func (s *strays) Addr() net.Addr { return s.addr }

// guideTo answers those who came without TLS: browsers are led to the right
// door; programs are told, since one that is led on silently would go on
// sending its key in the clear. The authority they have to trust is here too.
func guideTo(lock *lock) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Request-Id", contract.NewID())
		h.Set("X-Content-Type-Options", "nosniff")
		reading := r.Method == http.MethodGet || r.Method == http.MethodHead
		ca := lock.certificate()
		switch {
		case reading && r.URL.Path == "/ca.crt" && ca != nil:
			h.Set("Content-Type", "application/x-x509-ca-cert")
			_, _ = w.Write(ca)
			return
		case reading && r.Host != "" && strings.Contains(r.Header.Get("Accept"), "text/html"):
			http.Redirect(w, r, "https://"+r.Host+r.URL.RequestURI(), http.StatusTemporaryRedirect)
			return
		}
		why := "this port speaks TLS only: use https:// and wss:// instead of http:// and ws://; a key that was sent just now could be read on the way"
		if ca != nil {
			why += "; the box's certificate is signed by an authority of its own, which clients have to trust: GET /ca.crt"
		}
		h.Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"code": "tls_required", "error": http.StatusText(http.StatusBadRequest), "message": why})
	})
}
