package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"parley/appliance/contract"
)

// enforce stands before the handler of a row: it lets in whom the row lets in,
// bounds the body and the time as the row says, and calls the handler with the
// caller.
func (a *API) enforce(rt route) http.Handler {
	return a.withErrors(func(w http.ResponseWriter, r *http.Request) error {
		by, err := a.admit(rt, r)
		if err != nil {
			return err
		}
		if r.ContentLength > rt.body {
			return contract.ErrTooLarge{Limit: rt.body}
		}
		if rt.stores {
			if err := a.diskUse.check(by, r, rt.body); err != nil {
				return err
			}
		}
		r.Body = http.MaxBytesReader(underlying(w), r.Body, rt.body)
		if rt.time == unlimited {
			return rt.handle(w, r, by)
		}
		return beginWithin(rt.time, w, r, func(r *http.Request) error {
			if rt.time == synthesis || rt.access == byLink { // what lasts as long as it is heard
				return a.untilRevoked(w, r, by, rt.handle)
			}
			return rt.handle(w, r, by)
		})
	})
}

// errRevoked ends what was opened with a key or a session that opens nothing any
// more.
var errRevoked = contract.ErrUnauthorized{
	Why: "the API key has expired, or was revoked or regenerated, or the session was ended"}

// held is a context that ends, with errHeldNoMore as its cause, where the caller's key
// or session holds no more. end is to be called once.
func (a *API) revocable(ctx context.Context, by caller) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	lost, release := a.Keys.WatchKey(by.Grant)
	stop := context.AfterFunc(lost, func() { cancel(errRevoked) })
	return ctx, func() {
		stop()
		release()
		cancel(nil)
	}
}

// untilRevoked calls handle with a request whose context is held: speech is sent for as
// long as half an hour.
func (a *API) untilRevoked(w http.ResponseWriter, r *http.Request, by caller, handle handler) error {
	ctx, end := a.revocable(r.Context(), by)
	defer end()
	err := handle(w, r.WithContext(ctx), by)
	if cause := context.Cause(ctx); err != nil && cause == errRevoked {
		return cause
	}
	return err
}

// errTimedOut ends the context of a request whose answer takes too long.
var errTimedOut = errors.New("the time for an answer is over")

// beginWithin calls handle with a request whose context ends when limit is over and
// the answer has not begun.
func beginWithin(limit time.Duration, w http.ResponseWriter, r *http.Request, handle func(*http.Request) error) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	timer := time.AfterFunc(limit, func() { cancel(errTimedOut) })
	defer timer.Stop()
	if p, ok := w.(*response); ok {
		p.answerTimer = answerTimer{timer, limit}
	}
	err := handle(r.WithContext(ctx))
	if errors.Is(context.Cause(ctx), errTimedOut) &&
		(errors.Is(err, context.Canceled) || errors.Is(err, errTimedOut)) {
		return contract.ErrTimedOut{Limit: limit}
	}
	return err
}

// answerTimer is the time that is left for an answer to begin. The zero value is
// without end.
type answerTimer struct {
	timer *time.Timer
	limit time.Duration
}

// restart gives all of the time again: the client has sent more of its body.
func (p answerTimer) restart() {
	if p.timer != nil {
		p.timer.Reset(p.limit)
	}
}

// rest stops the clock: the answer has begun.
func (p answerTimer) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (a *API) withErrors(handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			a.answerError(w, r, err)
		}
	})
}
