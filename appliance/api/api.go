// Package api serves the box over HTTP. routes.go lists every route with its
// access and limits, enforce.go applies them, and errors.go writes error
// answers. The work behind a route is done by the Parts.
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

	"golang.org/x/sync/semaphore"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/internal/limit"
	"parley/store"
)

// Parts are the parts of the box that the API calls, and its settings.
type Parts struct {
	Keys         Keys
	Chats        Chats
	Calls        Calls        // nil if calls over WebRTC are turned off
	Speaker      BoxSpeaker   // nil if the box has no loudspeaker
	PhoneStreams PhoneStreams // nil if the box takes no calls, as in tests
	Phone        BoxPhone     // nil if the box has no telephone, as in tests
	Ready        Ready
	Door         Door // nil on a box; on a hub, boxes do what needs models
	Records      *store.Store
	Voices       VoiceCatalog
	Aliases      VoiceAliases
	Models       Models
	Speech       Speech
	OpenAI       OpenAI // nil if there are no engines, as in tests
	SpeechInput  SpeechInput
	ModelStream  ModelStream // nil if no media are analysed, as in tests
	Batch        Batch       // nil if there are no jobs of analysis, as in tests
	Plugins      Plugins     // nil if the box has no plugins
	BoxPlugins   BoxPlugins  // nil if the box has no plugins
	BoxWebhooks  BoxWebhooks
	BoxHealth    BoxHealth  // nil if there is no health source, as in tests
	BoxPacks     BoxPacks   // nil if the box has no packs
	Answers      BoxAnswers // nil if the box finds no approved answers, as in tests
	BoxSetUp     BoxSetUp   // nil if the box cannot set itself up
	Fleet        Fleet      // nil unless the box is a hub
	// Running ends when the box stops. It ends the event streams; nil: they end
	// with their clients only.
	Running context.Context
	// ConfigsChanged is called after an account created or changed a config, a
	// prompt or a tool. It must not block. It may be nil.
	ConfigsChanged func(account string)
	// LexiconChanged is called after an account changed a pronunciation. It must
	// not block. It may be nil.
	LexiconChanged func(account string)
	Metrics        Metrics // may be nil
	Version        string
	Log            *slog.Logger
	// Origins are the web origins whose pages may use the API; "*" allows all.
	Origins []string
	Limits  Limits
	// Authority is the certificate (PEM) of the authority that signed the
	// box's certificate; nil unless the box made its own authority.
	Authority []byte
}

// Chats runs live chats.
type Chats interface {
	// ServeChat upgrades the request to a WebSocket and starts a chat. It may
	// return while the chat goes on; the chat watches auth until it ends. If the
	// error is not nil, nothing was written to w.
	ServeChat(w http.ResponseWriter, r *http.Request, account string, auth connection.Authorization) error
	// Follow upgrades the request to a WebSocket that follows a live chat of the
	// account, and returns when the socket or the chat ends. The chat's sound is
	// sent too if sound is true. If the error is not nil, nothing was written to
	// w; it is a contract.ErrNotFound if the account has no such live chat.
	Follow(w http.ResponseWriter, r *http.Request, account, chatID string, sound bool,
		auth connection.Authorization) error
	// Steer passes a message to a live chat of the account as if the chat's client
	// had sent it. The error is a contract.ErrNotFound if there is no such live
	// chat, and a contract.Fault if the chat rejects the message.
	Steer(account, chatID string, m contract.ClientMessage) error
	// Turns returns the newest turns of a live chat of the account, oldest first.
	// The error is a contract.ErrNotFound if there is no such live chat.
	Turns(account, chatID string) ([]contract.ReturnTurn, error)
}

// Ready reports whether a chat could start.
type Ready interface {
	// Missing returns the reasons, in words for the operator, why no chat could
	// start. It returns nothing when the box is ready.
	Missing(ctx context.Context) []string
}

// API answers HTTP requests.
type API struct {
	Parts
	mux       *http.ServeMux
	wrongKeys *wrongKeys
	passwords chan struct{} // holds a token while a password is compared
	rates     *requestRates
	recent    recentCredentials
	open      openLimiter // requests under way
	diskUse   *diskUse
	acts      *actLimiter
	now       func() time.Time
	maxStall  time.Duration
	versions  *versionCache
	bodies    sync.Pool // of *bytes.Buffer, for answers
	// decoding holds one token while a recording is decoded.
	decoding chan struct{}
	uploads  uploadLimiter
	// batchUploads limits the forms with files for jobs that are being received.
	batchUploads *limit.Limiter[string]
	searches     searchLimiter
	transcribing *semaphore.Weighted // of the recordings on the disk, in MiB
	largeBodies  largeBodies
	// documents returns the descriptions of the API, read at the first call.
	documents func() (documents, error)
}

// New returns an API that calls p.
func New(p Parts) *API {
	a := &API{
		Parts:        p,
		mux:          http.NewServeMux(),
		wrongKeys:    newWrongKeys(),
		passwords:    make(chan struct{}, 1),
		rates:        newRequestRates(p.Limits),
		recent:       newRecentCredentials(),
		open:         newOpenLimiter(p.Limits),
		diskUse:      newDiskUse(p.Limits, p.Records),
		now:          time.Now,
		maxStall:     maxStall,
		versions:     newVersionCache(),
		decoding:     make(chan struct{}, 1),
		uploads:      newUploadLimiter(),
		batchUploads: newBatchUploads(),
		searches:     newSearchLimiter(),
		transcribing: newTranscribing(),
		largeBodies:  newLargeBodies(),
	}
	a.acts = newActLimiter(a.recordAct, func() time.Time { return a.now() })
	if p.Running != nil {
		context.AfterFunc(p.Running, a.acts.flush)
	}
	a.documents = sync.OnceValues(func() (documents, error) { return readDocuments(p.Version) })
	a.register(a.routes())
	return a
}

// ServeHTTP answers a request and logs it under a new request id.
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
		aborted := p == http.ErrAbortHandler //nolint:errorlint // the panic value is not wrapped
		if p != nil && !aborted {
			a.answerPanic(answer, r, p)
		}
		answer.finish()
		if !answer.outlivesHandler {
			answer.onEnd(summarize(answer, r))
		}
		if aborted {
			panic(p) // the server closes the connection
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

// checkURL returns an error for a path without a leading slash, or a query that
// cannot be parsed.
func checkURL(r *http.Request) error {
	if !strings.HasPrefix(r.URL.Path, "/") { // OPTIONS *, CONNECT host:port
		return contract.ErrInvalid{Field: "path",
			Why: fmt.Sprintf("%.80q is not allowed; expected one that begins with /", r.RequestURI)}
	}
	// url.Query would silently drop the broken parameter.
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		return contract.ErrInvalid{Field: "query",
			Why: fmt.Sprintf("%.120s; write names and values percent-encoded, with & between them", err)}
	}
	return nil
}

// checkCleanPath returns an ErrNotFound for a path with empty, "." or ".."
// elements. The mux would redirect to the clean path with an HTML page that
// repeats the query, and with it a key.
func checkCleanPath(r *http.Request) error {
	clean := path.Clean(r.URL.Path)
	if clean != "/" && strings.HasSuffix(r.URL.Path, "/") {
		clean += "/"
	}
	if clean == r.URL.Path {
		return nil
	}
	return contract.ErrNotFound{What: "path", ID: r.URL.Path}
}

// answerPanic answers 500 after a handler panicked, and logs the panic and its
// stack.
func (a *API) answerPanic(w *response, r *http.Request, p any) {
	a.Log.ErrorContext(r.Context(), "handler panicked", "request", w.id(), "path", loggedPath(r), "panic",
		fmt.Sprint(p), "stack", string(debug.Stack()))
	a.answerError(w, r, errPanic)
}

// requestSummary is the entry of a request in the access log and the metrics.
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

// logRequest writes an entry of the access log. It leaves out the query, which
// may hold a key. Health checks are logged at debug level: they would bury the
// other entries.
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
	if t.slow {
		attrs = append(attrs, slog.Bool("too_slow", true))
	}
	a.Log.LogAttrs(context.Background(), level, "request", attrs...)
}

// loggedPath returns the path of a request, cut to 200 bytes.
func loggedPath(r *http.Request) string { return fmt.Sprintf("%.200s", r.URL.Path) }
