// Package api is the box over HTTP: which path leads where, who may take it,
// and how an error is answered. What is done there is the business of others.
package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// Parts are what the API needs of the rest of the box.
type Parts struct {
	Keys    Keys
	Chats   Chats
	Ready   Ready
	Records *store.Store // of configs, prompts and tools, and of the history
	Voices  Voices
	Models  Models
	// Metrics counts what the box does, for the Operators; nil where nobody
	// does, and where the requests of tests are not worth counting.
	Metrics   Metrics
	Operators Operators
	Version   string
	Log       *slog.Logger
	// Origins are the web origins whose pages may use the API; "*" for all.
	Origins []string
	// Authority is the certificate (PEM) of the authority that signed the
	// box's own; nil where the box has not made one.
	Authority []byte
}

// Chats carries live conversations.
type Chats interface {
	// ServeChat upgrades the request and returns when the conversation is
	// over. An error means that nothing was answered yet. still says whether
	// who opened the conversation may go on with it: a
	// contract.ErrUnauthorized says no, another error that it is not known.
	ServeChat(w http.ResponseWriter, r *http.Request, account string, still func(context.Context) error) error
}

// Ready knows whether a conversation could start.
type Ready interface {
	// Missing says what keeps one from it, in words for the operator; nothing
	// when it could.
	Missing(ctx context.Context) []string
}

// API answers HTTP requests.
type API struct {
	Parts
	mux   *http.ServeMux
	tries tries
	now   func() time.Time
	// contents of versions, as they were read.
	contents *contents
	bodies   sync.Pool // of *bytes.Buffer, for answers
	// decoding is taken by who decodes a recording.
	decoding chan struct{}
	// documents are the descriptions of the API, made when first asked for.
	documents func() (documents, error)
}

// New returns the API over its parts.
func New(p Parts) *API {
	a := &API{Parts: p, mux: http.NewServeMux(), now: time.Now, contents: &contents{}, decoding: make(chan struct{}, 1)}
	a.documents = sync.OnceValues(a.makeDocuments)
	a.register(a.routes())
	return a
}

// maxBody is the largest body of a request without files: the longest prompt or
// tool is a few hundred KB.
const maxBody = 4 << 20

// ServeHTTP gives the request its id, answers it, and logs what came of it.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	answer := &response{ResponseWriter: w}
	id := contract.NewID()
	answer.Header().Set("X-Request-Id", id)
	answer.Header().Set("X-Content-Type-Options", "nosniff")
	defer func() {
		if p := recover(); p != nil {
			a.recovered(answer, r, p)
		}
		a.logged(answer, r, begun)
		if a.Metrics != nil {
			a.Metrics.Answered(r.Pattern, r.Method, answer.status, time.Since(begun))
		}
	}()
	if a.cross(answer, r) {
		return
	}
	if err := unreadable(r); err != nil {
		a.refuse(answer, r, err)
		return
	}
	r.Body = http.MaxBytesReader(answer, r.Body, maxBody)
	a.mux.ServeHTTP(answer, r)
}

// unreadable says what keeps a request from being looked at, or nil.
func unreadable(r *http.Request) error {
	if r.ContentLength > maxBody {
		return contract.ErrTooLarge{Limit: maxBody}
	}
	if !strings.HasPrefix(r.URL.Path, "/") { // OPTIONS *, CONNECT host:port
		return contract.ErrInvalid{Field: "path", Why: fmt.Sprintf("%.80q is not allowed; expected one that begins with /", r.RequestURI)}
	}
	// A query that is broken in one place would be read as if that were not there.
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		return contract.ErrInvalid{Field: "query", Why: fmt.Sprintf("%.120s; write names and values percent-encoded, with & between them", err)}
	}
	return nil
}

// recovered answers for a handler that panicked. Only the log says more.
func (a *API) recovered(w *response, r *http.Request, p any) {
	if p == http.ErrAbortHandler { //nolint:errorlint // it is the value itself that is thrown
		panic(p)
	}
	a.Log.ErrorContext(r.Context(), "a handler panicked", "request", w.id(), "path", shownPath(r), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	a.refuse(w, r, errPanic)
}

// logged writes the access log: the path without its query, which may hold a
// key. Requests of watchdogs would drown the rest.
func (a *API) logged(w *response, r *http.Request, begun time.Time) {
	level := slog.LevelInfo
	if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
		level = slog.LevelDebug
	}
	a.Log.LogAttrs(r.Context(), level, "request",
		slog.String("request", w.id()), slog.String("client", r.RemoteAddr),
		slog.String("method", r.Method), slog.String("path", shownPath(r)),
		slog.Int("status", w.status), slog.Int64("bytes", w.bytes),
		slog.Int64("ms", time.Since(begun).Milliseconds()))
}

// shownPath is the path for the log: clients choose how long theirs is.
func shownPath(r *http.Request) string { return fmt.Sprintf("%.200s", r.URL.Path) }

// response remembers what was answered.
type response struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *response) id() string { return w.Header().Get("X-Request-Id") }

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController flush and hijack.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
