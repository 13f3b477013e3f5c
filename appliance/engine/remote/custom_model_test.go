package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/appliance/engine"
)

// received is a request to a custom language model.
type received struct {
	path, session, key string
	body               map[string]any
}

// customServer answers each request with one of the handlers, the last one for all later requests,
// and returns what it received.
func customServer(t *testing.T, handlers ...http.HandlerFunc) (Custom, <-chan received) {
	t.Helper()
	return limitedServer(t, generousLimits, handlers...)
}

// limitedServer is a server with these time limits.
func limitedServer(t *testing.T, limits Limits, handlers ...http.HandlerFunc) (Custom, <-chan received) {
	t.Helper()
	requests := make(chan received, 100)
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := received{path: r.URL.Path, session: r.URL.Query().Get("custom_session_id"),
			key: r.Header.Get("Authorization")}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &a.body); err != nil {
			t.Errorf("asked %q", body)
		}
		requests <- a
		h := handlers[min(n, len(handlers)-1)]
		n++
		h(w, r)
	}))
	m, err := OpenCustom(CustomOptions{URL: s.URL + "/deep/chat/completions?tenant=7#part", Limits: limits,
		Allowed: here(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close(); s.CloseClientConnections(); s.Close() })
	return m, requests
}

// raw answers with these bytes, piece by piece.
func raw(kind string, pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		for _, p := range pieces {
			_, _ = io.WriteString(w, p)
			w.(http.Flusher).Flush()
		}
	}
}

// closing answers like an HTTP/1.0 server: closing the connection ends the answer, whether or not
// it is complete.
func closing(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+
			strings.Join(pieces, ""))
	}
}

// drips sends the same event forever.
func drips(event string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			raw("text/event-stream", "data: "+event+"\n\n")(w, r)
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// reply returns all text of an answer.
func reply(ctx context.Context, m engine.LanguageModel, p engine.Prompt) (text, session string, calls []engine.ToolCall,
	err error) {
	_, err = m.Generate(ctx, p, func(part engine.Part) error {
		text += part.Text
		if part.Session != "" {
			session = part.Session
		}
		if part.Call != nil {
			calls = append(calls, *part.Call)
		}
		return nil
	})
	return text, session, calls, err
}

type scores map[string]float64

func (s scores) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]float64(s)) }

func TestACustomModelIsAskedAsThoseOfTheOldServiceWere(t *testing.T) {
	m, requests := customServer(t, raw("text/event-stream", "data: "+delta("Hi.")+"\n\n", "data: [DONE]\n\n"))
	p := engine.Prompt{
		Session:     "a&b c",
		Key:         "k",
		Temperature: 0.5,
		MaxTokens:   120,
		Messages: []engine.Message{
			{Role: engine.System},
			{
				Role:    engine.User,
				Content: "Hello.",
				Begin:   100 * time.Millisecond,
				End:     900 * time.Millisecond,
				Scores:  scores{"Joy": 0.25},
			},
			{Role: engine.Assistant, Content: "Hello."},
			{Role: engine.User, Content: "typed"},
		},
	}
	text, _, _, err := reply(t.Context(), m, p)
	if err != nil || text != "Hi." {
		t.Fatalf("%q, %v", text, err)
	}
	got := <-requests
	if got.path != "/deep/chat/completions" || got.session != "a&b c" || got.key != "Bearer k" {
		t.Errorf("%+v", got)
	}
	messages, _ := json.Marshal(got.body["messages"])
	const want = `[{"content":"Hello.","models":{"prosody":{"scores":{"Joy":0.25}}},"role":"user",` +
		`"time":{"begin":100,"end":900}},` +
		`{"content":"Hello.","role":"assistant"},{"content":"typed","models":{},"role":"user"}]`
	if string(messages) != want {
		t.Errorf("messages %s\nwant     %s", messages, want)
	}
	if got.body["stream"] != true || got.body["temperature"] != 0.5 || got.body["model"] != customName {
		t.Errorf("body %v", got.body)
	}
	for _, field := range []string{"max_tokens", "max_completion_tokens", "stream_options", "tools"} {
		if _, there := got.body[field]; there {
			t.Errorf("%s is in the body", field)
		}
	}
	if _, _, _, err := reply(t.Context(), m, hello); err != nil {
		t.Fatal(err)
	}
	if got := <-requests; got.session != "" || got.key != "" {
		t.Errorf("without a session and a key: %+v", got)
	}
}

// Developers write these servers by hand.
func TestVariantsOfServersAreParsed(t *testing.T) {
	const say = "One two."
	one, two := delta("One "), delta("two.")
	for name, h := range map[string]http.HandlerFunc{
		"as it should be": raw("text/event-stream", "data: "+one+"\n\ndata: "+two+"\n\n",
			"data: "+stop+"\n\ndata: [DONE]\n\n"),
		"no mark of the end":       raw("text/event-stream", "data: "+one+"\n\ndata: "+two+"\n\n"),
		"no empty line at the end": raw("text/event-stream", "data: "+one+"\n\ndata: "+two),
		"no empty lines":           raw("text/event-stream", "data: "+one+"\ndata: "+two+"\ndata: [DONE]\n"),
		"CRLF": raw("text/event-stream",
			"data: "+one+"\r\n\r\ndata: "+two+"\r\n\r\ndata: [DONE]\r\n\r\n"),
		"comments and names": raw("text/event-stream",
			": hello\n\nevent: chunk\nid: 1\ndata: "+one+"\n\n: ping\n\n",
			": ping\n\nretry: 5\ndata: "+two+"\n\ndata: [DONE]\n\n"),
		"a byte order mark": raw("text/event-stream", "\uFEFFdata: "+one+"\n\ndata: "+two+"\n\n"),
		"no space":          raw("text/event-stream", "data:"+one+"\n\ndata:"+two+"\n\ndata:[DONE]\n\n"),
		"data of several lines": raw("text/event-stream",
			"data: {\"choices\":\ndata: [{\"index\":0,\"delta\":{\"content\":\"One \"}}]\ndata: }\n\ndata: "+two+
				"\n\n"),
		"cut anywhere": raw("text/event-stream",
			append(strings.Split("data: "+one+"\n\ndata: "+two+"\n\ndata: [DO", ""), "NE]\n\n")...),
		"no index": raw("text/event-stream",
			`data: {"choices":[{"delta":{"content":"One two."}}]}`+"\n\n"),
		"message in place of delta": raw("text/event-stream",
			`data: {"choices":[{"message":{"role":"assistant","content":"One two."}}]}`+"\n\n"),
		"the whole message again": raw("text/event-stream", "data: "+one+"\n\ndata: "+two+"\n\n",
			`data: {"choices":[{"index":0,"delta":{},"message":{"content":"One two."},"finish_reason":"stop"}]}`+
				"\n\n"),
		"content in parts": raw("text/event-stream", `data: {"choices":[{"index":0,`+
			`"delta":{"content":[{"type":"text","text":"One "},{"type":"text","text":"two."}]}}]}`+"\n\n"),
		"nulls": raw("text/event-stream", `data: {"choices":[{"index":0,`+
			`"delta":{"role":"assistant","content":null,"tool_calls":null},"finish_reason":null,"logprobs":null}],`+
			`"usage":null,"error":null,"system_fingerprint":null}`+"\n\n", "data: "+one+"\n\ndata: "+two+"\n\n"),
		"no stream at all": raw("application/json",
			`{"id":"x","choices":[{"index":0,"message":{"content":"One two."},"finish_reason":"stop"}]}`),
		"no stream, in many lines": raw("application/json",
			"{\n  \"choices\": [\n    {\n      \"message\": {\"content\": \"One two.\"}\n    }\n  ]\n}\n"),
		"a line of JSON for each": raw("application/x-ndjson", one+"\n"+two+"\n"),
		"a wrong type":            raw("text/html", "data: "+one+"\n\ndata: "+two+"\n\n"),
		"an answer of nothing after": raw("text/event-stream",
			"data: "+one+"\n\ndata: "+two+"\n\ndata: {}\n\ndata: [DONE]\n\ndata: garbage\n\n"),
		"closed at the end":       closing("data: " + one + "\n\ndata: " + two + "\n\n"),
		"closed after a whole":    closing(`{"choices":[{"index":0,"message":{"content":"One two."}}]}`),
		"a data field of nothing": raw("text/event-stream", "data:\n\ndata: "+one+"\n\ndata: "+two+"\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := customServer(t, h)
			if text, _, _, err := reply(t.Context(), m, hello); err != nil || text != say {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// If HTTP itself shows that the answer is complete, it needs no end mark and no full stop.
func TestAnAnswerThatHTTPEndsIsWhole(t *testing.T) {
	m, _ := customServer(t, raw("text/event-stream", "data: "+delta("until five")+"\n\n"))
	if text, _, _, err := reply(t.Context(), m, hello); err != nil || text != "until five" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestTheSessionNameOfACustomModelIsReported(t *testing.T) {
	m, _ := customServer(t, raw("text/event-stream",
		`data: {"system_fingerprint":"desk-4","choices":[{"index":0,"delta":{"content":"A"}}]}`+"\n\n",
		`data: {"system_fingerprint":"desk-4","choices":[{"index":0,"delta":{"content":"B"}}]}`+"\n\n"))
	count := 0
	_, err := m.Generate(t.Context(), hello, func(p engine.Part) error {
		if p.Session == "desk-4" {
			count++
		}
		return nil
	})
	if err != nil || count != 1 {
		t.Errorf("emitted %d times, %v", count, err)
	}
	// Servers of the API use this field for their own names.
	if _, calls, err := parts(t, streaming(t, nil, `{"system_fingerprint":"fp_1","choices":[{"index":0,`+
		`"delta":{"content":"A"},"finish_reason":"stop"}]}`), hello); err != nil || calls != nil {
		t.Error(err)
	}
}

func TestACustomModelThatFailsSaysHow(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(code)
			fmt.Fprint(w, `{"error":{"message":"secret words"}}`)
		}
	}
	hang := func(pieces ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			raw("text/event-stream", pieces...)(w, r)
			<-r.Context().Done()
		}
	}
	cut := func(pieces ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			raw("text/event-stream", pieces...)(w, r)
			panic(http.ErrAbortHandler)
		}
	}
	one := "data: " + delta("One tw") + "\n\n"
	for name, c := range map[string]struct {
		h      http.HandlerFunc
		kind   error
		text   string
		detail string
	}{
		"401": {status(401), engine.ErrBroken, "",
			"HTTP status 401: does the client send the right key, as language_model_api_key"},
		"404": {status(404), engine.ErrBroken, "", "HTTP status 404: is the path of its URL right?"},
		"429": {status(429), engine.ErrOverloaded, "", "HTTP status 429"},
		"500": {status(500), engine.ErrBroken, "", "HTTP status 500."},
		"503": {status(503), engine.ErrOverloaded, "", "HTTP status 503"},
		"504": {status(504), engine.ErrTimedOut, "", "HTTP status 504"},
		"a redirect elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}, engine.ErrBroken, "", "redirects to another server, which is not followed: name that one"},
		"a redirect to itself": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		}, engine.ErrBroken, "", "redirects without end"},
		"hangs": {hang(), engine.ErrTimedOut, "", "No answer began within 300ms"},
		"only keeps alive": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				raw("text/event-stream", ": ping\n\n")(w, r)
				time.Sleep(50 * time.Millisecond)
			}
		}, engine.ErrTimedOut, "", "No answer began"},
		"hangs in the answer": {hang(one), engine.ErrTimedOut, "One tw",
			"either more of the answer nor its end came within"},
		"thinks without end": {drips(`{"choices":[{"delta":{"reasoning_content":"Hm."}}]}`),
			engine.ErrTimedOut, "", "did not end within 1s"},
		"only shows that it is there": {drips(delta("")), engine.ErrTimedOut, "", "No answer began"},
		"breaks off":                  {cut(), engine.ErrConnection, "", "before an answer began"},
		"breaks off in a word":        {cut(one), engine.ErrConnection, "One tw", "in the middle"},
		"is gone in a sentence": {closing(one), engine.ErrConnection, "One tw",
			"in the middle of a sentence, without data: [DONE]"},
		"fails in the stream": {raw("text/event-stream", one,
			`data: {"error":{"message":"secret words"}}`+"\n\n"), engine.ErrBroken, "One tw", "an error in the middle"},
		"fails by an event": {raw("text/event-stream",
			`data: {"error":{"message":"secret words","code":500}}`+"\n\n"), engine.ErrBroken, "", "with an error"},
		"429 by an event": {raw("text/event-stream",
			`data: {"error":{"message":"secret words","code":429}}`+"\n\n"), engine.ErrOverloaded, "", "with an error"},
		"overloaded by an event": {raw("text/event-stream",
			`data: {"error":{"type":"overloaded_error","message":"secret words"}}`+"\n\n"), engine.ErrOverloaded, "",
			"with an error"},
		"a page": {raw("text/html", "<html>\n<p>secret words\n</html>"), engine.ErrBroken, "",
			"no chat completion"},
		"nothing": {raw("text/event-stream"), engine.ErrBroken, "", "no chat completion"},
		"garbage": {raw("text/event-stream", "data: \x00\xff{{{\n\n"), engine.ErrBroken, "",
			"no stream"},
		"a line without end": {raw("text/event-stream", "data: "+strings.Repeat("x", 300<<10)),
			engine.ErrBroken, "", "more than 262144 bytes"},
		"an event without end": {raw("text/event-stream",
			strings.Repeat("data: {"+strings.Repeat("x", 1000)+"}\n", 300)), engine.ErrBroken, "",
			"more than 262144 bytes"},
		"a book": {raw("text/event-stream",
			strings.Repeat("data: "+delta(strings.Repeat("word ", 1000))+"\n\n", 100)), engine.ErrBroken,
			strings.Repeat("word ", 6000), "more than 32768 bytes of text"},
	} {
		t.Run(name, func(t *testing.T) {
			limits := generousLimits
			switch name {
			case "hangs", "only keeps alive", "only shows that it is there":
				limits = quickFirst
			case "hangs in the answer":
				limits = quickIdle
			case "thinks without end":
				limits = quickReply
			}
			m, _ := limitedServer(t, limits, c.h)
			text, _, _, err := reply(t.Context(), m, hello)
			e, ok := errors.AsType[*Error](err)
			if !ok || !errors.Is(err, c.kind) || text != c.text {
				t.Fatalf("%.40q, %v; want %v", text, err, c.kind)
			}
			if detail := e.PublicDetail(); !strings.Contains(detail, c.detail) || strings.Contains(detail, "secret") ||
				strings.Contains(detail, "127.0.0.1") {
				t.Errorf("the public detail is %q", detail)
			}
		})
	}
}

func TestACustomModelThatIsNotThereIsUnreachable(t *testing.T) {
	gone := httptest.NewServer(nil)
	url := gone.URL
	gone.Close()
	for _, url := range []string{url, "http://no-such-host.invalid/x", "https://no-such-host.invalid/x"} {
		m, err := OpenCustom(CustomOptions{URL: url, Limits: generousLimits, Allowed: here(t)})
		if err != nil {
			t.Fatal(err)
		}
		_, _, _, err = reply(t.Context(), m, hello)
		if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, engine.ErrUnreachable) ||
			e.PublicDetail() == "" {
			t.Errorf("%s: %v", url, err)
		}
		m.Close()
	}
}

// An untrusted certificate, and a server without TLS.
func TestACustomModelThatCannotBeTrustedIsAFailedConnection(t *testing.T) {
	own, plain := httptest.NewTLSServer(nil), httptest.NewServer(nil)
	own.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer own.Close()
	defer plain.Close()
	for _, url := range []string{own.URL, strings.Replace(plain.URL, "http:", "https:", 1)} {
		m, err := OpenCustom(CustomOptions{URL: url, Limits: Limits{RetryAfter: time.Millisecond}, Allowed: here(t)})
		if err != nil {
			t.Fatal(err)
		}
		_, _, _, err = reply(t.Context(), m, hello)
		if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, engine.ErrConnection) ||
			!strings.Contains(e.PublicDetail(), "TLS") {
			t.Errorf("%s: %v", url, err)
		}
		m.Close()
	}
}

func TestAnInvalidURLIsRefused(t *testing.T) {
	for _, url := range []string{"", "x", "ftp://h/x", "http://", "https://:80/", "%", "file:///etc/passwd"} {
		if m, err := OpenCustom(CustomOptions{URL: url}); err == nil {
			t.Errorf("%q is taken: %v", url, m)
		}
	}
}
