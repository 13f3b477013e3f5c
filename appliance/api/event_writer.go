package api

import (
	"io"
	"net/http"
	"sync"

	"parley/appliance/contract"
)

// eventWriter sends server-sent events. The headers are sent with the first.
type eventWriter struct {
	w   http.ResponseWriter
	out flushWriter
}

func newEventWriter(w http.ResponseWriter) *eventWriter {
	return &eventWriter{w, flushWriter{w, http.NewResponseController(w)}}
}

// send sends v as JSON.
func (e *eventWriter) send(v any) error {
	data, err := contract.Marshal(v)
	if err != nil {
		return err
	}
	return e.text(data)
}

// text sends an event with a line of data.
func (e *eventWriter) text(data []byte) error {
	if sent, _ := e.w.(*response); sent == nil || sent.status == 0 {
		streamHeaders(e.w, "text/event-stream")
	}
	_, err := e.out.Write(append(append([]byte("data: "), data...), "\n\n"...))
	return err
}

// lateWriter holds back what is written until begin is called. One goroutine may write while another begins.
type lateWriter struct {
	w io.Writer

	mu    sync.Mutex
	held  []byte
	begun bool
}

func (l *lateWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		l.held = append(l.held, p...)
		return len(p), nil
	}
	return l.w.Write(p)
}

// begin writes what was held back; later calls do nothing.
func (l *lateWriter) begin() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun {
		return nil
	}
	l.begun = true
	held := l.held
	l.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := l.w.Write(held)
	return err
}
