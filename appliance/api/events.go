package api

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// stillHere is after how long of silence a stream of events says that it is there:
// less than the minute after which proxies give up on a connection.
const stillHere = 20 * time.Second

// follow answers with server-sent events (HTML Living Standard, section 9.2): tell
// sends each, until it returns, the client is gone, its key or session holds no
// more, or the box stops. What is wrong with the request has to be seen before.
func (a *API) follow(w http.ResponseWriter, r *http.Request, by caller,
	tell func(ctx context.Context, send func(any) error) error) error {
	ctx, end := a.held(r.Context(), by)
	defer end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if a.Running != nil {
		defer context.AfterFunc(a.Running, cancel)()
	}
	streamHeaders(w, "text/event-stream")
	s := &events{out: flushing{w, http.NewResponseController(w)}, gone: cancel}
	if err := s.write(": here\n\n"); err != nil {
		return nil // the client is gone
	}
	s.begin()
	defer s.end()
	err := tell(ctx, s.send)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// events writes them, and something in between.
type events struct {
	gone func() // is called where the client takes nothing more

	mu   sync.Mutex
	over bool
	out  flushing
	rest *time.Timer
}

// begin has something said in every silence.
func (s *events) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = time.AfterFunc(stillHere, func() { _ = s.write(": here\n\n") })
}

func (s *events) write(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return context.Canceled
	}
	_, err := s.out.Write([]byte(text))
	if err != nil {
		s.over = true
		s.gone()
	}
	if s.rest != nil {
		s.rest.Reset(stillHere)
	}
	return err
}

// send writes v, as JSON in one line.
func (s *events) send(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write("data: " + string(text) + "\n\n")
}

// end waits for what is being written, and lets nothing more be.
func (s *events) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.rest.Stop()
}
