package api

import (
	"errors"
	"net/http"
	"os"
	"reflect"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// kind is a kind of error as clients are told of it.
type kind struct {
	error  error // empty, of the kind's type
	status int
	code   string
}

// kinds are all of them. A test sees to it that none is missing.
var kinds = []kind{
	{contract.ErrInvalid{}, http.StatusBadRequest, "invalid_request"},
	{contract.ErrUnauthorized{}, http.StatusUnauthorized, "unauthorized"},
	{contract.ErrForbidden{}, http.StatusForbidden, "forbidden"},
	{contract.ErrNotFound{}, http.StatusNotFound, "not_found"},
	{contract.ErrMethod{}, http.StatusMethodNotAllowed, "method_not_allowed"},
	{contract.ErrTooSlow{}, http.StatusRequestTimeout, "too_slow"},
	{contract.ErrConflict{}, http.StatusConflict, "conflict"},
	{contract.ErrPrecondition{}, http.StatusPreconditionFailed, "precondition_failed"},
	{contract.ErrTooLarge{}, http.StatusRequestEntityTooLarge, "too_large"},
	{contract.ErrMediaType{}, http.StatusUnsupportedMediaType, "unsupported_media_type"},
	{contract.ErrMalformed{}, http.StatusUnprocessableEntity, ""}, // its body has no code
	{contract.ErrUpgradeRequired{}, http.StatusUpgradeRequired, "upgrade_required"},
	{contract.ErrTooMany{}, http.StatusTooManyRequests, "too_many_requests"},
	{contract.ErrFull{}, http.StatusServiceUnavailable, "full"},
	{contract.ErrUnavailable{}, http.StatusServiceUnavailable, "unavailable"},
	{contract.ErrTimedOut{}, http.StatusServiceUnavailable, "timed_out"},
	{errToken{}, 0, ""}, // has its own
}

// kindOf unwraps err to the first error of a kind, also of several that are joined;
// told is nil where there is none. The error that is told says nothing of what it was
// wrapped in.
func kindOf(err error) (k kind, told error) {
	if k, told = firstKind(err); told != nil {
		return k, told
	}
	if translated := translate(err); translated != nil {
		return kindOf(translated)
	}
	return kind{}, nil
}

// firstKind is the first of a row of the table in err and what it wraps.
func firstKind(err error) (kind, error) {
	for _, k := range kinds {
		if err != nil && reflect.TypeOf(err) == reflect.TypeOf(k.error) {
			if refused, ok := err.(errToken); ok {
				k.status = refused.status
			}
			return k, err
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return firstKind(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			if k, told := firstKind(one); told != nil {
				return k, told
			}
		}
	}
	return kind{}, nil
}

// storeRetry is when a store that is busy or being mended is worth a new try.
const storeRetry = 5 * time.Second

// translate gives errors of others their kind, or is nil. The store's own say
// nothing of what was sought: who asks it should say so, and where nobody did
// the answer is at least of the right kind.
func translate(err error) error {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return contract.ErrTooLarge{Limit: large.Limit}
	}
	if taken, ok := errors.AsType[store.ErrNameTaken](err); ok {
		return contract.ErrInvalid{Field: "name", Why: taken.Error() + "; a model calls tools by their names"}
	}
	if gone, ok := errors.AsType[store.ErrMissing](err); ok {
		return contract.ErrNotFound{What: gone.What(), ID: gone.ID}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return contract.ErrTooSlow{Limit: maxStall}
	case errors.Is(err, store.ErrNotFound):
		return contract.ErrNotFound{What: "thing"}
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrActive):
		return contract.ErrConflict{Why: "it conflicts with what is there"}
	case errors.Is(err, store.ErrBusy), errors.Is(err, store.ErrFull), errors.Is(err, store.ErrReadOnly),
		errors.Is(err, store.ErrClosed):
		return contract.ErrUnavailable{Why: "the box cannot use its database now", RetryAfter: storeRetry}
	}
	return nil
}
