package sip

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// maxConnections bounds the connections of peers: a provider opens one or two. Each is a
	// goroutine with a buffer of 4 KiB.
	maxConnections = 512
	// maxStrangers bounds those of them that come from addresses of no trunk.
	maxStrangers = maxConnections / 2
	// maxPerPeer bounds the connections from one address: a telephone system with many
	// telephones opens one for each.
	maxPerPeer = 64
	// idleTimeout closes a connection on which nothing comes. Peers refresh theirs with
	// keep-alives about every two minutes (RFC 5626, section 4.4.1), or with registrations.
	idleTimeout = time.Hour
	// strangerTimeout is for connections on which no trunk has called yet.
	strangerTimeout = 32 * time.Second
	// messageTimeout bounds how long the rest of a message may take after its first byte.
	messageTimeout = 10 * time.Second
	// keepAlive is how often the box sends a keep-alive on connections that it opened, so
	// that address translators keep them.
	keepAlive = 95 * time.Second
)

var (
	errClosed    = errors.New("sip: the connection is closed")
	errOversized = fmt.Errorf("sip: a message has more than %d bytes", maxMessage)
	errUnframed  = errors.New("sip: a message has no valid Content-Length")
)

// connections are the open connections over TCP and TLS.
type connections struct {
	mu     sync.Mutex
	open   map[*stream]bool
	closed bool
}

// A stream is one connection over TCP or TLS.
type stream struct {
	conn net.Conn
	flow *flow

	writing sync.Mutex
	closing sync.Once
	gone    chan struct{}

	// trusted: a trunk has called on this connection, or the box has opened it.
	mu      sync.Mutex
	trusted bool
}

func (s *stream) alive() bool {
	select {
	case <-s.gone:
		return false
	default:
		return true
	}
}

func (s *stream) trust() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trusted = true
}

func (s *stream) patience() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trusted {
		return idleTimeout
	}
	return strangerTimeout
}

func (s *stream) write(text []byte) error {
	if !s.alive() {
		return errClosed
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := s.conn.Write(text); err != nil {
		s.close() // a part may have been sent: nothing after it could be read
		return fmt.Errorf("sip: sending to %s: %w", s.flow.remote, err)
	}
	return nil
}

func (s *stream) close() {
	s.closing.Do(func() {
		close(s.gone)
		_ = s.conn.Close()
	})
}

// accept takes a connection that a peer has opened.
func (e *Endpoint) accept(l *listener, conn net.Conn) {
	s := e.newStream(l.transport, conn)
	limit := maxConnections
	if e.trunkAt(s.flow.remote.Addr()) == nil {
		limit = maxStrangers
	}
	if !e.connections.add(s, limit) {
		_ = conn.Close()
		return
	}
	e.workers.Go(func() { e.readStream(s) })
}

func (e *Endpoint) newStream(transport string, conn net.Conn) *stream {
	s := &stream{conn: conn, gone: make(chan struct{})}
	s.flow = &flow{
		transport: transport,
		local:     addrPort(conn.LocalAddr()),
		remote:    addrPort(conn.RemoteAddr()),
		stream:    s,
	}
	return s
}

// add stores a connection, unless there are as many as a limit.
func (c *connections) add(s *stream, limit int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := 0
	for other := range c.open {
		if other.flow.remote.Addr() == s.flow.remote.Addr() {
			same++
		}
	}
	if c.closed || len(c.open) >= limit || same >= maxPerPeer {
		return false
	}
	c.open[s] = true
	return true
}

func (c *connections) remove(s *stream) {
	s.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, s)
}

func (c *connections) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for s := range c.open {
		s.close()
	}
}

// find returns the open connection to a peer, or nil.
func (c *connections) find(transport string, to netip.AddrPort) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.open {
		if s.flow.transport == transport && s.flow.remote == to && s.alive() {
			return s
		}
	}
	return nil
}

// connect returns the flow of the open connection to a peer, or opens one.
func (e *Endpoint) connect(ctx context.Context, transport string, to netip.AddrPort, serverName string) (*flow, error) {
	if s := e.connections.find(transport, to); s != nil {
		return s.flow, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var dialer interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	} = &net.Dialer{}
	if transport == "TLS" {
		dialer = &tls.Dialer{Config: e.clientTLS(serverName)}
	}
	conn, err := dialer.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, fmt.Errorf("sip: connecting to %s over %s: %w", to, transport, err)
	}
	s := e.newStream(transport, conn)
	s.trust()
	if !e.connections.add(s, maxConnections) {
		_ = conn.Close()
		return nil, fmt.Errorf("sip: more than %d connections", maxConnections)
	}
	e.workers.Go(func() { e.readStream(s) })
	e.workers.Go(func() { e.keepAlive(s) })
	return s.flow, nil
}

// clientTLS returns the settings for a connection to a peer that has to prove to be name.
func (e *Endpoint) clientTLS(name string) *tls.Config {
	c := &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12}
	if e.TLS != nil {
		c.RootCAs = e.TLS.RootCAs
		c.Certificates = e.TLS.Certificates
	}
	return c
}

// keepAlive sends a ping at intervals (RFC 5626, section 3.5.1).
func (e *Endpoint) keepAlive(s *stream) {
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if s.write([]byte("\r\n\r\n")) != nil {
				return
			}
		case <-s.gone:
			return
		}
	}
}

// readStream takes the messages of a connection until it ends, or until one cannot be told
// from the next.
func (e *Endpoint) readStream(s *stream) {
	defer e.connections.remove(s)
	in := bufio.NewReaderSize(s.conn, 4<<10)
	for {
		_ = s.conn.SetReadDeadline(time.Now().Add(s.patience()))
		ping, err := skipBlank(in)
		if err != nil {
			return
		}
		if ping && s.write([]byte("\r\n")) != nil {
			return
		}
		if in.Buffered() == 0 {
			continue
		}
		_ = s.conn.SetReadDeadline(time.Now().Add(messageTimeout))
		text, err := readMessage(in)
		if len(text) > 0 {
			e.receive(s.flow, text)
		}
		if err != nil {
			e.log.Debug("sip: a connection ends", "peer", s.flow.remote, "error", err)
			return
		}
	}
}

// skipBlank waits for the next byte of a message and skips the line ends in front of it.
// ping reports whether they were a keep-alive that is to be answered.
func skipBlank(in *bufio.Reader) (ping bool, err error) {
	n := 0
	for {
		b, err := in.ReadByte()
		if err != nil {
			return false, err
		}
		if b != '\r' && b != '\n' {
			return n >= 4, in.UnreadByte()
		}
		if n++; n >= 4 && in.Buffered() == 0 {
			return true, nil
		}
	}
}

// readMessage reads one message: lines up to an empty one, and as many bytes as its
// Content-Length says. With errUnframed it returns the lines, which can be answered.
func readMessage(in *bufio.Reader) ([]byte, error) {
	var text []byte
	for begun := false; ; { // begun: a part of the line has been read
		line, err := in.ReadSlice('\n')
		text = append(text, line...)
		if len(text) > maxMessage {
			return nil, errOversized
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			begun = true
			continue
		}
		if err != nil {
			return nil, err
		}
		if !begun && len(bytes.TrimRight(line, "\r\n")) == 0 {
			break
		}
		begun = false
	}
	length := contentLength(text)
	if length < 0 {
		return text, errUnframed
	}
	if len(text)+length > maxMessage {
		return nil, errOversized
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, err
	}
	return append(text, body...), nil
}

// contentLength returns the value of the Content-Length field of a message, -1 if it has
// none or an invalid one.
func contentLength(head []byte) int {
	for line := range bytes.Lines(head) {
		name, value, _ := strings.Cut(string(line), ":")
		if name = strings.ToLower(strings.TrimSpace(name)); name != "content-length" && name != "l" {
			continue
		}
		if n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31); err == nil {
			return int(n)
		}
		return -1
	}
	return -1
}
