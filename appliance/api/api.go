// Package api is the box over HTTP: which path leads where, who may take it,
// and how an error is answered. What is done there is the business of others.
package api

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/store"
)

// Parts are what the API needs of the rest of the box.
type Parts struct {
	Keys        Keys
	Chats       Chats
	Calls       Calls      // nil where the box takes none
	Speaker     BoxSpeaker // nil where the box has none
	Ready       Ready
	Records     *store.Store // of configs, prompts and tools, and of the history
	Voices      VoiceCatalog
	Aliases     VoiceAliases
	Models      Models
	Speech      Speech
	SpeechInput SpeechInput
	Plugins     Plugins // nil where the box has none
	// BoxPlugins looks after plugins; nil where the box has none.
	BoxPlugins BoxPlugins
	// BoxWebhooks tells and tries webhooks.
	BoxWebhooks BoxWebhooks
	BoxHealth   BoxHealth
	BoxPacks    BoxPacks
	// Running ends when the box stops, and with it what is answered for as long as
	// somebody listens; nil: never.
	Running context.Context
	// ConfigsChanged is told of an account that made or changed a config, a tool or a
	// prompt; nil where nobody asks. It must not block.
	ConfigsChanged func(account string)
	// LexiconChanged is told of an account that changed how its words are
	// pronounced; nil where nobody asks. It must not block.
	LexiconChanged func(account string)
	// Metrics counts what the box does; nil where nobody reads it.
	Metrics Metrics
	Version string
	Log     *slog.Logger
	// Origins are the web origins whose pages may use the API; "*" for all.
	Origins []string
	Limits  Limits
	// Authority is the certificate (PEM) of the authority that signed the
	// box's own; nil where the box has not made one.
	Authority []byte
}

// Chats carries live conversations.
type Chats interface {
	// ServeChat upgrades the request. It may return while the conversation goes
	// on, which watches the pass for as long as it does. An error means that
	// nothing was answered yet.
	ServeChat(w http.ResponseWriter, r *http.Request, account string, pass connection.Authorization) error
	// Follow upgrades the request of somebody who connects to a live chat of the
	// account, and returns when either is over; the chat's sound comes along if
	// that is wanted. Errors are as those of ServeChat, and a contract.ErrNotFound
	// where there is no such chat.
	Follow(w http.ResponseWriter, r *http.Request, account, chatID string, sound bool,
		pass connection.Authorization) error
	// Steer hands a message to a live chat of the account, as its client's. The
	// error is a contract.ErrNotFound where there is none, and a contract.Fault
	// for a message that the chat does not take.
	Steer(account, chatID string, m contract.ClientMessage) error
	// Turns are the newest turns of a live chat of the account, the oldest first. The
	// error is a contract.ErrNotFound where there is no such chat.
	Turns(account, chatID string) ([]contract.ReturnTurn, error)
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
	mux       *http.ServeMux
	wrongKeys *wrongKeys
	rates     *requestRates
	recent    recentCredentials
	open      openLimiter // of requests that are being answered
	diskUse   *diskUse
	now       func() time.Time
	// maxStall is how long a client may send or take nothing.
	maxStall time.Duration
	// contents of versions, as they were read.
	versions *versionCache
	bodies   sync.Pool // of *bytes.Buffer, for answers
	// decoding is taken by who decodes a recording.
	decoding chan struct{}
	uploads  uploadLimiter
	searches searchLimiter
	// documents are the descriptions of the API, read when first asked for.
	documents func() (documents, error)
}

// New returns the API over its parts.
func New(p Parts) *API {
	a := &API{
		Parts:     p,
		mux:       http.NewServeMux(),
		wrongKeys: newWrongKeys(),
		rates:     newRequestRates(p.Limits),
		recent:    newRecentCredentials(),
		open:      newOpenLimiter(p.Limits),
		diskUse:   newDiskUse(p.Limits, p.Records),
		now:       time.Now,
		maxStall:  maxStall,
		versions:  newVersionCache(),
		decoding:  make(chan struct{}, 1),
		uploads:   newUploadLimiter(),
		searches:  newSearchLimiter(),
	}
	a.documents = sync.OnceValues(func() (documents, error) { return readDocuments(p.Version) })
	a.register(a.routes())
	return a
}

// ServeHTTP gives the request its id, answers it, and logs what came of it.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	answer := newResponse(w, r, a.maxStall)
	answer.onEnd = func(t requestSummary) {
		a.logRequest(t, time.Since(begun))
		if a.Metrics != nil {
			a.Metrics.Answered(t.pattern, t.method, t.status, time.Since(begun))
		}
	}
	id := contract.NewID()
	answer.Header().Set("X-Request-Id", id)
	answer.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = newProgressBody(r.Body, answer)
	}
	defer func() {
		p := recover()
		aborted := p == http.ErrAbortHandler //nolint:errorlint // it is the value itself that is thrown
		if p != nil && !aborted {
			a.answerPanic(answer, r, p)
		}
		answer.finish()
		if !answer.outlivesHandler {
			answer.onEnd(summarize(answer, r))
		}
		if aborted {
			panic(p) // for the server, which cuts the answer off
		}
	}()
	if a.cors(answer, r) {
		return
	}
	if err := cmp.Or(checkURL(r), checkCleanPath(r)); err != nil {
		a.answerError(answer, r, cmp.Or(a.rates.allowAddress(r, false), err))
		return
	}
	leave, err := a.open.enter(address(r))
	if err != nil {
		a.answerError(answer, r, err)
		return
	}
	answer.release = leave
	defer func() {
		if !answer.outlivesHandler {
			leave()
		}
	}()
	a.mux.ServeHTTP(answer, r)
}

// checkURL says what keeps a request from being looked at, or nil.
func checkURL(r *http.Request) error {
	if !strings.HasPrefix(r.URL.Path, "/") { // OPTIONS *, CONNECT host:port
		return contract.ErrInvalid{Field: "path",
			Why: fmt.Sprintf("%.80q is not allowed; expected one that begins with /", r.RequestURI)}
	}
	// A query that is broken in one place would be read as if that were not there.
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		return contract.ErrInvalid{Field: "query",
			Why: fmt.Sprintf("%.120s; write names and values percent-encoded, with & between them", err)}
	}
	return nil
}

// checkCleanPath says that there is nothing at a path with empty, "." or ".." elements, or
// nil. The mux would answer with a redirect of its own to the straight one, in HTML,
// which repeats the query and the key that may be in it.
func checkCleanPath(r *http.Request) error {
	straight := path.Clean(r.URL.Path)
	if straight != "/" && strings.HasSuffix(r.URL.Path, "/") {
		straight += "/"
	}
	if straight == r.URL.Path {
		return nil
	}
	return contract.ErrNotFound{What: "path", ID: r.URL.Path}
}

// answerPanic answers for a handler that panicked. Only the log says more.
func (a *API) answerPanic(w *response, r *http.Request, p any) {
	a.Log.ErrorContext(r.Context(), "a handler panicked", "request", w.id(), "path", loggedPath(r), "panic",
		fmt.Sprint(p), "stack", string(debug.Stack()))
	a.answerError(w, r, errPanic)
}

// requestSummary is what the log and the figures say of a request.
type requestSummary struct {
	id, client, method, path, pattern string
	status                            int
	bytes                             int64
	slow                              bool
}

func summarize(w *response, r *http.Request) requestSummary {
	return requestSummary{
		id:      w.id(),
		client:  r.RemoteAddr,
		method:  r.Method,
		path:    loggedPath(r),
		pattern: r.Pattern,
		status:  w.status,
		bytes:   w.bytes,
		slow:    w.slow,
	}
}

// logRequest writes the access log: the path without its query, which may hold a
// key. Requests of watchdogs would drown the rest.
func (a *API) logRequest(t requestSummary, took time.Duration) {
	level := slog.LevelInfo
	if t.path == "/healthz" || t.path == "/readyz" {
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("request", t.id), slog.String("client", t.client),
		slog.String("method", t.method), slog.String("path", t.path),
		slog.Int("status", t.status), slog.Int64("bytes", t.bytes),
		slog.Int64("ms", took.Milliseconds()),
	}
	if t.slow { // it was cut off for that
		attrs = append(attrs, slog.Bool("too_slow", true))
	}
	a.Log.LogAttrs(context.Background(), level, "request", attrs...)
}

// loggedPath is the path for the log: clients choose how long theirs is.
func loggedPath(r *http.Request) string { return fmt.Sprintf("%.200s", r.URL.Path) }
