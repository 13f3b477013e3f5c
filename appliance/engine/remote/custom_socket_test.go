package remote

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/engine"
)

// talker is one connection of a hand-written server.
type talker struct {
	*websocket.Conn
	t     *testing.T
	ctx   context.Context
	asked string // the newest request
	from  http.Header
}

// ask waits for a request; false: the connection has ended.
func (t *talker) ask() bool {
	_, data, err := t.Read(t.ctx)
	t.asked = string(data)
	return err == nil
}

func (t *talker) say(messages ...string) {
	for _, m := range messages {
		if t.Write(t.ctx, websocket.MessageText, []byte(m)) != nil {
			return // the other side has left
		}
	}
}

func text(s string) string {
	b, _ := json.Marshal(s)
	return `{"type":"assistant_input","text":` + string(b) + `}`
}

const end = `{"type":"assistant_end"}`

// socketServer handles each connection with a function, and counts the connections.
func socketServer(t *testing.T, l Limits, serve func(*talker)) (*Socket, *atomic.Int32) {
	t.Helper()
	var made atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		conn.SetReadLimit(1 << 20)
		made.Add(1)
		serve(&talker{conn, t, r.Context(), "", r.Header})
	}))
	m, err := OpenCustom(CustomOptions{URL: strings.Replace(s.URL, "http", "ws", 1) + "/llm", Limits: l,
		Allowed: here(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close(); s.CloseClientConnections(); s.Close() })
	return m.(*Socket), &made
}

// generousLimits are limits that no test exceeds.
var generousLimits = Limits{RetryAfter: time.Millisecond}

func TestASocketReceivesTheConversationAndAnswers(t *testing.T) {
	questions := make(chan string, 2)
	m, made := socketServer(t, generousLimits, func(c *talker) {
		for c.ask() {
			questions <- c.asked
			c.say(text("Hello."), `{"type":"assistant_input","text":"How are you?","custom_session_id":"s7"}`,
				`{"type":"something_else"}`, end)
		}
	})
	p := engine.Prompt{Messages: []engine.Message{
		{Role: engine.System},
		{
			Role:    engine.User,
			Content: "Hi.",
			Begin:   time.Second,
			End:     2 * time.Second,
			Scores:  scores{"Joy": 0.5},
		},
		{Role: engine.Assistant, Content: "Hi.", Calls: []engine.ToolCall{{ID: "c", Name: "f", Arguments: "{}"}}},
		{Role: engine.ToolRole, CallID: "c", Content: "42"},
		{Role: engine.User, Content: "typed"},
	}}
	text, session, _, err := reply(t.Context(), m, p)
	if err != nil || text != "Hello. How are you?" || session != "s7" {
		t.Fatalf("%q, %q, %v", text, session, err)
	}
	const want = `{"messages":[` +
		`{"type":"user_message","message":{"role":"user","content":"Hi."},"models":{"prosody":{"scores":{"Joy":0.5}}}` +
		`,"time":{"begin":1000,"end":2000}},` +
		`{"type":"assistant_message","message":{"role":"assistant","content":"Hi."},"models":{}},` +
		`{"type":"tool_call","message":{"role":"assistant","content":""},"models":{},"tool_call_id":"c","name":"f",` +
		`"parameters":"{}"},` +
		`{"type":"tool_response","message":{"role":"tool","content":"42"},"models":{},"tool_call_id":"c"},` +
		`{"type":"user_message","message":{"role":"user","content":"typed"},"models":{}}],"custom_session_id":null}`
	if got := <-questions; got != want {
		t.Errorf("asked %s\nwant  %s", got, want)
	}
	p.Session, p.Temperature = "s7", 0.5
	p.Messages = p.Messages[4:]
	if text, _, _, err := reply(t.Context(), m, p); err != nil || text != "Hello. How are you?" {
		t.Errorf("%q, %v", text, err)
	}
	if got := <-questions; !strings.HasSuffix(got, `],"custom_session_id":"s7","temperature":0.5}`) {
		t.Errorf("asked %s", got)
	}
	if n := made.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// Messages of an interrupted answer are not part of the next one, however late they arrive, and
// whether or not the answer ends.
func TestALateMessageIsNoPartOfTheNextAnswer(t *testing.T) {
	for name, finishes := range map[string]bool{"and ends": true, "and never ends": false} {
		t.Run(name, func(t *testing.T) {
			interrupted := make(chan struct{})
			m, made := socketServer(t, generousLimits, func(c *talker) {
				for c.ask() {
					if strings.Contains(c.asked, "second") {
						c.say(text("New answer."), end)
						continue
					}
					c.say(text("Old begins."))
					<-interrupted
					c.say(text("Old late."), text("Old later."))
					if finishes {
						c.say(end)
					}
				}
			})
			ctx, cancel := context.WithCancel(t.Context())
			_, err := m.Generate(ctx, hello, func(engine.Part) error { cancel(); return nil })
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			close(interrupted)
			for deadline := time.Now().Add(time.Minute); finishes && !m.conn.alive("") && time.Now().Before(deadline); {
				time.Sleep(5 * time.Millisecond) // the user still talks
			}
			text, _, _, err := reply(t.Context(), m,
				engine.Prompt{Messages: []engine.Message{{Role: engine.User, Content: "second"}}})
			if err != nil || text != "New answer." {
				t.Errorf("%q, %v", text, err)
			}
			want := int32(2)
			if finishes {
				want = 1
			}
			if n := made.Load(); n != want {
				t.Errorf("%d connections, want %d", n, want)
			}
		})
	}
}

// The connection breaks between two turns, and in the middle of an answer.
func TestABrokenConnectionIsReplaced(t *testing.T) {
	m, made := socketServer(t, generousLimits, func(c *talker) {
		c.ask()
		if strings.Contains(c.asked, "break") {
			c.say(text("It goes as far as thi"))
			c.CloseNow()
			return
		}
		c.say(text("Fine."), end)
	})
	for range 3 {
		if text, _, _, err := reply(t.Context(), m, hello); err != nil || text != "Fine." {
			t.Errorf("%q, %v", text, err)
		}
	}
	text, _, _, err := reply(t.Context(), m,
		engine.Prompt{Messages: []engine.Message{{Role: engine.User, Content: "break"}}})
	e, ok := errors.AsType[*Error](err)
	if !ok || text != "It goes as far as thi" || !errors.Is(err, engine.ErrConnection) || !e.Answered ||
		e.PublicDetail() == "" {
		t.Errorf("%q, %v", text, err)
	}
	if text, _, _, err := reply(t.Context(), m, hello); err != nil || text != "Fine." {
		t.Errorf("after that: %q, %v", text, err)
	}
	if n := made.Load(); n != 5 {
		t.Errorf("%d connections", n)
	}
}

// talksOn sends the same message forever.
func talksOn(message string) func(*talker) {
	return func(c *talker) {
		for c.ask(); c.Write(c.ctx, websocket.MessageText, []byte(message)) == nil; time.Sleep(50 * time.Millisecond) {
		}
	}
}

func TestASocketThatFailsSaysHow(t *testing.T) {
	for name, c := range map[string]struct {
		serve  func(*talker)
		kind   error
		text   string
		detail string
	}{
		"hangs": {func(c *talker) {
			c.ask()
			c.ask()
		}, engine.ErrTimedOut, "", "No answer began"},
		"hangs in the middle": {func(c *talker) {
			c.ask()
			c.say(text("One"))
			c.ask()
		}, engine.ErrTimedOut, "One", "either more of the answer nor its end came within"},
		"goes on without end":         {talksOn(text(" ")), engine.ErrTimedOut, "", "did not end"},
		"only shows that it is there": {talksOn(`{"type":"heartbeat"}`), engine.ErrTimedOut, "", "No answer began"},
		"closes": {func(c *talker) {
			c.ask()
			c.Close(4001, "secret")
		}, engine.ErrConnection, "", "code 4001, before assistant_end"},
		"breaks off": {func(c *talker) {
			c.ask()
			c.say(text("One"))
			c.CloseNow()
		}, engine.ErrConnection, "One", "broke"},
		"says it failed": {func(c *talker) {
			c.ask()
			c.say(`{"type":"error","message":"secret"}`)
			c.ask()
		}, engine.ErrBroken, "", ""},
		"garbage": {func(c *talker) {
			c.ask()
			c.say("<html>secret")
			c.ask()
		}, engine.ErrBroken, "", "none of the protocol's messages"},
		"a list": {func(c *talker) { c.ask(); c.say("[]"); c.ask() }, engine.ErrBroken, "", ""},
		"too long": {func(c *talker) {
			c.ask()
			c.say(text(strings.Repeat("x", maxSocketMessage)))
			c.ask()
		}, engine.ErrBroken, "", "bytes"},
		"a book": {func(c *talker) {
			for c.ask(); c.Write(c.ctx, websocket.MessageText, []byte(text(strings.Repeat("x", 8<<10)))) == nil; {
			}
		}, engine.ErrBroken, strings.Repeat("x", maxCustomText), "more than 32768 bytes of text"},
		"a nameless call": {func(c *talker) {
			c.ask()
			c.say(`{"type":"tool_call","parameters":"{}"}`)
			c.ask()
		}, engine.ErrBroken, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // closing a connection whose other end does not read takes five seconds
			limits := generousLimits
			switch name {
			case "hangs", "only shows that it is there":
				limits = quickFirst
			case "hangs in the middle":
				limits = quickIdle
			case "goes on without end":
				limits = quickReply
			}
			m, _ := socketServer(t, limits, c.serve)
			text, _, _, err := reply(t.Context(), m, hello)
			e, ok := errors.AsType[*Error](err)
			if !ok || !errors.Is(err, c.kind) || strings.TrimSpace(text) != c.text {
				t.Fatalf("%.40q, %v; want %v", text, err, c.kind)
			}
			if detail := e.PublicDetail(); !strings.Contains(detail, c.detail) || strings.Contains(detail, "secret") ||
				strings.Contains(detail, "127.0.0.1") {
				t.Errorf("the public detail is %q", detail)
			}
		})
	}
}

// The error for a refused handshake names its status.
func TestAnUpgradeThatIsRefusedIsAFailedConnection(t *testing.T) {
	for status, kind := range map[int]error{200: engine.ErrConnection, 401: engine.ErrConnection,
		404: engine.ErrConnection, 500: engine.ErrConnection, 503: engine.ErrOverloaded, 504: engine.ErrTimedOut} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
		}))
		m, err := OpenCustom(CustomOptions{URL: strings.Replace(s.URL, "http", "ws", 1), Limits: generousLimits,
			Allowed: here(t)})
		if err != nil {
			t.Fatal(err)
		}
		_, _, _, err = reply(t.Context(), m, hello)
		if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, kind) || e.Status != status {
			t.Errorf("%d: %v", status, err)
		}
		m.Close()
		s.Close()
	}
	for _, url := range []string{"ws://127.0.0.1:1/", "ws://0.0.0.0:1/", "wss://no-such-host.invalid/"} {
		m, err := OpenCustom(CustomOptions{URL: url, Limits: generousLimits, Allowed: here(t)})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err = reply(t.Context(), m, hello); !errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("%s: %v", url, err)
		}
		m.Close()
	}
}

func TestASocketCallsATool(t *testing.T) {
	m, made := socketServer(t, generousLimits, func(c *talker) {
		for c.ask() {
			if strings.Contains(c.asked, `"tool_response"`) {
				if strings.Contains(c.asked, `"tools"`) {
					t.Errorf("the model is offered tools that it may not call: %s", c.asked)
				}
				c.say(text("It comes at five."), end)
				continue
			}
			// Most servers send an end after it, as after every answer.
			c.say(text("One moment."),
				`{"type":"tool_call","tool_call_id":"c1","name":"book_taxi","parameters":{"persons":2}}`, end)
		}
	})
	p := engine.Prompt{Tools: []engine.Tool{taxi},
		Messages: []engine.Message{{Role: engine.User, Content: "A taxi for two."}}}
	text, _, calls, err := reply(t.Context(), m, p)
	if err != nil || text != "One moment." || len(calls) != 1 ||
		calls[0] != (engine.ToolCall{ID: "c1", Name: "book_taxi", Arguments: `{"persons":2}`}) {
		t.Fatalf("%q, %+v, %v", text, calls, err)
	}
	p.NoToolCalls = true // a reply in words is requested
	p.Messages = append(p.Messages, engine.Message{Role: engine.Assistant, Content: text, Calls: calls},
		engine.Message{Role: engine.ToolRole, CallID: "c1", Content: "five"})
	if text, _, _, err = reply(t.Context(), m, p); err != nil || text != "It comes at five." || made.Load() != 1 {
		t.Errorf("%q, %v, %d connections", text, err, made.Load())
	}
}

func TestAConnectionIsPrefetchedWithTheClientsKey(t *testing.T) {
	keys := make(chan string, 4)
	m, made := socketServer(t, generousLimits, func(c *talker) {
		keys <- c.from.Get("Authorization")
		for c.ask() {
			c.say(end)
		}
	})
	if err := m.Prefill(t.Context(), engine.Prompt{Key: "one"}); err != nil {
		t.Fatal(err)
	}
	if key := <-keys; key != "Bearer one" {
		t.Errorf("key %q", key)
	}
	p := hello
	p.Key = "one"
	if text, _, _, err := reply(t.Context(), m, p); err != nil || text != "" || made.Load() != 1 {
		t.Errorf("%q, %v, %d connections", text, err, made.Load())
	}
	p.Key = "two"
	if _, _, _, err := reply(t.Context(), m, p); err != nil {
		t.Error(err)
	}
	if key := <-keys; key != "Bearer two" {
		t.Errorf("after the key has changed: %q", key)
	}
}

func TestTextsThatAreSentAsAWholeAreKeptApart(t *testing.T) {
	for _, c := range [][3]string{
		{"Hello.", "How are you?", " "}, {"Hello. ", "How", ""}, {"Hel", "lo", ""}, {"3.", "5", ""},
		{"example.", "com", ""},
		{"Ja!", "Über", " "}, {"そうです。", "はい", " "}, {"Yes.", "\"No\"", " "}, {"", "Hello", ""}, {"Hello.", " How", ""},
	} {
		if got := missingSpace(c[0], c[1]); got != c[2] {
			t.Errorf("%q %q: %q", c[0], c[1], got)
		}
	}
}
