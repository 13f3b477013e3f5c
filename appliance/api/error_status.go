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

// kind is the status and code with which errors of one type are answered.
type kind struct {
	error  error // the zero value of the type
	status int
	code   string
}

// kinds has a row for every error type of package contract, which a test
// checks, and for errToken.
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
	{errToken{}, 0, ""}, // carries its own status and code
}

// kindOf finds the first error of a kind in err and the errors that it wraps or
// joins. public is that error without its wrapping, for the client; it is nil if
// there is none.
func kindOf(err error) (k kind, public error) {
	if k, public = firstKind(err); public != nil {
		return k, public
	}
	if translated := translate(err); translated != nil {
		return kindOf(translated)
	}
	return kind{}, nil
}

// firstKind returns the first error in err's tree that has a row in kinds.
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
			if k, public := firstKind(one); public != nil {
				return k, public
			}
		}
	}
	return kind{}, nil
}

// storeRetry is the Retry-After of answers while the store is busy.
const storeRetry = 5 * time.Second

// translate returns the contract error for an error of another package, or nil.
// The store's errors do not name what was looked up. Handlers name it with
// notFound; for an error that no handler named, the status is at least right.
func translate(err error) error {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return contract.ErrTooLarge{Limit: large.Limit}
	}
	if taken, ok := errors.AsType[store.ErrNameTaken](err); ok {
		return contract.ErrInvalid{Field: "name", Why: taken.Error() + "; a model calls tools by their names"}
	}
	if managed, ok := errors.AsType[store.ErrManaged](err); ok {
		return contract.ErrConflict{Why: managed.Error()}
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
		return contract.ErrConflict{Why: "it conflicts with the present state"}
	case errors.Is(err, store.ErrBusy), errors.Is(err, store.ErrFull), errors.Is(err, store.ErrReadOnly),
		errors.Is(err, store.ErrClosed):
		return contract.ErrUnavailable{Why: "the box cannot use its database now", RetryAfter: storeRetry}
	}
	return nil
}
