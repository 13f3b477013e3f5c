package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"parley/appliance/contract"
)

// enforce returns the handler of a route. It admits the callers that the route
// admits, applies the limits of the route, and calls the route's handler.
func (a *API) enforce(rt route) http.Handler {
	return a.withErrors(func(w http.ResponseWriter, r *http.Request) error {
		if rt.act.what != "" && a.Records != nil { // tests may have none
			return a.audited(rt, w, r)
		}
		by, err := a.admit(rt, r)
		if err != nil {
			return err
		}
		return a.answer(rt, w, r, by)
	})
}

// answer applies the limits of the route to an admitted request, and calls the route's
// handler.
func (a *API) answer(rt route, w http.ResponseWriter, r *http.Request, by caller) error {
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
		if rt.time >= synthesis || rt.access == byLink { // these stream for up to half an hour
			return a.untilRevoked(w, r, by, rt.handle)
		}
		return rt.handle(w, r, by)
	})
}

// errRevoked ends an answer whose caller's key or session became invalid.
var errRevoked = contract.ErrUnauthorized{
	Why: "the API key has expired, or was revoked or regenerated, or the session was ended"}

// revocable returns a context that ends, with errRevoked as its cause, when the
// caller's key or session becomes invalid. end must be called once.
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

// untilRevoked calls handle with a request whose context is revocable.
func (a *API) untilRevoked(w http.ResponseWriter, r *http.Request, by caller, handle handler) error {
	ctx, end := a.revocable(r.Context(), by)
	defer end()
	err := handle(w, r.WithContext(ctx), by)
	if cause := context.Cause(ctx); err != nil && cause == errRevoked {
		return cause
	}
	return err
}

// errTimedOut is the cause of a context that ended because the answer did not
// begin in time.
var errTimedOut = errors.New("the time for an answer is over")

// beginWithin calls handle with a request whose context ends unless the answer
// begins within limit.
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

// answerTimer bounds the time until an answer begins. The zero value has no
// limit.
type answerTimer struct {
	timer *time.Timer
	limit time.Duration
}

// restart starts the timer anew, because the client has sent more of its body.
func (p answerTimer) restart() {
	if p.timer != nil {
		p.timer.Reset(p.limit)
	}
}

// stop stops the timer, because the answer has begun.
func (p answerTimer) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// withErrors returns a handler that answers the errors of handle.
func (a *API) withErrors(handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			a.answerError(w, r, err)
		}
	})
}
