package api

import (
	"errors"
	"net/http"
	"strings"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// isOpenAI reports whether the answer to a request has the form of OpenAI's API.
func isOpenAI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/") }

// openAIError returns the status and the body of an error in the form of OpenAI's API, where a body that does not fit
// its schema is answered with 400.
func openAIError(err error, k kind, public error) (int, contract.OpenAIError) {
	p := contract.OpenAIProblem{Message: contract.ClipError(public.Error()), Type: "invalid_request_error"}
	set := func(to **string, value string) {
		if value != "" {
			*to = &value
		}
	}
	switch e := public.(type) {
	case contract.ErrInvalid:
		set(&p.Param, e.Field)
	case contract.ErrMalformed:
		k.status = http.StatusBadRequest
		if len(e.Detail) > 0 {
			set(&p.Param, e.Detail[0].Field())
		}
	case contract.ErrNotFound:
		set(&p.Param, e.Field)
		if e.What == "model" {
			set(&p.Code, "model_not_found")
		}
	case contract.ErrUnauthorized:
		set(&p.Code, "invalid_api_key")
	case contract.ErrTooMany:
		p.Type = "rate_limit_error"
		set(&p.Code, "rate_limit_exceeded")
	}
	if _, long := errors.AsType[engine.ErrTooLong](err); long {
		set(&p.Code, "context_length_exceeded")
	}
	if k.status >= http.StatusInternalServerError {
		p.Type = "server_error"
	}
	if p.Code == nil {
		set(&p.Code, k.code)
	}
	return k.status, contract.OpenAIError{Error: p}
}
