package api

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// A client that stops, or nearly so, in the middle of a body or of an answer
// holds a connection and a goroutine for nothing, so it is cut off. One that is
// slow and moves is not, however long it takes: a recording of an hour over a
// telephone modem is fine.
const (
	// maxStall is how long a client may take for each paceBytes. A network that
	// is lost for longer has lost the connection too.
	maxStall = 20 * time.Second
	// progressBytes within stalled are 1.6 KB a second, a quarter of what the
	// slowest mobile network (GPRS) carries.
	progressBytes = 32 << 10
	// deadlineStep is how exact the deadlines are: setting one for every few bytes
	// would cost more than it gains.
	deadlineStep = time.Second
)

// response is the answer to a request: it notes what was answered and has a
// deadline that moves on with every piece that the client takes.
type response struct {
	http.ResponseWriter
	controller  *http.ResponseController
	http2       bool
	maxStall    time.Duration
	deadline    time.Time // the deadline that is set; zero where none is
	answerTimer answerTimer

	status int
	bytes  int64
	slow   bool // the client took too little, and was cut off

	onEnd           func(requestSummary) // called once, when the request is over
	release         func()               // gives its slot back
	outlivesHandler bool                 // a socket goes on after its handler, and calls both itself
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

// WriteHeader notes the status. From here on the client decides how long the
// answer takes.
func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
		w.answerTimer.stop()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write writes piece by piece, each with a deadline of its own.
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
		// There a deadline ends the answer also while nothing is written, and
		// the next piece may be minutes away.
		w.setDeadline(time.Time{})
	}
	return written, nil
}

// extendDeadline gives the client its time for the next piece.
func (w *response) extendDeadline() {
	if until := time.Now().Add(w.maxStall); until.Sub(w.deadline) > min(deadlineStep, w.maxStall/10) {
		w.setDeadline(until)
	}
}

func (w *response) setDeadline(until time.Time) {
	// An answer that is not written to a network has no deadline; nobody waits
	// for it either.
	_ = w.controller.SetWriteDeadline(until)
	w.deadline = until
}

// finish gives the client its time for what the server still holds back of the
// answer. It is written when the handlers are done and, at the latest, when the
// client's time is over for a body that none of them has read.
func (w *response) finish() {
	if w.status != http.StatusSwitchingProtocols {
		w.setDeadline(time.Now().Add(2 * w.maxStall))
	}
}

// Unwrap lets http.ResponseController flush and hijack.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// underlying is the server's own writer under w.
func underlying(w http.ResponseWriter) http.ResponseWriter {
	if p, ok := w.(*response); ok {
		return p.ResponseWriter
	}
	return w
}

// progressBody is a body with a deadline that moves on with every paceBytes that
// the client sends.
type progressBody struct {
	io.ReadCloser
	answer   *response
	received int64 // bytes since the deadline was set
	started  bool
}

// newProgressBody sets the first deadline: it also bounds how long the server
// waits for a body that no handler reads.
func newProgressBody(body io.ReadCloser, answer *response) *progressBody {
	b := &progressBody{ReadCloser: body, answer: answer}
	b.setDeadline(time.Now().Add(answer.maxStall))
	return b
}

func (b *progressBody) setDeadline(until time.Time) {
	_ = b.answer.controller.SetReadDeadline(until) // where there is no network, there is no deadline
}

// Read reads what has come.
func (b *progressBody) Read(p []byte) (int, error) {
	if !b.started { // a client that waits for a sign to send is now given one
		b.started = true
		b.answer.extendDeadline()
	}
	n, err := b.ReadCloser.Read(p)
	if n > 0 && b.answer.status == 0 {
		b.answer.answerTimer.restart()
	}
	switch b.received += int64(n); {
	case errors.Is(err, io.EOF):
		// What is read from here on is only whether the client is still there.
		b.setDeadline(time.Time{})
	case err == nil && b.received >= progressBytes:
		b.received = 0
		b.setDeadline(time.Now().Add(b.answer.maxStall))
	}
	return n, err
}
