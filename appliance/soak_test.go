package appliance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/chat"
	"parley/appliance/chat/reply"
	"parley/appliance/engine"
	"parley/appliance/webhook"
	"parley/store"
)

// flakyEngines are fake engines that take time, call tools, and fail.
type flakyEngines struct{ fakeEngines }

var errFlaky = errors.New("an engine has failed")

// work takes up to most, and sometimes fails.
func (flakyEngines) work(ctx context.Context, most time.Duration) error {
	select {
	case <-time.After(rand.N(most)):
	case <-ctx.Done():
		return ctx.Err()
	}
	if rand.IntN(40) == 0 {
		return errFlaky
	}
	return nil
}

func (e flakyEngines) Transcribe(ctx context.Context, pcm []float32,
	o engine.TranscribeOptions) (engine.Transcript, error) {
	if err := e.work(ctx, 80*time.Millisecond); err != nil {
		return engine.Transcript{}, err
	}
	return e.fakeEngines.Transcribe(ctx, pcm, o)
}

func (e flakyEngines) Generate(ctx context.Context, p engine.Prompt,
	emit func(engine.Part) error) (engine.Usage, error) {
	if len(p.Tools) > 0 && !p.NoToolCalls && rand.IntN(3) == 0 {
		if err := e.work(ctx, 100*time.Millisecond); err != nil {
			return engine.Usage{}, err
		}
		return engine.Usage{},
			emit(engine.Part{Call: &engine.ToolCall{ID: "1", Name: p.Tools[rand.IntN(len(p.Tools))].Name,
				Arguments: `{"query":"hours"}`}})
	}
	for _, piece := range []string{"It opens ", "at ten. ", "Not on Mondays."} {
		if err := e.work(ctx, 100*time.Millisecond); err != nil {
			return engine.Usage{}, err
		}
		if err := emit(engine.Part{Text: piece}); err != nil {
			return engine.Usage{}, err
		}
	}
	return engine.Usage{}, nil
}

func (e flakyEngines) Voice(context.Context, string, string) (engine.Synthesizer, error) {
	return e, nil
}

func (e flakyEngines) Speak(ctx context.Context, text string, o engine.SpeakOptions,
	emit func(engine.Sound) error) error {
	if err := e.work(ctx, 50*time.Millisecond); err != nil {
		return err
	}
	return e.fakeEngines.Speak(ctx, text, o, emit)
}

func (e flakyEngines) RunTool(ctx context.Context, _ reply.ToolRun) (string, error) {
	return "Found.", e.work(ctx, time.Second)
}

// flakyReceiver is a receiver of webhooks that answers every fourth one with an error.
type flakyReceiver struct {
	mu    sync.Mutex
	asked int
	got   map[string]int // by event and chat
}

func (f *flakyReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked++; f.asked%4 == 0 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	for _, event := range []string{"chat_started", "chat_ended", "tool_call"} {
		if strings.Contains(string(body), `"`+event+`"`) {
			f.got[event+" "+between(string(body), `"chat_id":"`, `"`)]++
		}
	}
}

func (f *flakyReceiver) times(event, chat string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got[event+" "+chat]
}

func between(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return s
}

// randomChat is a client that does anything at any time, and leaves in any way. It returns
// the id of its chat.
func randomChat(t *testing.T, b *runningBox, query string) string {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(b.url, "http")+"/v0/evi/chat?api_key="+b.key+query, nil)
	if err != nil {
		t.Errorf("a chat cannot be opened: %v", err)
		return ""
	}
	conn.SetReadLimit(-1)
	_, first, err := conn.Read(ctx)
	if err != nil {
		t.Error(err)
		return ""
	}
	id := between(string(first), `"chat_id":"`, `"`)
	calls := make(chan string, 16)
	deaf := make(chan struct{}) // closed when the client stops reading and answers no pings
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-deaf:
				return
			default:
			}
			_, data, err := conn.Read(ctx)
			if err != nil {
				return
			}
			if called := between(string(data), `"tool_call_id":"`, `"`); called != "" {
				select {
				case calls <- called:
				default:
				}
			}
		}
	}()
	write := func(text string) { _ = conn.Write(ctx, websocket.MessageText, []byte(text)) }
	write(`{"type":"session_settings","audio":{"encoding":"linear16","sample_rate":16000,"channels":1},` +
		`"tools":[{"type":"function","name":"hours","parameters":"{}","fallback_content":"ten"}],` +
		`"builtin_tools":[{"name":"web_search"},{"name":"hang_up"}]}`)
	for range 5 + rand.IntN(40) {
		randomStep(ctx, conn, write, calls)
	}
	switch rand.IntN(4) {
	case 0:
		_ = conn.Close(websocket.StatusNormalClosure, "")
	case 1, 2:
		_ = conn.CloseNow()
	case 3: // a half-open socket: the client is gone without a FIN
		close(deaf)
		write(`{"type":"user_input","text":"Still there?"}`)
		return id
	}
	<-gone
	return id
}

func randomStep(ctx context.Context, conn *websocket.Conn, write func(string), calls <-chan string) {
	loud := rand.IntN(2) == 0
	switch rand.IntN(9) {
	case 0, 1, 2, 3:
		frame := make([]byte, 640)
		for i := range frame {
			if loud {
				frame[i] = 20
			}
		}
		for range rand.IntN(60) {
			_ = conn.Write(ctx, websocket.MessageBinary, frame)
			time.Sleep(10 * time.Millisecond)
		}
	case 4:
		write(`{"type":"user_input","text":"When do you open?"}`)
	case 5:
		write(`{"type":"assistant_input","text":"One moment. I will see."}`)
	case 6:
		write([]string{`{"type":"pause_assistant_message"}`, `{"type":"resume_assistant_message"}`,
			`{"type":"session_settings","context":{"text":"Room 3"}}`, `{broken`,
			`{"type":"tool_response","tool_call_id":"x","content":"y"}`}[rand.IntN(5)])
	case 7:
		select {
		case id := <-calls:
			write(fmt.Sprintf(`{"type":"tool_response","tool_call_id":%q,"content":"At ten."}`, id))
		default:
		}
	case 8:
		time.Sleep(rand.N(300 * time.Millisecond))
	}
}

// Chats in which anything happens and anything fails leave nothing behind: no goroutine, no
// memory, no open file. Every chat has ended with a reason, and every webhook came at least
// once. PARLEY_SOAK_CHATS is the number of chats (200 in make soak).
func TestChatsLeaveNothingBehind(t *testing.T) {
	if !inOwnProcess(t) { // other tests have goroutines, memory and files too
		return
	}
	chats := 8
	if n, err := strconv.Atoi(os.Getenv("PARLEY_SOAK_CHATS")); err == nil {
		chats = n
	}
	const atOnce = 8
	b := startFakeBox(t, func(p *chat.Parts) {
		var flaky flakyEngines
		p.Detector, p.Transcriber, p.Model, p.Voices, p.Tools = flaky, flaky, flaky, flaky, flaky
		p.Defaults.ToolLimit = 2 * time.Second
	})
	sender := webhook.Start(webhook.Parts{
		Outbox:       b.records,
		AllowPrivate: true,
		Agent:        "Parley/test",
		Log:          slog.New(slog.DiscardHandler),
	})
	defer sender.Close()
	receiver := &flakyReceiver{got: map[string]int{}}
	heard := httptest.NewServer(receiver)
	defer heard.Close()
	id := b.post(t, "/v0/evi/configs", `{"name":"rowdy","evi_version":"4-mini","webhooks":[{"url":"`+heard.URL+
		`","events":["chat_started","chat_ended","tool_call"]}]}`)
	round := func(n int) (ids []string) {
		var mu sync.Mutex
		var callers sync.WaitGroup
		turns := make(chan struct{}, atOnce)
		for range n {
			turns <- struct{}{}
			callers.Go(func() {
				defer func() { <-turns }()
				chat := randomChat(t, b, "&config_id="+id)
				mu.Lock()
				defer mu.Unlock()
				ids = append(ids, chat)
			})
		}
		callers.Wait()
		return ids
	}
	ids := round(atOnce) // what a used box retains
	waitUntilEnded(t, b, ids)
	before := measureResources()
	more := round(chats)
	waitUntilEnded(t, b, more)
	ids = append(ids, more...)
	// Idle connections to the receiver, and what the runtime caches, come and go.
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		now := measureResources()
		if now.goroutines <= before.goroutines+8 && now.files <= before.files+8 && now.heap <= before.heap+8<<20 {
			break
		}
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("before %+v, after %d chats %+v\n%s", before, chats, now, stacks[:runtime.Stack(stacks, true)])
		}
	}
	for _, chat := range ids {
		for _, event := range []string{"chat_started", "chat_ended"} {
			for deadline := time.Now().Add(90 * time.Second); receiver.times(event,
				chat) == 0; time.Sleep(50 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("the %s of chat %s never came", event, chat)
				}
			}
		}
	}
}

// waitUntilEnded waits until chats have ended, and checks that each has a reason.
func waitUntilEnded(t *testing.T, b *runningBox, ids []string) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		open, err := b.records.OpenChats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(open) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d chats never end, %+v the first", len(open), open[0])
		}
	}
	for _, id := range ids {
		events, _, err := b.records.Events(t.Context(), id, store.Page{Size: 1, Descending: true})
		if err != nil || len(events) != 1 || events[0].Type != store.ChatEnd || events[0].MessageText == "" ||
			events[0].MessageText == string(store.Active) {
			t.Errorf("chat %s ends with %+v, %v", id, events, err)
		}
	}
}

// resources are what a process holds.
type resources struct {
	goroutines, files int
	heap              uint64 // bytes
}

func measureResources() resources {
	http.DefaultClient.CloseIdleConnections()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd")
	return resources{runtime.NumGoroutine(), len(files), m.HeapAlloc}
}
