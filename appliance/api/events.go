package api

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// keepAliveEvery is after how long of silence a stream of events says that it is there:
// less than the minute after which proxies give up on a connection.
const keepAliveEvery = 20 * time.Second

// streamEvents answers with server-sent events (HTML Living Standard, section 9.2): tell
// sends each, until it returns, the client is gone, its key or session holds no
// more, or the box stops. What is wrong with the request has to be seen before.
func (a *API) streamEvents(w http.ResponseWriter, r *http.Request, by caller,
	tell func(ctx context.Context, send func(any) error) error) error {
	ctx, end := a.revocable(r.Context(), by)
	defer end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if a.Running != nil {
		defer context.AfterFunc(a.Running, cancel)()
	}
	streamHeaders(w, "text/event-stream")
	s := &eventStream{out: flushWriter{w, http.NewResponseController(w)}, cancel: cancel}
	if err := s.write(": here\n\n"); err != nil {
		return nil // the client is gone
	}
	s.startKeepAlive()
	defer s.end()
	err := tell(ctx, s.send)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// eventStream writes them, and something in between.
type eventStream struct {
	cancel func() // is called where the client takes nothing more

	mu        sync.Mutex
	ended     bool
	out       flushWriter
	keepAlive *time.Timer
}

// startKeepAlive has something said in every silence.
func (s *eventStream) startKeepAlive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keepAlive = time.AfterFunc(keepAliveEvery, func() { _ = s.write(": here\n\n") })
}

func (s *eventStream) write(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return context.Canceled
	}
	_, err := s.out.Write([]byte(text))
	if err != nil {
		s.ended = true
		s.cancel()
	}
	if s.keepAlive != nil {
		s.keepAlive.Reset(keepAliveEvery)
	}
	return err
}

// send writes v, as JSON in one line.
func (s *eventStream) send(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write("data: " + string(text) + "\n\n")
}

// end waits for what is being written, and lets nothing more be.
func (s *eventStream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.keepAlive.Stop()
}
