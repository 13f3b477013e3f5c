package ws

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/semaphore"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/line"
	"parley/internal/unbounded"
)

const (
	// deflateFrom is the size from which messages are compressed. Below it the header costs
	// what is saved.
	deflateFrom = 1 << 10
	// socketBuffer is the send buffer of the system: two seconds of speech. By default it
	// grows to megabytes, and its content can neither be taken back nor counted as unsent.
	socketBuffer = 256 << 10
)

// checkUpgrade returns an error, which can still be sent over HTTP, for a request that is
// no WebSocket handshake (RFC 6455, section 4.2.1) or comes from a page of a foreign
// origin.
func checkUpgrade(r *http.Request, origins []string) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(r.Header.Get("Sec-WebSocket-Key")))
	switch {
	case r.Method != http.MethodGet || !r.ProtoAtLeast(1, 1) || !hasToken(r.Header, "Upgrade", "websocket") ||
		!hasToken(r.Header, "Connection", "upgrade"):
		return contract.ErrUpgradeRequired{Why: "this path speaks WebSocket only; connect to it with ws:// or wss://"}
	case r.Header.Get("Sec-WebSocket-Version") != "13":
		return contract.ErrUpgradeRequired{Why: fmt.Sprintf("WebSocket version %q is not spoken here, only 13",
			r.Header.Get("Sec-WebSocket-Version"))}
	case err != nil || len(key) != 16 || len(r.Header.Values("Sec-WebSocket-Key")) != 1:
		return contract.ErrInvalid{Field: "Sec-WebSocket-Key", Why: "expected 16 bytes in base64, once"}
	}
	return connection.CheckOrigin(r, origins)
}

func hasToken(h http.Header, name, token string) bool {
	for _, value := range h.Values(name) {
		for t := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(t), token) {
				return true
			}
		}
	}
	return false
}

// accept upgrades the request and starts keepAlive.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) (*Line, error) {
	kept := &connCapture{ResponseWriter: w}
	conn, err := websocket.Accept(kept, r, &websocket.AcceptOptions{
		InsecureSkipVerify:   true, // checkUpgrade has checked the origin
		CompressionMode:      websocket.CompressionNoContextTakeover,
		CompressionThreshold: deflateFrom,
	})
	if err != nil {
		return nil, fmt.Errorf("accepting a WebSocket: %w", err)
	}
	conn.SetReadLimit(-1) // Line.take limits messages
	under := kept.conn
	if secure, ok := under.(interface{ NetConn() net.Conn }); ok { // a tls.Conn, or a wrapper of one
		under = secure.NetConn()
	}
	if b, ok := under.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = b.SetWriteBuffer(socketBuffer) // errors do not matter
	}
	tcp := socketOf(under)
	tcp.limitBuffer()
	l := &Line{
		conn:            conn,
		raw:             kept.conn,
		socket:          tcp,
		timing:          s.timing,
		maxMessage:      s.maxMessage,
		unknownMessages: unknownMessages(r),
		log:             s.log.With("client", r.RemoteAddr, "request", w.Header().Get("X-Request-Id")),
		errs:            line.ErrorLimiter{RequestID: w.Header().Get("X-Request-Id")},
		queue:           unbounded.NewQueue[queued](),
		capacity:        semaphore.NewWeighted(queueBytes),
	}
	l.lifecycle = line.NewLifecycle(s.stopping, l.log, func() { _ = l.raw.Close() })
	l.working.Lock()
	defer l.working.Unlock()
	l.alive = time.AfterFunc(l.timing.PingEvery, func() {
		l.working.Lock()
		defer l.working.Unlock()
		if !l.finished {
			l.lifecycle.Go("asking for a sign of life", l.keepAlive)
		}
	})
	return l, nil
}

// connCapture records the connection below the WebSocket: closing it is the only way to end
// a closing handshake that the client delays.
type connCapture struct {
	http.ResponseWriter
	conn net.Conn
}

// smallBuffer is the size of the read and write buffers of a WebSocket: a message of 20 ms
// of audio. Larger messages bypass them. The server's default is four times that for each,
// as long as the chat lasts.
const smallBuffer = 1 << 10

// Hijack returns the connection with small buffers.
func (k *connCapture) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(k.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	k.conn = conn
	n := rw.Reader.Buffered() // sent by the client before it got the response
	// NewReaderSize would return a larger existing reader unchanged, hence the wrapper.
	reader := bufio.NewReaderSize(struct{ io.Reader }{rw.Reader}, max(smallBuffer, n))
	if _, err := reader.Peek(n); err != nil {
		return nil, nil, err
	}
	return conn, bufio.NewReadWriter(reader, bufio.NewWriterSize(conn, smallBuffer)), nil
}
