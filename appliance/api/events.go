package api

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// keepAliveEvery is after how long a silence a stream sends a comment, to keep
// proxies from closing it after a minute.
const keepAliveEvery = 20 * time.Second

// streamEvents answers with server-sent events (HTML Living Standard, section
// 9.2). It calls watch, which sends events until it returns, and ends ctx when
// the client is gone, its access is revoked, or the box stops. The caller must
// have checked the request.
func (a *API) streamEvents(w http.ResponseWriter, r *http.Request, by caller,
	watch func(ctx context.Context, send func(any) error) error) error {
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
	err := watch(ctx, s.send)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// eventStream writes events, and comments in between.
type eventStream struct {
	cancel func() // called when the client is gone

	mu        sync.Mutex
	ended     bool
	out       flushWriter
	keepAlive *time.Timer
}

// startKeepAlive sends a comment in every silence.
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

// send writes v as one event.
func (s *eventStream) send(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write("data: " + string(text) + "\n\n")
}

// end waits for a write under way and stops further writes.
func (s *eventStream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.keepAlive.Stop()
}
