package door

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"parley/appliance/contract"
)

// The codes with which the door closes the socket of a client (the registry of RFC 6455, section 7.4).
const (
	CloseRestart = 1012 // the hub stops; its clients come back in some seconds
	CloseBoxGone = 1014 // the box has gone, in the middle of the chat
)

const (
	// maxSilence is how long a box may send nothing on a socket. Boxes ping their clients every nine seconds, so three
	// pings are missing: the box has lost its power or its network.
	maxSilence = 30 * time.Second
	// maxStall is how long a client may take for one piece of passBytes, as in the hub's other answers.
	maxStall = 20 * time.Second
	// passBytes is the buffer for each direction of a socket. A thousand idle sockets hold 16 MB.
	passBytes = 8 << 10
	// partingLimit is how long a client has to answer a close frame, before its connection is closed.
	partingLimit = 2 * time.Second
)

var errStopping = errors.New("the hub stops")

// boxSocket is the box's end of a proxied socket. When the box is lost, or ctx ends, it brings a close frame in the
// box's place.
type boxSocket struct {
	ctx     context.Context
	conn    io.ReadWriteCloser
	box     string
	frames  frames
	silence time.Duration
	quiet   *time.Timer
}

func newBoxSocket(ctx context.Context, conn io.ReadWriteCloser, box string, silence time.Duration) *boxSocket {
	return &boxSocket{
		ctx:     ctx,
		conn:    conn,
		box:     box,
		silence: silence,
		quiet:   time.AfterFunc(silence, func() { _ = conn.Close() }),
	}
}

// WriteTo passes what the box sends to the client.
func (s *boxSocket) WriteTo(client io.Writer) (total int64, err error) {
	defer s.quiet.Stop()
	buffer := make([]byte, passBytes)
	for {
		n, err := s.conn.Read(buffer)
		s.quiet.Reset(s.silence)
		s.frames.pass(buffer[:n])
		total += int64(n)
		if n > 0 {
			if _, err := client.Write(buffer[:n]); err != nil {
				return total, err
			}
		}
		if err != nil {
			return total, s.part(client)
		}
	}
}

// part sends the close frame that the box has not sent. In the middle of a frame there is no place for one.
func (s *boxSocket) part(client io.Writer) error {
	if s.frames.closed || !s.frames.between() {
		return io.EOF
	}
	_, err := client.Write(closeFrame(s.reason()))
	return err
}

// reason returns the code and the reason with which the door closes the client's socket.
func (s *boxSocket) reason() (code uint16, text string) {
	revoked := contract.ErrUnauthorized{}
	switch cause := context.Cause(s.ctx); {
	case cause == nil:
		return CloseBoxGone, "box " + s.box + " is gone; resume the chat group in some seconds"
	case errors.As(cause, &revoked):
		return contract.ClosePolicy, revoked.Error()
	}
	return CloseRestart, "the hub restarts; resume the chat group in some seconds"
}

// Read is not used: io.Copy calls WriteTo.
func (s *boxSocket) Read(p []byte) (int, error) { return s.conn.Read(p) }

// Write sends p to the box.
func (s *boxSocket) Write(p []byte) (int, error) { return s.conn.Write(p) }

// Close closes the connection to the box.
func (s *boxSocket) Close() error { return s.conn.Close() }

// hijacker gives the proxy the client's connection as a clientSocket.
type hijacker struct {
	http.ResponseWriter
	stall time.Duration
}

// Unwrap lets http.ResponseController flush.
func (h *hijacker) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// Hijack returns the client's connection.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	c := &clientSocket{Conn: conn, stall: h.stall}
	if n := rw.Reader.Buffered(); n > 0 { // sent before the answer
		c.early, err = rw.Reader.Peek(n)
	}
	return c, bufio.NewReadWriter(rw.Reader, bufio.NewWriterSize(c, passBytes/2)), err
}

// clientSocket is the client's end of a proxied socket.
type clientSocket struct {
	net.Conn
	early []byte
	stall time.Duration
}

// WriteTo passes what the client sends to the box.
func (c *clientSocket) WriteTo(box io.Writer) (total int64, err error) {
	if len(c.early) > 0 {
		n, err := box.Write(c.early)
		if err != nil {
			return int64(n), err
		}
		total, c.early = int64(n), nil
	}
	n, err := io.CopyBuffer(box, struct{ io.Reader }{c.Conn}, make([]byte, passBytes))
	return total + n, err
}

// Write sends p to the client, which has to take it within the time for one piece.
func (c *clientSocket) Write(p []byte) (int, error) {
	_ = c.SetWriteDeadline(time.Now().Add(c.stall))
	return c.Conn.Write(p)
}

// Close closes the connection when the client has closed its end. A connection that is closed while data come in is
// reset, and some systems then drop what the client has not read yet.
func (c *clientSocket) Close() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // clients wait for it
	}
	_ = c.SetReadDeadline(time.Now().Add(partingLimit))
	_, _ = io.Copy(io.Discard, struct{ io.Reader }{c.Conn})
	return c.Conn.Close()
}
