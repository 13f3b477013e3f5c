package remote

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"parley/appliance/engine"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		stopServer()
		os.Exit(code)
	}))
}

// Limits that a test can wait for, each for a server that exceeds this limit and no other; a busy
// machine may take seconds for the others.
var (
	quickFirst = Limits{FirstPiece: 300 * time.Millisecond, RetryAfter: time.Millisecond}
	quickIdle  = Limits{FirstPiece: time.Minute, Idle: 300 * time.Millisecond, RetryAfter: time.Millisecond}
	quickReply = Limits{
		FirstPiece: time.Minute,
		Idle:       time.Minute,
		Reply:      time.Second,
		RetryAfter: time.Millisecond,
	}
)

// serve runs a server with this handler and returns a model on it.
func serve(t *testing.T, h http.HandlerFunc) *Model {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The server only notices after the end of the request that the client left.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h(w, r)
	}))
	m, err := Open(Options{
		BaseURL: server.URL + "/v1",
		Model:   "m",
		Key:     "the-key",
		Limits:  generousLimits,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close(); server.CloseClientConnections(); server.Close() })
	return m
}

// say writes events of a stream.
func say(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		fmt.Fprintf(w, "data: %s\n\n", e)
	}
	w.(http.Flusher).Flush()
}

func delta(text string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, text)
}

const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

var hello = engine.Prompt{Messages: []engine.Message{{Role: engine.User, Content: "Hello"}}}

func generate(ctx context.Context, m *Model) (string, error) {
	var b strings.Builder
	_, err := m.Generate(ctx, hello, func(part engine.Part) error {
		b.WriteString(part.Text)
		return nil
	})
	return b.String(), err
}

func TestEachFailureHasItsKind(t *testing.T) {
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	hang := func(events ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if len(events) > 0 {
				say(w, events...)
			}
			<-r.Context().Done()
		}
	}
	cut := func(events ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if len(events) > 0 {
				say(w, events...)
			}
			panic(http.ErrAbortHandler)
		}
	}
	for _, c := range []struct {
		name     string
		handler  http.HandlerFunc
		kind     Kind
		answered bool
		text     string
		names    string // words in the message
	}{
		{"hangs before the answer", hang(), TimedOut, false, "", "300ms"},
		{"hangs in the answer", hang(delta("One")), TimedOut, true, "One",
			"either more of the answer nor its end came within"},
		{"wrong key", status(401, `{"error":{"message":"Invalid API Key"}}`), Refused, false, "", "key_env"},
		{"forbidden", status(403, `{"error":{"message":"no"}}`), Refused, false, "", "403"},
		{"unknown model", status(404, `{"error":{"message":"no such model"}}`), Refused, false, "", `"m"`},
		{"bad request", status(400, `{"error":{"message":"too long"}}`), Refused, false, "", "too long"},
		{"too many", status(429, `{"error":{"message":"slow down"}}`), Overloaded, false, "", "slow down"},
		{"unavailable", status(503, `not even JSON`), Overloaded, false, "", "503"},
		{"loading", status(503, `{"error":{"message":"Loading model"}}`), Overloaded, false, "", "Loading model"},
		{"internal", status(500, `{}`), BadAnswer, false, "", "500"},
		{"gateway timeout", status(504, ``), TimedOut, false, "", "504"},
		{"no stream", status(200, `{"choices":[{"message":{"content":"Hi"}}]}`), BadAnswer, false, "", "/v1"},
		{"web page", status(200, `<html>Welcome</html>`), BadAnswer, false, "", "/v1"},
		{"cut before the answer", cut(), Disconnected, false, "", "broke"},
		{"cut in the answer", cut(delta("One"), delta(" two")), Disconnected, true, "One two", ""},
		{"ends without an end", func(w http.ResponseWriter, r *http.Request) {
			say(w, delta("One"))
		}, BadAnswer, true, "One", "cut off"},
		{"garbage events", func(w http.ResponseWriter, r *http.Request) {
			say(w, delta("One"), `{"choices":[{]`)
		}, BadAnswer, true, "One", ""},
		{"choices of another type", func(w http.ResponseWriter, r *http.Request) {
			say(w, `{"choices":"none"}`)
		}, BadAnswer, false, "", ""},
		{"error in the stream", func(w http.ResponseWriter, r *http.Request) {
			say(w, delta("One"), `{"error":{"message":"out of memory"}}`)
		}, BadAnswer, true, "One", "out of memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := serve(t, c.handler)
			if strings.HasPrefix(c.name, "hangs") {
				m.limits = map[bool]Limits{false: quickFirst, true: quickIdle}[c.answered].orDefault()
			}
			text, err := generate(t.Context(), m)
			fault, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("got %v, want an *Error", err)
			}
			if fault.Kind != c.kind || fault.Answered != c.answered || text != c.text {
				t.Errorf("got %s, answered %v, said %q; want %s, %v, %q (%v)", fault.Kind, fault.Answered, text, c.kind,
					c.answered, c.text, err)
			}
			if want := map[Kind]error{Unreachable: engine.ErrUnreachable, Disconnected: engine.ErrConnection,
				TimedOut: engine.ErrTimedOut, Overloaded: engine.ErrOverloaded}[c.kind]; !errors.Is(err,
				cmp.Or(want, engine.ErrBroken)) {
				t.Errorf("%v is not the engine's error of its kind", err)
			}
			if !strings.Contains(err.Error(), c.names) || strings.Contains(err.Error(), "the-key") ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("message %q: want one line that names %q and no key", err, c.names)
			}
		})
	}
}

func TestAnEndlessAnswerIsBounded(t *testing.T) {
	for piece, want := range map[string]error{
		strings.Repeat("x", 1<<16):                            errLineSize,
		strings.Repeat("data: x\n", 1<<13):                    errLineSize,
		": " + strings.Repeat("x", 1000) + "\n\n":             errAnswerSize,
		"data: " + delta("Hm") + "\n\n: and what nobody says": nil, // ends at the limit of the reply
	} {
		m := serve(t, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, piece); err != nil {
					return
				}
			}
		})
		if want == nil {
			m.limits = quickReply.orDefault()
		}
		_, err := generate(t.Context(), m)
		fault, ok := errors.AsType[*Error](err)
		if !ok || want != nil && (fault.Kind != BadAnswer || !errors.Is(err, want)) {
			t.Errorf("%.20q: got %v, want %v", piece, err, want)
		}
	}
}

// Events arrive in any pieces, with different line ends, between other lines.
func TestEventsAreReadAsTheStandardHasThem(t *testing.T) {
	const text = ": hello\r\nevent: message\r\ndata: one\r\nid: 7\r\n\r\n\n\ndata:two\ndata:  lines\n\nretry: 3\n\n" +
		"data\n\ndata: [DONE]\n\ndata: late\n\n"
	want := []string{"one", "two\n lines"}
	for _, read := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader {
		return r
	}, iotest.OneByteReader, iotest.DataErrReader} {
		s := newEventStream(read(strings.NewReader(text)), false)
		var got []string
		for {
			data, err := s.next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				break
			}
			got = append(got, string(data))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if _, err := newEventStream(strings.NewReader("data: cut off\n"), false).next(); !errors.Is(err, io.EOF) {
		t.Errorf("an event that is cut off: %v", err)
	}
}

// A server's error message is shortened to one line for the operator, in whichever form it is sent.
func TestTheWordsOfARefusalAreFoundAndBounded(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":"no such thing"}`:                                "no such thing",
		`{"error":null,"message":"busy"}`:                          "busy",
		`{"detail":"Not Found"}`:                                   "Not Found",
		`{"error":{"message":"` + strings.Repeat("a", 9e4) + `"}}`: "Bad Request",
		`<html><body>` + strings.Repeat("a", 9e4):                  "Bad Request",
	} {
		m := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, body)
		})
		_, err := generate(t.Context(), m)
		if err == nil || !strings.HasSuffix(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%.40s: %.400v; want %q", body, err, want)
		}
	}
}

func TestRetryAfterIsUnderstoodInBothForms(t *testing.T) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "0.5": 500 * time.Millisecond, "-1": 0, "soon": 0, "1e300": 0, "NaN": 0,
		"90000":                         0,
		"Tue, 01 Jan 2030 12:01:00 GMT": time.Minute, "Tue, 01 Jan 2030 11:00:00 GMT": 0,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

func TestAServerThatFailsOnceIsTriedAgainOnlyBeforeTheFirstPiece(t *testing.T) {
	var calls atomic.Int32
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		say(w, delta("Hello"), stop, "[DONE]")
	})
	if text, err := generate(t.Context(), m); err != nil || text != "Hello" || calls.Load() != 2 {
		t.Errorf("said %q, %v after %d calls, want Hello after 2", text, err, calls.Load())
	}
	calls.Store(0)
	m = serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		say(w, delta("Hel"))
		panic(http.ErrAbortHandler)
	})
	if text, err := generate(t.Context(), m); err == nil || text != "Hel" || calls.Load() != 1 {
		t.Errorf("said %q, %v after %d calls, want Hel and an error after 1", text, err, calls.Load())
	}
}

func TestAServerThatAsksForPatienceIsNotTriedAgain(t *testing.T) {
	var calls atomic.Int32
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	_, err := generate(t.Context(), m)
	fault, ok := errors.AsType[*Error](err)
	if !ok || fault.RetryAfter != 30*time.Second || calls.Load() != 1 {
		t.Errorf("%v after %d calls, want overloaded with 30 s after 1", err, calls.Load())
	}
}

func TestCancellingEndsTheRequestAtTheServerToo(t *testing.T) {
	gone := make(chan struct{})
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		say(w, delta("One"))
		<-r.Context().Done()
		close(gone)
	})
	reason := errors.New("the user spoke")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := m.Generate(ctx, hello, func(engine.Part) error { cancel(reason); return nil })
	if !errors.Is(err, reason) {
		t.Errorf("got %v, want the cause of the cancellation", err)
	}
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Error("the server's request still runs after a minute")
	}
}

func TestWhatEmitSaysEndsTheReply(t *testing.T) {
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		say(w, delta("One"), delta(" two"), stop, "[DONE]")
	})
	full := errors.New("full")
	calls := 0
	_, err := m.Generate(t.Context(), hello, func(engine.Part) error { calls++; return full })
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("got %v after %d pieces, want emit's error after 1", err, calls)
	}
}

func TestASlowListenerIsNotTheServersFault(t *testing.T) {
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		say(w, delta("One"), delta(" two"), stop, "[DONE]")
	})
	m.limits = quickIdle.orDefault()
	var text string
	_, err := m.Generate(t.Context(), hello, func(part engine.Part) error {
		time.Sleep(quickIdle.Idle + 100*time.Millisecond)
		text += part.Text
		return nil
	})
	if err != nil || text != "One two" {
		t.Errorf("said %q, %v", text, err)
	}
}

func TestPiecesAreValidUTF8(t *testing.T) {
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		say(w, "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\xffb \\ud800 caf\u00e9\"}}]}", stop, "[DONE]")
	})
	text, err := generate(t.Context(), m)
	if err != nil || !utf8.ValidString(text) || !strings.HasSuffix(text, "café") {
		t.Errorf("said %q, %v", text, err)
	}
}

// Hand-written servers leave out the finish reason; the end mark is enough.
func TestTheMarkOfTheEndEndsAnAnswerWithoutAReason(t *testing.T) {
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "data: %s\n\ndata: %s\n\ndata: [DONE]\n\n", delta("One "),
			`{"choices":[{"index":0,"delta":{"content":"two.","tool_calls":[{"index":0,"id":"a",`+
				`"function":{"name":"look","arguments":"{}"}}]}}]}`)
	})
	text, _, calls, err := reply(t.Context(), m, hello)
	if err != nil || text != "One two." || len(calls) != 1 {
		t.Errorf("%q, %v, %v", text, calls, err)
	}
}
