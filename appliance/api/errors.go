package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// problem is the body of every error but 422.
type problem struct {
	Code    string `json:"code"`
	Error   string `json:"error"`
	Message string `json:"message"`
}

// malformed is the body of a 422: all that does not fit its schema.
type malformed struct {
	Detail []contract.ValidationError `json:"detail"`
}

var errPanic = errors.New("a handler panicked")

// clientGone is the status in the log for a client that did not wait for its
// answer, as others use it too; it is never sent.
const clientGone = 499

// refuse answers an error: its kind decides the status, and what is no kind is
// a fault of ours, of which only the log says more.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if sent, ok := w.(*response); ok && sent.status != 0 {
		a.Log.ErrorContext(r.Context(), "an error after the answer had begun", "request", sent.id(), "path", shownPath(r), "err", err)
		return
	}
	if e, ok := errors.AsType[contract.ErrMalformed](err); ok {
		a.reply(w, http.StatusUnprocessableEntity, malformed{e.Detail})
		return
	}
	said := kindOf(err)
	if said.status == http.StatusInternalServerError {
		if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
			said.status = clientGone
			if sent, ok := w.(*response); ok {
				sent.status = clientGone
				return
			}
		}
		if !errors.Is(err, errPanic) { // logged with its stack already
			a.Log.ErrorContext(r.Context(), "a request failed", "request", w.Header().Get("X-Request-Id"), "path", shownPath(r), "err", err)
		}
		said.message = "something failed inside the box; its log has more under request " + w.Header().Get("X-Request-Id")
	}
	if said.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(said.retry.Seconds()))))
	}
	if said.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="parley"`)
	}
	if said.status == http.StatusUpgradeRequired && r.ProtoMajor == 1 { // HTTP/2 forbids these (RFC 9113, section 8.2.2)
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Sec-WebSocket-Version", "13")
	}
	a.reply(w, said.status, problem{said.code, http.StatusText(said.status), said.message})
}

// answered is how a kind of error is answered.
type answered struct {
	status  int
	code    string
	message string
	retry   time.Duration
}

// kindOf is the table from kinds to answers.
func kindOf(err error) answered {
	switch e := kind(err).(type) {
	case contract.ErrInvalid:
		return answered{status: http.StatusBadRequest, code: "invalid_request", message: e.Error()}
	case contract.ErrUnauthorized:
		return answered{status: http.StatusUnauthorized, code: "unauthorized", message: e.Error()}
	case contract.ErrForbidden:
		return answered{status: http.StatusForbidden, code: "forbidden", message: e.Error()}
	case contract.ErrNotFound:
		return answered{status: http.StatusNotFound, code: "not_found", message: e.Error()}
	case contract.ErrMethod:
		return answered{status: http.StatusMethodNotAllowed, code: "method_not_allowed", message: e.Error()}
	case contract.ErrConflict:
		return answered{status: http.StatusConflict, code: "conflict", message: e.Error()}
	case contract.ErrTooLarge:
		return answered{status: http.StatusRequestEntityTooLarge, code: "too_large", message: e.Error()}
	case contract.ErrMediaType:
		return answered{status: http.StatusUnsupportedMediaType, code: "unsupported_media_type", message: e.Error()}
	case contract.ErrUpgradeRequired:
		return answered{status: http.StatusUpgradeRequired, code: "upgrade_required", message: e.Error()}
	case contract.ErrTooMany:
		return answered{http.StatusTooManyRequests, "too_many_requests", e.Error(), e.RetryAfter}
	case contract.ErrFull:
		return answered{http.StatusServiceUnavailable, "full", e.Error(), e.RetryAfter}
	case contract.ErrUnavailable:
		return answered{http.StatusServiceUnavailable, "unavailable", e.Error(), e.RetryAfter}
	}
	return answered{status: http.StatusInternalServerError, code: "internal_error"}
}

// kind unwraps err to the first kind of the house in it. The store's own errors
// say nothing of what was sought: who asks it should say so, and where nobody
// did the answer is at least of the right kind.
func kind(err error) error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch e.(type) {
		case contract.ErrInvalid, contract.ErrUnauthorized, contract.ErrForbidden, contract.ErrNotFound,
			contract.ErrMethod, contract.ErrConflict, contract.ErrTooLarge, contract.ErrMediaType, contract.ErrUpgradeRequired,
			contract.ErrTooMany, contract.ErrFull, contract.ErrUnavailable:
			return e
		}
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return contract.ErrTooLarge{Limit: large.Limit}
	}
	if gone, ok := errors.AsType[store.ErrMissing](err); ok {
		return contract.ErrNotFound{What: gone.What(), ID: gone.ID}
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return contract.ErrNotFound{What: "thing"}
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrActive):
		return contract.ErrConflict{Why: "it conflicts with what is there"}
	case errors.Is(err, store.ErrBusy), errors.Is(err, store.ErrFull), errors.Is(err, store.ErrReadOnly), errors.Is(err, store.ErrClosed):
		return contract.ErrUnavailable{Why: "the box cannot use its database now", RetryAfter: storeRetry}
	}
	return err
}

// storeRetry is when a store that is busy or being mended is worth a new try.
const storeRetry = 5 * time.Second
