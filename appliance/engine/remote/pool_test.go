package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/appliance/engine"
)

// quick is a pacing that a test can wait for.
var quick = PoolOptions{
	Log:    slog.New(slog.DiscardHandler),
	Pacing: Pacing{Patience: 400 * time.Millisecond, Check: 20 * time.Millisecond, Busy: time.Minute},
}

// bounded is more than any call of a pool with the pacing quick may take on a busy machine.
const bounded = 8 * time.Second

// peer is a server whose behaviour can change.
type peer struct {
	*httptest.Server
	calls  atomic.Int32
	checks atomic.Int32
	left   chan struct{} // gets a value when a client has left before the answer was over
	handle atomic.Pointer[http.HandlerFunc]
}

func newPeer(t *testing.T, handle http.HandlerFunc) *peer {
	t.Helper()
	p := &peer{left: make(chan struct{}, 100)}
	p.handle.Store(&handle)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The server only notices after the end of the request that the client left.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method == http.MethodGet {
			p.checks.Add(1)
		} else {
			p.calls.Add(1)
		}
		defer func() {
			if r.Context().Err() != nil {
				p.left <- struct{}{}
			}
		}()
		(*p.handle.Load())(w, r)
	}))
	t.Cleanup(func() { p.CloseClientConnections(); p.Close() })
	return p
}

func (p *peer) options() Options { return Options{BaseURL: p.URL + "/v1", Model: "m", Key: "the-key"} }

// The ways in which servers fail before they answer.
var failures = map[string]http.HandlerFunc{
	"hangs":               func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	"hangs after headers": hangsAfterHeaders,
	"429":                 status(http.StatusTooManyRequests),
	"500":                 status(http.StatusInternalServerError),
	"503":                 status(http.StatusServiceUnavailable),
	"401":                 status(http.StatusUnauthorized),
	"404":                 status(http.StatusNotFound),
	"breaks":              func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"web page": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!DOCTYPE html><html>Welcome to nginx</html>")
	},
	"JSON": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"status": "ok"}`)
	},
	"nothing": func(http.ResponseWriter, *http.Request) {},
}

func hangsAfterHeaders(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "audio/pcm")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprint(w, `{"error": {"message": "not now"}}`)
	}
}

func answers(words string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"data": []}`)
			return
		}
		say(w, delta(words), stop, "[DONE]")
	}
}

func modelsOn(t *testing.T, covered bool, o PoolOptions, peers ...*peer) *ModelPool {
	t.Helper()
	var all []Options
	for _, p := range peers {
		all = append(all, p.options())
	}
	pool, err := OpenModels(all, covered, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

// ask returns the answer of a pool, which has to come in time.
func ask(t *testing.T, m engine.LanguageModel, conversation string) (string, error) {
	t.Helper()
	begun := time.Now()
	p := hello
	p.Conversation = conversation
	var said strings.Builder
	_, err := m.Generate(t.Context(), p, func(part engine.Part) error {
		said.WriteString(part.Text)
		return nil
	})
	if took := time.Since(begun); took > bounded {
		t.Errorf("it took %v", took)
	}
	return said.String(), err
}

// stateOf returns the state of a server of a pool.
func stateOf(states []engine.ServerState, p *peer) engine.ServerState {
	for _, s := range states {
		if s.Server == p.URL {
			return s
		}
	}
	return engine.ServerState{}
}

func TestAnotherServerAnswersForOneThatFails(t *testing.T) {
	for name, fails := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, good := newPeer(t, fails), newPeer(t, answers("Ten."))
			pool := modelsOn(t, false, quick, bad, good)
			pool.serves("c", 0) // it is asked first
			if said, err := ask(t, pool, "c"); said != "Ten." || err != nil {
				t.Fatalf("%q, %v", said, err)
			}
			if s := stateOf(pool.States(), bad); s.Why == "" || s.Failures != 1 || s.Server != bad.URL {
				t.Errorf("%+v", s)
			}
			s := stateOf(pool.States(), good)
			if s.State != engine.Up || s.Answers != 1 || s.Latency == 0 || s.Calls != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestARequestThatNoServerAcceptsPutsNoneDown(t *testing.T) {
	first, second := newPeer(t, status(http.StatusBadRequest)), newPeer(t, status(http.StatusBadRequest))
	pool := modelsOn(t, false, quick, first, second)
	var fault *Error
	if _, err := ask(t, pool, ""); !errors.As(err, &fault) || fault.Status != http.StatusBadRequest {
		t.Errorf("%v", err)
	}
	if n := first.calls.Load() + second.calls.Load(); n != 1 {
		t.Errorf("%d servers were asked", n)
	}
	for _, s := range pool.States() {
		if s.State != engine.Up {
			t.Errorf("%+v", s)
		}
	}
}

func TestACoveredPoolGivesUpAtOnceWhileAllServersAreDown(t *testing.T) {
	hang := failures["hangs"]
	peers := []*peer{newPeer(t, hang), newPeer(t, hang), newPeer(t, hang)}
	pacing := quick
	pacing.Pacing.Check = time.Minute
	pool := modelsOn(t, true, pacing, peers...)
	calls := func() (n int32) {
		for _, p := range peers {
			n += p.calls.Load()
		}
		return n
	}
	if _, err := ask(t, pool, ""); !errors.Is(err, engine.ErrTimedOut) {
		t.Errorf("%v", err)
	}
	before := calls()
	_, err := ask(t, pool, "")
	if !errors.Is(err, engine.ErrUnreachable) || !strings.Contains(err.Error(), "no answer began within") {
		t.Errorf("%v", err)
	}
	if calls() != before || before != 3 {
		t.Errorf("%d calls, then %d", before, calls())
	}
}

func TestAServerThatAnswersAgainIsUsedAgain(t *testing.T) {
	bad, good := newPeer(t, status(http.StatusInternalServerError)), newPeer(t, answers("Good."))
	pool := modelsOn(t, false, quick, bad, good)
	pool.serves("c", 0)
	if said, _ := ask(t, pool, "c"); said != "Good." {
		t.Fatalf("%q", said)
	}
	healed := answers("Healed.")
	bad.handle.Store(&healed)
	waitFor(t, func() bool { return stateOf(pool.States(), bad).State == engine.Up })
	pool.serves("d", 0)
	if said, err := ask(t, pool, "d"); said != "Healed." || err != nil {
		t.Errorf("%q, %v", said, err)
	}
	checks := bad.checks.Load()
	if checks == 0 || good.checks.Load() != 0 {
		t.Errorf("%d checks of the one, %d of the other", checks, good.checks.Load())
	}
	time.Sleep(5 * quick.Pacing.Check) // in which a server that is up is not checked
	if n := bad.checks.Load(); n != checks {
		t.Errorf("%d checks, later %d", checks, n)
	}
}

func TestAnOverloadedServerIsLeftAloneForAsLongAsItAsks(t *testing.T) {
	busy := newPeer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "1")
		status(http.StatusServiceUnavailable)(w, r)
	})
	good := newPeer(t, answers("Good."))
	pool := modelsOn(t, false, quick, busy, good)
	pool.serves("c", 0)
	begun := time.Now()
	for time.Since(begun) < 700*time.Millisecond {
		if said, err := ask(t, pool, "c"); said != "Good." || err != nil {
			t.Fatalf("%q, %v", said, err)
		}
		pool.serves("c", 0)
	}
	if n := busy.calls.Load(); n != 1 {
		t.Errorf("it was asked %d times within its time", n)
	}
	if s := stateOf(pool.States(), busy); s.State != engine.Busy {
		t.Errorf("%+v", s)
	}
	waitFor(t, func() bool { return stateOf(pool.States(), busy).State == engine.Up })
	if busy.checks.Load() != 0 {
		t.Error("it was checked")
	}
}

// Two calls at the same time go to two servers, and a conversation stays with its server.
func TestTheLeastLoadedServerIsAsked(t *testing.T) {
	release := make(chan struct{})
	waits := func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		say(w, delta("Ten."), stop, "[DONE]")
	}
	peers := []*peer{newPeer(t, waits), newPeer(t, waits), newPeer(t, waits)}
	o := quick
	o.Pacing.Patience = time.Minute
	pool := modelsOn(t, false, o, peers...)
	answered := make(chan error, 3)
	for i := range 3 {
		go func() {
			_, err := ask(t, pool, fmt.Sprint(i))
			answered <- err
		}()
		waitFor(t, func() bool { return calls(pool.States()) == i+1 })
	}
	for i, p := range peers {
		waitFor(t, func() bool { return p.calls.Load() == 1 })
		if s := stateOf(pool.States(), p); s.Calls != 1 {
			t.Errorf("server %d: %+v", i, s)
		}
	}
	close(release)
	for range 3 {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
	before := pool.request(engine.Prompt{Conversation: "1"}).prefer
	for range 5 {
		if _, err := ask(t, pool, "1"); err != nil {
			t.Error(err)
		}
	}
	if n := peers[before].calls.Load(); n != 6 {
		t.Errorf("the conversation's server was asked %d times, want 6", n)
	}
}

func calls(states []engine.ServerState) (n int) {
	for _, s := range states {
		n += s.Calls
	}
	return n
}

// A server that is late goes on when another one is asked too, and may still be the first.
func TestASlowServerIsNotGivenUp(t *testing.T) {
	o := quick
	o.Pacing.Patience = 300 * time.Millisecond
	slowly := newPeer(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(900 * time.Millisecond):
			answers("Slowly.")(w, r)
		case <-r.Context().Done():
		}
	})
	hangs := newPeer(t, failures["hangs"])
	pool := modelsOn(t, false, o, slowly, hangs)
	pool.serves("c", 0)
	if said, err := ask(t, pool, "c"); said != "Slowly." || err != nil {
		t.Errorf("%q, %v", said, err)
	}
	<-hangs.left
	if s := stateOf(pool.States(), slowly); s.State != engine.Up || s.Failures != 0 {
		t.Errorf("%+v", s)
	}
	if s := stateOf(pool.States(), hangs); s.Failures != 1 {
		t.Errorf("it had twice the patience: %+v", s)
	}
}

// What a server has begun is not begun again by another, which would repeat words. The next call of
// the conversation goes elsewhere.
func TestAnAnswerThatBreaksOffIsNotBegunAgain(t *testing.T) {
	dies := newPeer(t, func(w http.ResponseWriter, _ *http.Request) {
		say(w, delta("It opens at "))
		panic(http.ErrAbortHandler)
	})
	good := newPeer(t, answers("Ten."))
	pool := modelsOn(t, false, quick, dies, good)
	pool.serves("c", 0)
	said, err := ask(t, pool, "c")
	var fault *Error
	if said != "It opens at " || !errors.As(err, &fault) || !fault.Answered || !errors.Is(err, engine.ErrConnection) {
		t.Errorf("%q, %v", said, err)
	}
	if said, err := ask(t, pool, "c"); said != "Ten." || err != nil {
		t.Errorf("%q, %v", said, err)
	}
	if !pool.Continues() || modelsOn(t, false, quick, good).Continues() {
		t.Error("a pool of two continues answers, and a single server does not")
	}
}

func TestACancelledGuessEndsOnTheWire(t *testing.T) {
	p := newPeer(t, func(w http.ResponseWriter, r *http.Request) {
		say(w, delta("It opens at "))
		<-r.Context().Done()
	})
	pool := modelsOn(t, false, quick, p)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := pool.Generate(ctx, hello, func(engine.Part) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	select {
	case <-p.left:
	case <-time.After(bounded):
		t.Error("the server still works")
	}
	if s := stateOf(pool.States(), p); s.State != engine.Up || s.Failures != 0 {
		t.Errorf("%+v", s)
	}
}

// The error of a caller is neither the server's, nor one for which others are tried.
func TestTheErrorOfACallerIsItsOwn(t *testing.T) {
	a, b := newPeer(t, answers("A.")), newPeer(t, answers("B."))
	pool := modelsOn(t, false, quick, a, b)
	enough := errors.New("enough")
	_, err := pool.Generate(t.Context(), hello, func(engine.Part) error { return enough })
	if !errors.Is(err, enough) || a.calls.Load()+b.calls.Load() != 1 {
		t.Errorf("%v, %d and %d calls", err, a.calls.Load(), b.calls.Load())
	}
}

func TestWarmingToleratesServersThatAreDownButNoneThatAllRefuse(t *testing.T) {
	refuses, good, down := newPeer(t, status(http.StatusUnauthorized)), newPeer(t, answers("A.")), newPeer(t, nil)
	down.Close()
	if err := modelsOn(t, false, quick, refuses, down, good).Warm(t.Context()); err != nil {
		t.Errorf("%v", err)
	}
	var fault *Error
	if err := modelsOn(t, false, quick, down, refuses).Warm(t.Context()); !errors.As(err, &fault) ||
		fault.Kind != Refused {
		t.Errorf("%v", err)
	}
}

// The system prompt is read by all servers before the first conversation, and by none once it has begun.
// Servers that do not know the name of a conversation are asked without.
func TestPromptsArePrefilledOnAllServers(t *testing.T) {
	var mu sync.Mutex
	var keys []string
	old := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var q chatRequest
		if err := json.Unmarshal(body, &q); err != nil || q.Messages[0].Content != "Be kind." {
			t.Errorf("%s, %v", body, err)
		}
		mu.Lock()
		keys = append(keys, q.PromptCacheKey)
		mu.Unlock()
		if q.PromptCacheKey != "" {
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"message": "prompt_cache_key: extra inputs are not permitted"}`)
			return
		}
		say(w, delta("Hi"), stop, "[DONE]")
	}
	a, b, down := newPeer(t, old), newPeer(t, answers("Hi")), newPeer(t, nil)
	down.Close()
	pool := modelsOn(t, false, quick, a, b, down)
	p := engine.Prompt{Messages: []engine.Message{{Role: engine.System, Content: "Be kind."}}}
	for range 2 {
		if err := pool.Prefill(t.Context(), p); err != nil {
			t.Error(err)
		}
	}
	if !strings.HasPrefix(keys[0], "prompt ") || !slices.Equal(keys[1:], []string{"", ""}) || b.calls.Load() != 2 {
		t.Errorf("%q, %d calls", keys, b.calls.Load())
	}
	p.Conversation = "c"
	if err := pool.Prefill(t.Context(), p); err != nil || b.calls.Load() != 2 {
		t.Errorf("%v, %d calls", err, b.calls.Load())
	}
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(bounded); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never comes true")
		}
	}
}
