package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley/appliance/engine"
)

// Kind classifies the failure of a server.
type Kind string

// The kinds of failure. Clients get the kind, never the server's words.
const (
	Unreachable  Kind = "unreachable"       // no connection
	Disconnected Kind = "connection failed" // the connection broke or was refused
	TimedOut     Kind = "timed out"         // a limit was exceeded
	Refused      Kind = "refused"           // wrong key, unknown model, or a request that the server does not accept
	Overloaded   Kind = "overloaded"        // too many requests, or busy: a later retry may succeed
	BadAnswer    Kind = "bad answer"        // not as the OpenAI API defines it, or cut off
)

// Error is a server's failure. Its text is for the operator's log and may repeat what the server
// said.
type Error struct {
	Kind       Kind
	What       string        // what runs there, such as "language model"
	Server     string        // scheme and host
	Status     int           // HTTP status; 0 when there was none
	RetryAfter time.Duration // as the server requested; 0 if it did not
	Answered   bool          // part of the reply had arrived
	Why        string
	Custom     bool   // the server runs a custom language model
	public     string // the detail for the model's developer; see PublicDetail
	Err        error  // the cause, or nil
}

// Error describes the failure and what to do.
func (e *Error) Error() string {
	s := cmp.Or(e.What, languageModel) + " at " + e.Server + ": " + string(e.Kind)
	if e.Status != 0 {
		s += " (HTTP " + strconv.Itoa(e.Status) + ")"
	}
	return s + ": " + e.Why
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is maps the failure to the errors of package engine, so that callers need not know this package.
func (e *Error) Is(target error) bool {
	switch e.Kind {
	case Unreachable:
		return target == engine.ErrUnreachable
	case Disconnected:
		return target == engine.ErrConnection
	case TimedOut:
		return target == engine.ErrTimedOut
	case Overloaded:
		return target == engine.ErrOverloaded
	}
	return target == engine.ErrBroken
}

// Timeout reports whether the server took too long, as in net.Error.
func (e *Error) Timeout() bool { return e.Kind == TimedOut }

// wants reports whether the server rejected the request and named that parameter.
func (e *Error) wants(parameter string) bool {
	return (e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity) &&
		strings.Contains(e.Why, parameter)
}

// PublicDetail returns how a custom language model has failed, for its developer, without any of
// the server's words. For other servers it returns "".
func (e *Error) PublicDetail() string {
	switch {
	case !e.Custom:
		return ""
	case e.Status != 0:
		return fmt.Sprintf("It answered with HTTP status %d%s", e.Status, statusHint(e.Status))
	}
	return e.public
}

// statusHint returns the end of a sentence about an HTTP status: a question about the most likely
// cause, if there is one.
func statusHint(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ": does the client send the right key, as language_model_api_key in session_settings?"
	case http.StatusNotFound:
		return ": is the path of its URL right?"
	}
	return "."
}

// noEvents is the detail for a custom language model that served something else.
const noEvents = "What it answered holds no chat completion."

func (s *server) bad(answered bool, public, why string) *Error {
	return &Error{
		Kind:     BadAnswer,
		What:     s.what,
		Server:   s.name,
		Answered: answered,
		Why:      why,
		Custom:   s.custom,
		public:   public,
	}
}

// fault classifies the outcome of a request. A call that its own caller cancelled returns that
// caller's cause.
func (s *server) fault(watched, ctx context.Context, err error, answered bool) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	e := &Error{
		What:     s.what,
		Server:   s.name,
		Answered: answered,
		Err:      err,
		Custom:   s.custom,
	}
	if cause := context.Cause(watched); cause != nil {
		e.Kind, e.Err, e.Why = TimedOut, cause, s.limits.tooLong(cause)
		e.public = sentence(e.Why)
		return e
	}
	if status, ok := errors.AsType[*statusError](err); ok {
		return s.status(e, status)
	}
	if failed, ok := errors.AsType[*streamError](err); ok {
		e.Kind, e.Why, e.public = BadAnswer, clip(failed.message), "It answered with an error."
		if failed.overloaded {
			e.Kind = Overloaded
		}
		if answered {
			e.public = "It sent an error in the middle of its answer."
		}
		return e
	}
	if failed, ok := errors.AsType[*refusal](err); ok {
		e.Kind, e.Why, e.public = BadAnswer, failed.Error(), failed.publicDetail()
		return e
	}
	e.transport(err)
	return e
}

// transport classifies the failure of a connection, or of what arrived over it.
func (e *Error) transport(err error) {
	refused, notAllowed := errors.AsType[errNotAllowed](err)
	switch {
	case notAllowed:
		e.Kind, e.Why, e.public = Unreachable, refused.why, refused.public
	case dialFailed(err):
		e.Kind, e.public = Unreachable, "Nothing answers at its URL."
		e.Why = clip(err.Error()) + ": is the server running, and is the address right?"
	case failedHandshake(err):
		e.Kind, e.public = Disconnected, "The TLS handshake failed: is its certificate one that the box trusts?"
		e.Why = clip(err.Error())
	case errors.Is(err, errNoEnd):
		e.Kind, e.Why = Disconnected, errNoEnd.Error()
		e.public = "The connection ended in the middle of a sentence, without data: [DONE]."
	case brokenConnection(err) && e.Answered:
		e.Kind, e.public = Disconnected, "The connection broke in the middle of the answer."
		e.Why = "the connection broke: " + clip(err.Error())
	case brokenConnection(err):
		e.Kind, e.public = Disconnected, "The connection broke before an answer began."
		e.Why = "the connection broke before an answer began: " + clip(err.Error())
	case timedOut(err) && strings.Contains(err.Error(), "TLS handshake"):
		e.Kind, e.Why, e.public = TimedOut, clip(err.Error()),
			"The TLS handshake took too long: does it speak TLS, as its URL says?"
	case timedOut(err):
		e.Kind, e.Why, e.public = TimedOut, clip(err.Error()), "The connection timed out."
	case errors.Is(err, errTooMuchText), errors.Is(err, errLineSize), errors.Is(err, errAnswerSize):
		e.Kind, e.Why, e.public = BadAnswer, err.Error(), sentence(err.Error())
	case errors.Is(err, errRedirectsElsewhere):
		e.Kind, e.Why, e.public = BadAnswer, clip(err.Error()),
			"It redirects to another server, which is not followed: name that one in the config."
	case errors.Is(err, errRedirectsOn):
		e.Kind, e.Why, e.public = BadAnswer, clip(err.Error()), sentence(errRedirectsOn.Error())
	default:
		e.Kind, e.public = BadAnswer, "What it answered is no stream of chat completions."
		e.Why = clip(err.Error())
	}
}

// sentence turns a clause into a sentence.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// tooLong names the limit that was exceeded.
func (l Limits) tooLong(cause error) string {
	if short, is := cause.(slow); is {
		return short.Error()
	}
	limit := l.FirstPiece
	switch cause {
	case errCheck:
		limit = checkTimeout
	case errIdle:
		limit = l.Idle
	case errReply:
		limit = l.Reply
	}
	return fmt.Sprintf("%v within %v", cause, limit)
}

// status classifies an HTTP status other than 200.
func (s *server) status(e *Error, from *statusError) error {
	e.Status = from.status
	e.Why = clip(from.message)
	if e.Why == "" {
		e.Why = http.StatusText(e.Status)
	}
	e.RetryAfter = retryAfter(from.retryAfter, time.Now())
	switch code := e.Status; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		e.Kind = Refused
		if s.custom {
			e.Why += ": has the client sent the server's key, as language_model_api_key?"
		} else {
			e.Why += ": does the variable that key_env names hold the server's key?"
		}
	case code == http.StatusRequestTimeout || code == http.StatusGatewayTimeout:
		e.Kind = TimedOut
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable || code == http.StatusBadGateway:
		e.Kind = Overloaded
	case code >= 500:
		e.Kind = BadAnswer
	case code == http.StatusNotFound && !s.custom:
		e.Kind = Refused
		e.Why += fmt.Sprintf(": does the server know the model %q, and is the address right (it often ends in /v1)?",
			s.model)
	default:
		e.Kind = Refused
	}
	return e
}

// retryAfter parses a Retry-After header, in seconds or as a date, up to a day; 0 if it cannot be
// parsed.
func retryAfter(header string, now time.Time) time.Duration {
	d := time.Duration(0)
	if s, err := strconv.ParseFloat(header, 64); err == nil && s < 1e6 {
		d = time.Duration(s * float64(time.Second))
	} else if at, err := http.ParseTime(header); err == nil {
		d = at.Sub(now)
	}
	if d <= 0 || d > 24*time.Hour {
		return 0
	}
	return d
}

// clip puts a server's words on one line of at most 200 bytes.
func clip(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "?")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
