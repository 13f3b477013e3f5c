package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"parley/store"
)

// waitLimit is how long the tests wait for something on a busy machine.
const waitLimit = time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testBox is a store with an account, and a running sender.
type testBox struct {
	t       *testing.T
	dir     string
	store   *store.Store
	account string
	key     string // the signing key
	sender  *Sender
}

func newBox(t *testing.T) *testBox {
	t.Helper()
	b := &testBox{t: t, dir: t.TempDir()}
	b.open()
	made, err := b.store.CreateKey(t.Context(), store.NewKey{Account: "home"})
	b.must(err)
	a, err := b.store.Account(t.Context(), "home")
	b.must(err)
	b.account, b.key = a.ID, made.WebhookSigningKey
	t.Cleanup(func() { b.close() })
	return b
}

func (b *testBox) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *testBox) open() {
	b.t.Helper()
	s, err := store.Open(context.Background(), b.dir, slog.New(slog.DiscardHandler))
	b.must(err)
	b.store = s
}

// send starts the sender.
func (b *testBox) send(change ...func(*Parts)) {
	p := Parts{
		Outbox:       b.store,
		AllowPrivate: true,
		Agent:        "Parley/test",
		Log:          slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&p)
	}
	b.sender = Start(p)
}

func (b *testBox) close() {
	if b.sender != nil {
		b.sender.Close()
		b.sender = nil
	}
	if b.store != nil {
		b.must(b.store.Close())
		b.store = nil
	}
}

// begin starts a chat whose webhooks go to the URLs, and returns its id.
func (b *testBox) begin(urls ...string) string {
	b.t.Helper()
	n := store.NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: b.account,
		StartedMS: time.Now().UnixMilli(),
		RequestID: "r",
	}
	for _, url := range urls {
		n.Webhooks.Hooks = append(n.Webhooks.Hooks,
			store.Webhook{URL: url, Events: []string{"chat_started", "chat_ended", "tool_call"}})
	}
	n.Webhooks.Started = fmt.Sprintf(`{"event_name":"chat_started","chat_id":%q}`, n.ID)
	n.Webhooks.Ended = fmt.Sprintf(
		`{"event_name":"chat_ended","chat_id":%q,"end_time":0,"duration_seconds":0,"end_reason":""}`, n.ID)
	b.must(b.store.StartChat(b.t.Context(), n))
	return n.ID
}

// call adds the webhook of a tool call of a chat.
func (b *testBox) call(chat string, number int) {
	b.t.Helper()
	b.must(b.store.WriteChat(b.t.Context(), chat, store.ChatWrite{Notices: []store.Notice{{
		Event: "tool_call", AtMS: time.Now().UnixMilli(),
		Body: fmt.Sprintf(`{"event_name":"tool_call","chat_id":%q,"number":%d,"text":"ä <&> 字 \u0000"}`, chat, number),
	}}}))
}

func (b *testBox) end(chat string) {
	b.t.Helper()
	b.must(b.store.EndChat(b.t.Context(), chat, store.UserEnded, time.Now().UnixMilli()))
}

// listed returns all webhooks in the outbox, the oldest first.
func (b *testBox) listed(states ...store.WebhookState) []store.SentWebhook {
	b.t.Helper()
	all, err := b.store.Webhooks(context.Background(), store.WebhookFilter{States: states}, 1<<20)
	b.must(err)
	slices.Reverse(all)
	return all
}

// receivedRequest is a request that a receiver got.
type receivedRequest struct {
	at     time.Time
	header http.Header
	body   string
	Event  string `json:"event_name"`
	Chat   string `json:"chat_id"`
	Number int    `json:"number"`
	Reason string `json:"end_reason"`
}

// testReceiver records its requests. answer writes the response to the nth request, counted
// from 0; nil for 200.
type testReceiver struct {
	*httptest.Server
	answer func(n int, w http.ResponseWriter, r *http.Request)
	mu     sync.Mutex
	got    []receivedRequest
	seen   int
	news   chan struct{}
}

func newReceiver(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *testReceiver {
	r := &testReceiver{answer: answer, news: make(chan struct{}, 1)}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() { r.CloseClientConnections(); r.Close() })
	return r
}

func (r *testReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	received := receivedRequest{at: time.Now(), header: req.Header, body: string(body)}
	if json.Unmarshal(body, &received) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	r.got = append(r.got, received)
	n := r.seen
	r.seen++
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
	if r.answer != nil {
		r.answer(n, w, req)
	}
}

// until waits for n requests and returns them.
func (r *testReceiver) until(t *testing.T, n int) []receivedRequest {
	t.Helper()
	deadline := time.After(waitLimit)
	for {
		r.mu.Lock()
		got := slices.Clone(r.got)
		r.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-r.news:
		case <-deadline:
			t.Fatalf("%d requests after %v, want %d: %+v", len(got), waitLimit, n, got)
		}
	}
}

// count returns the number of requests so far.
func (r *testReceiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got)
}

// waitUntilEmpty waits until no webhook waits.
func (b *testBox) waitUntilEmpty() {
	b.t.Helper()
	for deadline := time.Now().Add(waitLimit); ; <-time.After(5 * time.Millisecond) {
		waiting, _, err := b.store.WebhookCounts(b.t.Context())
		b.must(err)
		if waiting == 0 {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%d wait after %v: %+v", waiting, waitLimit, b.listed(store.WebhookWaiting))
		}
	}
}

// verify checks a request as a receiver does, with independent code.
func verify(t *testing.T, got receivedRequest, key string) {
	t.Helper()
	for _, service := range []string{"Service", "Hume-AI"} {
		stamp := got.header.Get("X-" + service + "-Webhook-Timestamp")
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(got.body))
		mac.Write([]byte("."))
		mac.Write([]byte(stamp))
		want := hex.EncodeToString(mac.Sum(nil))
		if signature := got.header.Get("X-" + service + "-Webhook-Signature"); signature != want {
			t.Errorf("%s: signed %q, want %q", service, signature, want)
		}
		if seconds, err := strconv.ParseInt(stamp, 10, 64); err != nil ||
			got.at.Sub(time.Unix(seconds, 0)).Abs() > 20*time.Second {
			t.Errorf("%s: stamped %q at %v", service, stamp, got.at)
		}
	}
}

func TestWebhooksAreSignedAndInOrder(t *testing.T) {
	b, r := newBox(t), newReceiver(t, nil)
	b.send()
	begun := time.Now()
	chat := b.begin(r.URL + "/hook?secret=1")
	r.until(t, 1)
	t.Logf("the first came after %v", time.Since(begun))
	for n := range 5 {
		b.call(chat, n)
	}
	b.end(chat)
	got := r.until(t, 7)
	b.waitUntilEmpty()
	var events []string
	for _, g := range got {
		verify(t, g, b.key)
		events = append(events, fmt.Sprint(g.Event, g.Number))
		if g.header.Get("Content-Type") != "application/json" || g.header.Get("User-Agent") != "Parley/test" ||
			g.header.Get("X-Service-Webhook-Id") == "" {
			t.Errorf("headers %v", g.header)
		}
	}
	if want := "chat_started0 tool_call0 tool_call1 tool_call2 tool_call3 tool_call4 chat_ended0"; strings.Join(events,
		" ") != want {
		t.Errorf("got %v", events)
	}
	if last := got[6]; last.Reason != "USER_ENDED" {
		t.Errorf("got %s", last.body)
	}
	for _, w := range b.listed() {
		if w.State != store.WebhookWasDelivered || w.Attempts != 1 || w.LastError != "" {
			t.Errorf("%+v", w)
		}
	}
}

// A failed webhook is sent again, equal to the byte, with a new timestamp. The later
// webhooks of its chat wait, and those of other chats do not.
func TestFailedWebhookDelaysOnlyItsChat(t *testing.T) {
	b := newBox(t)
	var first string
	r := newReceiver(t, nil)
	r.answer = func(n int, w http.ResponseWriter, _ *http.Request) {
		r.mu.Lock()
		g := r.got[n]
		tries := 0
		for _, o := range r.got {
			if o.Chat == g.Chat && o.Event == g.Event {
				tries++
			}
		}
		r.mu.Unlock()
		if g.Chat == first && g.Event == "chat_started" && tries < 4 {
			w.WriteHeader(500 + tries)
		}
	}
	first = b.begin(r.URL)
	b.end(first)
	second := b.begin(r.URL)
	b.end(second)
	b.send()
	b.waitUntilEmpty()
	var order []string
	var tries []receivedRequest
	for _, g := range r.until(t, 7) {
		verify(t, g, b.key)
		name := map[string]string{first: "1", second: "2"}[g.Chat] + g.Event
		order = append(order, name)
		if name == "1chat_started" {
			tries = append(tries, g)
		}
	}
	if len(tries) != 4 || order[len(order)-1] != "1chat_ended" ||
		slices.Index(order, "2chat_ended") < slices.Index(order, "2chat_started") {
		t.Errorf("order %v", order)
	}
	for _, again := range tries {
		if again.body != tries[0].body ||
			again.header.Get("X-Service-Webhook-Id") != tries[0].header.Get("X-Service-Webhook-Id") {
			t.Errorf("again with %s", again.body)
		}
	}
}
