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
	return a.answering(func(w http.ResponseWriter, r *http.Request) error {
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
		return inTime(rt.time, w, r, func(r *http.Request) error {
			if rt.time == synthesis || rt.access == byLink { // what lasts as long as it is heard
				return a.whileHeld(w, r, by, rt.handle)
			}
			return rt.handle(w, r, by)
		})
	})
}

// errHeldNoMore ends what was opened with a key or a session that opens nothing any
// more.
var errHeldNoMore = contract.ErrUnauthorized{
	Why: "the API key has expired, or was revoked or regenerated, or the session was ended"}

// held is a context that ends, with errHeldNoMore as its cause, where the caller's key
// or session holds no more. end is to be called once.
func (a *API) held(ctx context.Context, by caller) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	lost, release := a.Keys.WatchKey(by.Grant)
	stop := context.AfterFunc(lost, func() { cancel(errHeldNoMore) })
	return ctx, func() {
		stop()
		release()
		cancel(nil)
	}
}

// whileHeld calls handle with a request whose context is held: speech is sent for as
// long as half an hour.
func (a *API) whileHeld(w http.ResponseWriter, r *http.Request, by caller, handle handler) error {
	ctx, end := a.held(r.Context(), by)
	defer end()
	err := handle(w, r.WithContext(ctx), by)
	if cause := context.Cause(ctx); err != nil && cause == errHeldNoMore {
		return cause
	}
	return err
}

// errOutOfTime ends the context of a request whose answer takes too long.
var errOutOfTime = errors.New("the time for an answer is over")

// inTime calls handle with a request whose context ends when limit is over and
// the answer has not begun.
func inTime(limit time.Duration, w http.ResponseWriter, r *http.Request, handle func(*http.Request) error) error {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	timer := time.AfterFunc(limit, func() { cancel(errOutOfTime) })
	defer timer.Stop()
	if p, ok := w.(*response); ok {
		p.patience = patience{timer, limit}
	}
	err := handle(r.WithContext(ctx))
	if errors.Is(context.Cause(ctx), errOutOfTime) &&
		(errors.Is(err, context.Canceled) || errors.Is(err, errOutOfTime)) {
		return contract.ErrTimedOut{Limit: limit}
	}
	return err
}

// patience is the time that is left for an answer to begin. The zero value is
// without end.
type patience struct {
	timer *time.Timer
	limit time.Duration
}

// renew gives all of the time again: the client has sent more of its body.
func (p patience) renew() {
	if p.timer != nil {
		p.timer.Reset(p.limit)
	}
}

// rest stops the clock: the answer has begun.
func (p patience) rest() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (a *API) answering(handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			a.refuse(w, r, err)
		}
	})
}
