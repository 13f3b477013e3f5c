package api

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"parley/appliance/contract"
)

// problem is the body of every error but 422.
type problem struct {
	Code    string `json:"code"`
	Error   string `json:"error"`
	Message string `json:"message"`
}

// malformed is the body of a 422: every problem with the request body.
type malformed struct {
	Detail []contract.ValidationError `json:"detail"`
}

var errPanic = errors.New("a handler panicked")

// clientGone is the status that nginx and others log for a client that closed
// its connection before the answer. It is never sent.
const clientGone = 499

// answerError writes the answer to an error: status and code come from the
// table of kinds. An error of no kind is answered with 500, and its text goes
// to the log only.
func (a *API) answerError(w http.ResponseWriter, r *http.Request, err error) {
	sent, _ := w.(*response)
	if sent != nil && sent.status != 0 {
		level := slog.LevelError
		if sent.slow || r.Context().Err() != nil { // the client caused it
			level = slog.LevelDebug
		}
		a.Log.Log(r.Context(), level, "request failed after the answer had begun", "request", sent.id(),
			"path", loggedPath(r), "err", err)
		return
	}
	k, public := kindOf(err)
	if public == nil {
		if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
			if sent != nil {
				sent.status = clientGone
			}
			return
		}
		if !errors.Is(err, errPanic) { // logged with its stack already
			a.Log.ErrorContext(r.Context(), "request failed", "request", w.Header().Get("X-Request-Id"), "path",
				loggedPath(r), "err", err)
		}
		k, public = internalError(w)
	}
	if isOpenAI(r) {
		status, body := openAIError(err, k, public)
		a.setHeaders(w, r, status, public)
		a.reply(w, status, body)
		return
	}
	a.setHeaders(w, r, k.status, public)
	switch e := public.(type) {
	case contract.ErrMalformed:
		a.reply(w, k.status, malformed{e.Detail})
	case errToken:
		a.reply(w, e.status, tokenRefused{problem{e.code, e.code, e.why}, e.why})
	default:
		a.reply(w, k.status, problem{k.code, http.StatusText(k.status), contract.ClipError(public.Error())})
	}
}

// internalError returns what the client gets for an error that is only logged.
func internalError(w http.ResponseWriter) (kind, error) {
	return kind{status: http.StatusInternalServerError, code: "internal_error"},
		errors.New("something failed inside the box; its log has more under request " + w.Header().Get("X-Request-Id"))
}

// setHeaders sets the headers that a status requires.
func (a *API) setHeaders(w http.ResponseWriter, r *http.Request, status int, public error) {
	h := w.Header()
	if e, ok := public.(interface{ Wait() time.Duration }); ok && e.Wait() > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.Wait().Seconds()))))
	}
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="parley"`)
		if _, client := public.(errToken); client {
			h.Set("WWW-Authenticate", `Basic realm="parley", charset="UTF-8"`)
		}
	case http.StatusUpgradeRequired:
		if r.ProtoMajor == 1 { // HTTP/2 forbids these (RFC 9113, section 8.2.2)
			h.Set("Upgrade", "websocket")
			h.Set("Connection", "Upgrade")
			h.Set("Sec-WebSocket-Version", "13")
		}
	case http.StatusRequestTimeout:
		if r.ProtoMajor == 1 { // the server would parse the rest of the body as the next request
			h.Set("Connection", "close")
		}
	}
}
