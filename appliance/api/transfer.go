package api

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// A client that stalls in the middle of a body or an answer holds a connection
// and a goroutine, so the box cuts it off. A slow client that makes progress may
// take as long as it needs: a recording of an hour over a telephone modem works.
const (
	// maxStall is how long a client may take for each progressBytes. A network
	// that is down for longer has lost the connection too.
	maxStall = 20 * time.Second
	// progressBytes within maxStall are 1.6 KB a second, a quarter of what the
	// slowest mobile network (GPRS) carries.
	progressBytes = 32 << 10
	// deadlineStep is the precision of the deadlines: setting one for every few
	// bytes would cost more than it gains.
	deadlineStep = time.Second
)

// response is the answer to a request. It records status and size, and extends
// the write deadline with every piece that the client takes.
type response struct {
	http.ResponseWriter
	controller  *http.ResponseController
	http2       bool
	maxStall    time.Duration
	deadline    time.Time // zero if none is set
	answerTimer answerTimer

	status int
	bytes  int64
	slow   bool // the client was cut off because it stalled

	onEnd           func(requestSummary) // called once, when the request ends
	release         func()               // releases the request's place in API.open
	outlivesHandler bool                 // a socket goes on after its handler, and calls both when it ends
}

func newResponse(w http.ResponseWriter, r *http.Request, stalled time.Duration) *response {
	return &response{
		ResponseWriter: w,
		controller:     http.NewResponseController(w),
		http2:          r.ProtoMajor > 1,
		maxStall:       stalled,
	}
}

func (w *response) id() string { return w.Header().Get("X-Request-Id") }

// WriteHeader records the status and stops the answer's timer: from now on the
// client decides how long the answer takes.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.answerTimer.stop()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write writes p in pieces of progressBytes, each with its own deadline.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	written := 0
	for written < len(p) || len(p) == 0 {
		w.extendDeadline()
		n, err := w.ResponseWriter.Write(p[written:min(len(p), written+progressBytes)])
		written += n
		w.bytes += int64(n)
		if err != nil {
			w.slow = w.slow || errors.Is(err, os.ErrDeadlineExceeded)
			return written, err
		}
		if len(p) == 0 {
			break
		}
	}
	if w.http2 {
		// In HTTP/2 a deadline ends the answer even while nothing is written,
		// and the next piece may be minutes away.
		w.setDeadline(time.Time{})
	}
	return written, nil
}

// extendDeadline gives the client maxStall for the next piece.
func (w *response) extendDeadline() {
	if until := time.Now().Add(w.maxStall); until.Sub(w.deadline) > min(deadlineStep, w.maxStall/10) {
		w.setDeadline(until)
	}
}

func (w *response) setDeadline(until time.Time) {
	// A writer without a network connection, as in tests, has no deadline.
	_ = w.controller.SetWriteDeadline(until)
	w.deadline = until
}

// finish sets the deadline for the part of the answer that the server still
// buffers. The server writes it when the handler has returned and, if the
// handler did not read the body, after it has drained the body.
func (w *response) finish() {
	if w.status != http.StatusSwitchingProtocols {
		w.setDeadline(time.Now().Add(2 * w.maxStall))
	}
}

// Hijack takes the connection over, for a socket.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := w.controller.Hijack()
	if err == nil {
		w.status = http.StatusSwitchingProtocols
	}
	return conn, rw, err
}

// Unwrap lets http.ResponseController flush.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// underlying returns the server's writer that w wraps.
func underlying(w http.ResponseWriter) http.ResponseWriter {
	if p, ok := w.(*response); ok {
		return p.ResponseWriter
	}
	return w
}

// progressBody is a request body whose read deadline is extended with every
// progressBytes that the client sends.
type progressBody struct {
	io.ReadCloser
	answer   *response
	received int64 // bytes since the deadline was set
	started  bool
}

// newProgressBody sets the first deadline, which also bounds how long the server
// drains a body that no handler reads.
func newProgressBody(body io.ReadCloser, answer *response) *progressBody {
	b := &progressBody{ReadCloser: body, answer: answer}
	b.setDeadline(time.Now().Add(answer.maxStall))
	return b
}

func (b *progressBody) setDeadline(until time.Time) {
	_ = b.answer.controller.SetReadDeadline(until) // fails without a network connection, as in tests
}

// Read reads from the body and extends the deadline.
func (b *progressBody) Read(p []byte) (int, error) {
	if !b.started { // the server now sends 100 Continue to a client that expects it
		b.started = true
		b.answer.extendDeadline()
	}
	n, err := b.ReadCloser.Read(p)
	if n > 0 && b.answer.status == 0 {
		b.answer.answerTimer.restart()
	}
	switch b.received += int64(n); {
	case errors.Is(err, io.EOF):
		// From here on the server reads only to notice that the client is gone.
		b.setDeadline(time.Time{})
	case err == nil && b.received >= progressBytes:
		b.received = 0
		b.setDeadline(time.Now().Add(b.answer.maxStall))
	}
	return n, err
}
