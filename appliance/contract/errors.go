package contract

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// The errors that clients see. Wrap them with what was being done: the client
// gets the text of the error itself, the log gets all of it. Package api has the
// table of their statuses, which are also given here. All other errors are
// answered with 500.

// ErrNotFound: the thing does not exist, or belongs to another account (404).
type ErrNotFound struct {
	What  string // "chat", "config", "path" …
	ID    string
	Field string // the field of the request that names it, as in ErrInvalid; empty for the path
	Hint  string // what exists instead; may be empty
}

func (e ErrNotFound) Error() string {
	said := "no such " + e.What
	if e.ID != "" {
		said = fmt.Sprintf("no %s %q", e.What, Clip(e.ID))
	}
	if e.Field != "" {
		said = e.Field + ": " + said
	}
	if e.Hint != "" {
		said += "; " + e.Hint
	}
	return said
}

// ErrConflict: the thing does not allow it in its present state (409).
type ErrConflict struct{ Why string }

func (e ErrConflict) Error() string { return e.Why }

// ErrInvalid: a value is not allowed (400). Why says what is allowed.
type ErrInvalid struct {
	Field string // as written in the request: "name", "page_size"
	Why   string
}

func (e ErrInvalid) Error() string { return e.Field + ": " + e.Why }

// ErrMalformed: the body does not fit its schema (422).
type ErrMalformed struct{ Detail []ValidationError }

func (e ErrMalformed) Error() string {
	said := make([]string, len(e.Detail))
	for i, d := range e.Detail {
		said[i] = d.String()
	}
	return strings.Join(said, "; ")
}

// ErrUnauthorized: the credentials are missing or wrong (401).
type ErrUnauthorized struct{ Why string }

func (e ErrUnauthorized) Error() string { return e.Why }

// ErrForbidden: the credentials are valid and do not permit this (403).
type ErrForbidden struct{ Why string }

func (e ErrForbidden) Error() string { return e.Why }

// ErrMethod: the path does not take this method (405).
type ErrMethod struct {
	Method  string
	Allowed []string
}

func (e ErrMethod) Error() string {
	return fmt.Sprintf("%s is not allowed here; allowed: %s", Clip(e.Method), strings.Join(e.Allowed, ", "))
}

// ErrPrecondition: the thing is not in the state that the request requires (412).
type ErrPrecondition struct{ Why string }

func (e ErrPrecondition) Error() string { return e.Why }

// ErrTooLarge: the body, or What, has more bytes than Limit (413).
type ErrTooLarge struct {
	Limit int64
	What  string // "the files of the job are"; empty: "the body is"
}

func (e ErrTooLarge) Error() string {
	return fmt.Sprintf("%s larger than %d bytes, which is the most allowed", cmp.Or(e.What, "the body is"), e.Limit)
}

// ErrMediaType: the path does not accept this kind of body (415).
type ErrMediaType struct {
	What    string // "content encoding"; empty: the content type
	Got     string
	Allowed string
}

func (e ErrMediaType) Error() string {
	return fmt.Sprintf("%s %q is not read here; send the body as %s", cmp.Or(e.What, "content type"), Clip(e.Got),
		e.Allowed)
}

// ErrUpgradeRequired: the path accepts WebSocket connections only (426).
type ErrUpgradeRequired struct{ Why string }

func (e ErrUpgradeRequired) Error() string { return e.Why }

// ErrTooSlow: the client sent its body too slowly (408).
type ErrTooSlow struct{ Limit time.Duration } // in which something has to come

func (e ErrTooSlow) Error() string {
	return fmt.Sprintf("the body came too slowly: hardly anything of it in %s", e.Limit)
}

// ErrTooMany: this client sends too many requests (429).
type ErrTooMany struct {
	What       string // what there is too much of
	RetryAfter time.Duration
}

func (e ErrTooMany) Error() string {
	return fmt.Sprintf("%s; try again in %s", cmp.Or(e.What, "too many requests"),
		(e.RetryAfter + time.Second - 1).Truncate(time.Second))
}

// Wait returns the value of Retry-After.
func (e ErrTooMany) Wait() time.Duration { return e.RetryAfter }

// ErrFull: the box has no capacity for one more (503).
type ErrFull struct {
	What       string // what is full, or of what there are too many
	RetryAfter time.Duration
}

func (e ErrFull) Error() string {
	return fmt.Sprintf("%s; try again in %s", cmp.Or(e.What, "the box is full"), e.RetryAfter)
}

// Wait returns the value of Retry-After.
func (e ErrFull) Wait() time.Duration { return e.RetryAfter }

// ErrUnavailable: a part of the box that the request needs is missing (503).
type ErrUnavailable struct {
	Why        string
	RetryAfter time.Duration // 0: it will not come by itself
}

func (e ErrUnavailable) Error() string { return e.Why }

// Wait returns the value of Retry-After.
func (e ErrUnavailable) Wait() time.Duration { return e.RetryAfter }

// ErrTimedOut: the box took too long to begin its answer (503).
type ErrTimedOut struct{ Limit time.Duration } // that the answer had

func (e ErrTimedOut) Error() string {
	return fmt.Sprintf("the box was too busy to answer within %s; try again later", e.Limit)
}

// Wait returns the value of Retry-After: as long as the answer took already.
func (e ErrTimedOut) Wait() time.Duration { return e.Limit }

// ValidationError is one problem of a body. Loc is the path to it: field names
// (string) and list indexes (int).
type ValidationError struct {
	Loc  []any  `json:"loc"`
	Msg  string `json:"msg"`
	Type string `json:"type"` // missing, wrong_type, wrong_value, malformed
}

// String returns the error as one line: "audio.sample_rate: expected an integer".
func (e ValidationError) String() string {
	if len(e.Loc) == 0 {
		return e.Msg
	}
	return path(e.Loc) + ": " + e.Msg
}

// Field returns the path to the problem, without the word body at its beginning.
func (e ValidationError) Field() string {
	if len(e.Loc) > 0 && e.Loc[0] == "body" {
		return path(e.Loc[1:])
	}
	return path(e.Loc)
}

func path(loc []any) string {
	var b strings.Builder
	for i, l := range loc {
		switch l := l.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", l)
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(Clip(fmt.Sprint(l)))
		}
	}
	return b.String()
}

// maxClipChars is how many characters of a wrong value an error repeats: enough
// to recognize it.
const maxClipChars = 80

// Clip shortens a client's text for an error.
func Clip(s string) string { return clipTo(maxClipChars, s) }

// maxErrorChars bounds an error's text. Repeated values are clipped already; this
// cuts the texts of libraries and long paths into a schema. A list of a box's
// voices fits.
const maxErrorChars = 2000

// ClipError shortens the text of an error for the client.
func ClipError(text string) string { return clipTo(maxErrorChars, text) }

func clipTo(most int, s string) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
