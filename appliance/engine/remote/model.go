// Package remote is an engine.LanguageModel on a server that speaks the OpenAI
// API: another machine of the operator's, or a service. It is used only when
// the operator names that server; nothing else of the box calls out.
package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"parley/appliance/engine"
)

// Limits are how long a server may take. Someone is waiting on the line, so
// each is the time after which saying sorry beats waiting on.
type Limits struct {
	// FirstPiece covers connecting (5 s at most of it), the queue and reading
	// the prompt: past 10 s a caller believes the line is dead.
	FirstPiece time.Duration
	// Idle is between two pieces. Speech made so far is still playing
	// meanwhile, so it may be longer: 15 s.
	Idle time.Duration
	// Reply bounds the whole answer, against servers that drip: 2 min is the
	// default number of tokens at under two a second.
	Reply time.Duration
	// RetryAfter is the pause before the one second try, made only when
	// nothing was answered yet: 250 ms outlasts a server's restart of a worker
	// and stays below what a listener notices.
	RetryAfter time.Duration
}

// orDefault is l with the defaults in place of what is zero.
func (l Limits) orDefault() Limits {
	standard := defaultLimits()
	return Limits{
		FirstPiece: cmp.Or(l.FirstPiece, standard.FirstPiece),
		Idle:       cmp.Or(l.Idle, standard.Idle),
		Reply:      cmp.Or(l.Reply, standard.Reply),
		RetryAfter: cmp.Or(l.RetryAfter, standard.RetryAfter),
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

// defaultTokens is the length of a reply when the prompt names none: about a
// minute of speech.
const defaultTokens = 160

// Options say which server to use.
type Options struct {
	BaseURL string // such as http://127.0.0.1:8000/v1
	Model   string // the model's name there
	Key     string // sent as a bearer token; empty: none is sent
	Limits  Limits // a zero limit means the default
}

// Model is a language model on a server. It keeps nothing of a conversation;
// servers that cache prompts find the beginning again by themselves.
type Model struct {
	client  *http.Client
	address string // of its chat completions
	key     string
	model   string
	server  string // scheme and host, for messages
	limits  Limits
	// custom says that it is a custom language model, whose server may speak the
	// API freely, and is told more than the API has.
	custom bool
	// newTokenName is set once the server refused max_tokens in favour of
	// max_completion_tokens, as the newest models do.
	newTokenName atomic.Bool
	// noTemperature is set once the server refused a temperature, as models do
	// that think before they answer.
	noTemperature atomic.Bool
}

// Open prepares to use a server; it does not call it. The error names the
// option that is wrong.
func Open(o Options) (*Model, error) {
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("remote model: %q is not a base URL: use http://HOST:PORT/v1 or https://HOST/v1",
			o.BaseURL)
	}
	if o.Model == "" {
		return nil, fmt.Errorf("remote model: no model named for %s", o.BaseURL)
	}
	return &Model{
		client:  newClient(u),
		address: u.JoinPath("chat", "completions").String(),
		key:     o.Key,
		model:   o.Model,
		server:  u.Scheme + "://" + u.Host,
		limits:  o.Limits.orDefault(),
	}, nil
}

var _ engine.LanguageModel = (*Model)(nil)

// Generate streams the server's reply. A server that fails before it answered
// anything is tried a second time; after that, and after the first piece, the
// error is an *Error, or ctx's when ctx ended, or emit's.
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
	if fault == nil {
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

// unanswered is the server's failure before anything was answered; nil: it is
// another one, or none.
func unanswered(err error) *Error {
	if fault, ok := errors.AsType[*Error](err); ok && !fault.Answered {
		return fault
	}
	return nil
}

// adapts reports whether the server refused something of the API that the model
// has not, or has under another name, and was not known for that: then it is
// asked otherwise from now on.
func (m *Model) adapts(fault *Error) bool {
	switch {
	case fault.wants("max_completion_tokens"):
		return m.newTokenName.CompareAndSwap(false, true)
	case fault.wants("temperature"):
		return m.noTemperature.CompareAndSwap(false, true)
	}
	return false
}

// Prefill does nothing: the server has its own cache.
func (m *Model) Prefill(context.Context, engine.Prompt) error { return nil }

// Forget gives up the connections that are kept for a custom language model,
// which has one conversation; of others nothing is kept.
func (m *Model) Forget(string) {
	if m.custom {
		m.client.CloseIdleConnections()
	}
}

// Warm asks for one token, so that the server loads its model and a wrong
// address, key or model name is known before anyone speaks.
func (m *Model) Warm(ctx context.Context) error {
	p := engine.Prompt{Messages: []engine.Message{{Role: engine.User, Content: "Hello."}}, MaxTokens: 1}
	_, err := m.Generate(ctx, p, func(engine.Part) error { return nil })
	return err
}

// Describe names the model and where it is.
func (m *Model) Describe() string { return m.model + " at " + m.server }

// Close gives up the connections that are kept. No call may be under way.
func (m *Model) Close() error {
	m.client.CloseIdleConnections()
	return nil
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

// exchange asks a question and reads its answer, which is never nil.
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
	case a.emitError != nil: // emit's own error
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
