// Package remote implements language models, transcribers and voices with servers that speak the
// OpenAI API: other machines of the operator, or a service. Several servers that serve the same form
// a pool. They are only used if the operator names them; nothing else in the box calls out.
package remote

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"parley/appliance/engine"
)

// Limits are the time limits of a server. A user waits on the line, so each is the time after which
// an apology is better than waiting.
type Limits struct {
	// FirstPiece covers connecting (at most 5 s of it), the server's queue and its prefill of the
	// prompt. After 10 s a caller believes the line is dead.
	FirstPiece time.Duration
	// Idle is the time between two pieces. Earlier speech still plays meanwhile, so it may be
	// longer: 15 s.
	Idle time.Duration
	// Reply limits the whole answer of a slow server: 2 min is the default number of tokens at less
	// than two a second.
	Reply time.Duration
	// RetryAfter is the pause before the single retry, which is made only if nothing was answered
	// yet: 250 ms outlasts the restart of a server's worker and is less than a listener notices.
	RetryAfter time.Duration
}

// orDefault replaces zero limits with the defaults.
func (l Limits) orDefault() Limits { return l.or(defaultLimits()) }

// or replaces zero limits with others.
func (l Limits) or(others Limits) Limits {
	return Limits{
		FirstPiece: cmp.Or(l.FirstPiece, others.FirstPiece),
		Idle:       cmp.Or(l.Idle, others.Idle),
		Reply:      cmp.Or(l.Reply, others.Reply),
		RetryAfter: cmp.Or(l.RetryAfter, others.RetryAfter),
	}
}

func defaultLimits() Limits {
	return Limits{
		FirstPiece: 10 * time.Second,
		Idle:       15 * time.Second,
		Reply:      2 * time.Minute,
		RetryAfter: 250 * time.Millisecond,
	}
}

// defaultTokens limits a reply if the prompt does not: about a minute of speech.
const defaultTokens = 160

// Options select the server.
type Options struct {
	BaseURL string // such as http://127.0.0.1:8000/v1
	Model   string // the name of the model on the server
	Key     string // sent as a bearer token; empty: none
	Limits  Limits // zero limits mean the defaults
	// Once turns off the single retry, for a server of a pool.
	Once bool
}

// Model is a language model on a server. It keeps no conversations; servers with a prompt cache
// recognise the beginning by themselves.
type Model struct {
	server
	address string // URL of its chat completions
	tryOnce bool
	// newTokenName is set when the server has refused max_tokens in favour of
	// max_completion_tokens, as the newest models do.
	newTokenName atomic.Bool
	// noCacheKey is set when the server has refused prompt_cache_key, which older ones do not know.
	noCacheKey atomic.Bool
	// noTemperature is set when the server has refused a temperature, as reasoning models do.
	noTemperature atomic.Bool
}

// Open prepares the use of a server without calling it. An error names the wrong option.
func Open(o Options) (*Model, error) {
	s, err := openServer(languageModel, o)
	if err != nil {
		return nil, err
	}
	return &Model{server: s, address: s.base.JoinPath("chat", "completions").String(), tryOnce: o.Once}, nil
}

var _ engine.LanguageModel = (*Model)(nil)

// Generate streams the server's reply. Unless Options.Once is set, it retries once if the server fails
// before it has answered anything. The final error is an *Error, the error of ctx if ctx ended, or the error of emit.
func (m *Model) Generate(ctx context.Context, p engine.Prompt, emit func(engine.Part) error) (engine.Usage, error) {
	start := time.Now()
	if err := unsupported(p); err != nil {
		return engine.Usage{}, err
	}
	u, err := m.once(ctx, start, p, emit)
	for fault := unanswered(err); fault != nil && m.adapts(fault); fault = unanswered(err) {
		u, err = m.once(ctx, start, p, emit)
	}
	fault := unanswered(err)
	if fault == nil || m.tryOnce {
		return u, err
	}
	switch {
	case fault.Kind == Unreachable && !isNotAllowed(fault), fault.Kind == Disconnected && brokenConnection(fault.Err),
		fault.Kind == Overloaded && fault.RetryAfter <= m.limits.RetryAfter:
		select {
		case <-time.After(m.limits.RetryAfter):
		case <-ctx.Done():
			return u, context.Cause(ctx)
		}
	default:
		return u, err
	}
	return m.once(ctx, start, p, emit)
}

// unanswered returns the server's failure if it happened before anything was answered, or nil.
func unanswered(err error) *Error {
	if fault, ok := errors.AsType[*Error](err); ok && !fault.Answered {
		return fault
	}
	return nil
}

// adapts reports whether the server has refused a parameter that the model does not have, or has
// under another name, for the first time. Later requests leave it out or rename it.
func (m *Model) adapts(fault *Error) bool {
	switch {
	case fault.wants("max_completion_tokens"):
		return m.newTokenName.CompareAndSwap(false, true)
	case fault.wants("prompt_cache_key"):
		return m.noCacheKey.CompareAndSwap(false, true)
	case fault.wants("temperature"):
		return m.noTemperature.CompareAndSwap(false, true)
	}
	return false
}

// Prefill does nothing, since the server has its own cache.
func (m *Model) Prefill(context.Context, engine.Prompt) error { return nil }

// Forget closes the idle connections of a custom language model, which serves one conversation. For
// other models it does nothing.
func (m *Model) Forget(string) {
	if m.custom {
		m.client.CloseIdleConnections()
	}
}

// Warm requests one token, so that the server loads its model and a wrong address, key or model
// name is detected early.
func (m *Model) Warm(ctx context.Context) error {
	p := engine.Prompt{Messages: []engine.Message{{Role: engine.User, Content: "Hello."}}, MaxTokens: 1}
	_, err := m.Generate(ctx, p, func(engine.Part) error { return nil })
	return err
}

// once makes one request. start is when the caller began to wait.
func (m *Model) once(ctx context.Context, start time.Time, p engine.Prompt, emit func(engine.Part) error) (engine.Usage,
	error) {
	q := m.chatRequest(p)
	if m.custom {
		q = m.customRequest(p)
	}
	a, err := m.exchange(ctx, start, q, emit)
	return *a.usage, err
}

// exchange sends a request and reads its answer, which is never nil.
func (m *Model) exchange(ctx context.Context, start time.Time, q chatRequest, emit func(engine.Part) error) (*answer,
	error) {
	watched, watch := newTimeouts(ctx, m.limits, start)
	defer watch.stop()
	a := &answer{
		start:    start,
		timeouts: watch,
		emit:     emit,
		usage:    &engine.Usage{},
		custom:   m.custom,
	}
	response, err := m.post(watched, q)
	if err != nil {
		return a, m.fault(watched, ctx, err, false)
	}
	defer response.Body.Close()
	a.closes = response.ProtoMajor == 1 && response.ContentLength < 0 && len(response.TransferEncoding) == 0 &&
		!response.Uncompressed
	err = a.readStream(newEventStream(response.Body, m.custom))
	switch {
	case a.emitError != nil: // the error of emit
		return a, a.emitError
	case err != nil:
		return a, m.fault(watched, ctx, err, a.begun)
	case a.events == 0:
		return a, m.bad(false, noEvents, "the answer holds no event of a stream: is this an OpenAI-compatible "+
			"address (it often ends in /v1), and does the server stream?")
	case !a.finished && !m.custom:
		return a, m.bad(a.begun, "", "the answer was cut off before its end")
	}
	return a, nil
}
