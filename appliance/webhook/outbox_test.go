package webhook

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"parley/internal/layout"
	"parley/store"
)

// tamper changes the outbox directly in the database, as time would.
func (b *testBox) tamper(statement string, args ...any) {
	b.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(b.dir, layout.Database)+"?_busy_timeout=5000")
	b.must(err)
	defer db.Close()
	_, err = db.Exec(statement, args...)
	b.must(err)
}

// Webhooks that wait when the box stops, or whose attempt it interrupts, are delivered
// after the next start, in order within each chat.
func TestWebhooksAreDeliveredAfterARestart(t *testing.T) {
	b := newBox(t)
	hang := make(chan struct{})
	var down atomic.Bool
	down.Store(true)
	r := newReceiver(t, func(_ int, w http.ResponseWriter, req *http.Request) {
		if !down.Load() {
			return
		}
		select {
		case <-hang:
		case <-req.Context().Done():
		}
		w.WriteHeader(http.StatusBadGateway)
	})
	b.send()
	chat := b.begin(r.URL)
	b.call(chat, 1)
	r.until(t, 1)
	begun := time.Now()
	b.close() // while the receiver hangs
	if took := time.Since(begun); took > stopLimit+20*time.Second {
		t.Errorf("the box takes %v to stop", took)
	}
	close(hang)
	b.open()
	b.end(chat)
	down.Store(false)
	b.send()
	b.waitUntilEmpty()
	var events []string
	for _, g := range r.until(t, 4) {
		events = append(events, g.Event)
	}
	if got := strings.Join(events, " "); got != "chat_started chat_started tool_call chat_ended" {
		t.Errorf("got %s", got)
	}
}

// The next start ends a chat that a crash left open, and sends its webhooks, whether its
// history is stored or not, with the last custom session id that its client set.
func TestChatEndedAfterACrashSendsWebhooks(t *testing.T) {
	for _, kept := range []bool{true, false} {
		t.Run(fmt.Sprintf("history %v", kept), func(t *testing.T) {
			b, r := newBox(t), newReceiver(t, nil)
			chat := b.begin(r.URL)
			if !kept {
				b.tamper(`DELETE FROM chat`) // as if the chat was never stored
			}
			b.call(chat, 1)
			b.must(b.store.WriteWebhooks(t.Context(), chat, store.ChatWrite{CustomSessionID: "mine"}))
			b.close()
			b.open()
			_, err := b.store.EndOpenChats(t.Context(), time.Now().UnixMilli(), func(string) time.Duration {
				return 3 * time.Second
			})
			b.must(err)
			b.send()
			got := r.until(t, 3)
			var end struct {
				EventName       string `json:"event_name"`
				EndReason       string `json:"end_reason"`
				EndTime         int64  `json:"end_time"`
				DurationSeconds *int64 `json:"duration_seconds"`
				CustomSessionID string `json:"custom_session_id"`
			}
			b.must(json.Unmarshal([]byte(got[2].body), &end))
			if end.EventName != "chat_ended" || end.EndReason != "ERROR" || end.EndTime == 0 ||
				end.DurationSeconds == nil || *end.DurationSeconds > 3 || end.CustomSessionID != "mine" {
				t.Errorf("got %s", got[2].body)
			}
			b.waitUntilEmpty()
			if again, err := b.store.EndOpenChats(t.Context(), time.Now().UnixMilli(), nil); err != nil ||
				len(again) != 0 || len(b.listed()) != 3 {
				t.Errorf("ended again: %v, %v", again, err)
			}
		})
	}
}

// A webhook that could not be delivered for a day is dead, with a reason, and no longer
// blocks the next one of its chat. After a retry it is sent.
func TestDeadWebhookDoesNotBlockAndIsRetried(t *testing.T) {
	b := newBox(t)
	var mended atomic.Bool
	r := newReceiver(t, nil)
	r.answer = func(n int, w http.ResponseWriter, _ *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.got[n].Event == "chat_started" && !mended.Load() {
			w.WriteHeader(http.StatusTeapot)
		}
	}
	var results [3]atomic.Int32
	watch := func(p *Parts) {
		p.Observe = func(r Result, _ bool, _ time.Duration) { results[slices.Index(Results(), r)].Add(1) }
	}
	chat := b.begin(r.URL)
	b.call(chat, 1)
	b.send(watch)
	r.until(t, 1)
	for b.listed()[0].Attempts == 0 {
		<-time.After(5 * time.Millisecond)
	}
	b.sender.Close()
	b.tamper(`UPDATE webhook SET until_ms = ?, due_ms = iif(due_ms IS NULL, NULL, 1)`,
		time.Now().Add(50*time.Millisecond).UnixMilli())
	<-time.After(100 * time.Millisecond)
	// The next start gives one last attempt to webhooks whose day has passed; here that
	// is over too.
	b.send(watch, func(p *Parts) { p.Outbox = noChance{b.store} })
	b.waitUntilEmpty()
	w := b.listed()
	if w[0].State != store.WebhookWasAbandoned || w[0].LastError != "answered 418 I'm a teapot" || w[0].Attempts != 2 ||
		w[1].State != store.WebhookWasDelivered {
		t.Fatalf("%+v", w)
	}
	if results[0].Load() != 1 || results[1].Load() != 1 || results[2].Load() != 1 {
		t.Errorf("delivered %d, failed %d, dead %d", results[0].Load(), results[1].Load(), results[2].Load())
	}
	mended.Store(true)
	// Another process, such as a command, requests the retry.
	joined, err := store.Join(t.Context(), b.dir)
	b.must(err)
	defer joined.Close()
	if n, err := joined.RetryWebhooks(t.Context(), store.WebhookFilter{IDs: []string{w[0].ID}}); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	asked := time.Now()
	got := r.until(t, 4)
	t.Logf("retried %v after it was asked for", got[3].at.Sub(asked))
	b.waitUntilEmpty()
	if got[3].body != got[0].body {
		t.Errorf("retried with %s", got[3].body)
	}
	if n, err := joined.RetryWebhooks(t.Context(), store.WebhookFilter{IDs: []string{w[0].ID}}); err != nil || n != 0 {
		t.Errorf("one that was delivered is retried: %d, %v", n, err)
	}
}

type noChance struct{ *store.Store }

func (noChance) ResumeWebhooks(context.Context, time.Duration) error { return nil }

// A renewed signing key signs from the next attempt on, without a restart.
func TestNewSigningKeyIsUsedAtOnce(t *testing.T) {
	b, r := newBox(t), newReceiver(t, nil)
	b.send()
	chat := b.begin(r.URL)
	verify(t, r.until(t, 1)[0], b.key)
	key, err := b.store.NewSigningKey(t.Context(), b.account)
	b.must(err)
	b.end(chat)
	verify(t, r.until(t, 2)[1], key)
}

// However many receivers hang, the others get their webhooks at once.
func TestHangingReceiversDoNotDelayOthers(t *testing.T) {
	b, quick := newBox(t), newReceiver(t, nil)
	hang := newReceiver(t, func(_ int, _ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
	b.send()
	for n := range 40 {
		for range 4 {
			b.begin(fmt.Sprintf("%s/%d", hang.URL, n))
		}
	}
	hang.until(t, 40)
	for n := range 5 {
		begun := time.Now()
		chat := b.begin(quick.URL)
		if got := quick.until(t, n+1); got[n].Chat != chat {
			t.Fatalf("got %+v", got)
		}
		t.Logf("received after %v", time.Since(begun))
		if took := time.Since(begun); took > attemptTime/2 { // behind a hanging attempt it would take longer
			t.Errorf("received after %v", took)
		}
	}
	hang.CloseClientConnections()
}

// Responses other than success are retried, and the reason names the response.
func TestFailuresHaveReasons(t *testing.T) {
	c := newClient("Parley/test", true, nil)
	defer c.close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	broken := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		fmt.Fprintf(conn, "HTTP/1.1 500 %s\r\n\r\n", strings.Repeat("\x1b[31mx", 400))
		conn.Close()
	})
	busy := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "999999999999999999")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	mute := newReceiver(t, func(int, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	endless := newReceiver(t, func(_ int, w http.ResponseWriter, req *http.Request) {
		for req.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	for url, want := range map[string]string{
		"http://" + closed.Addr().String():                     "connection refused",
		"https://" + strings.TrimPrefix(broken.URL, "http://"): "HTTP response to HTTPS client",
		"http://no-such-host.invalid/":                         "no such host",
		broken.URL:                                             "answered 500",
		busy.URL:                                               "answered 503",
		mute.URL:                                               "closed the connection without an answer",
		"ftp://h/":                                             `"ftp"`,
		"http://[::1":                                          "not valid",
		endless.URL:                                            "",
	} {
		begun := time.Now()
		err := c.send(t.Context(), store.Delivery{URL: url, Body: "{}"})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
		if f, ok := err.(failure); ok && (f.wait > maxRetryAfter || f.wait < 0 || url == busy.URL && f.wait == 0) {
			t.Errorf("%s: wait %v", url, f.wait)
		}
		if err != nil && (len(shorten(err.Error())) > maxReasonBytes+3 || strings.Contains(err.Error(), "Post \"")) {
			t.Errorf("%s: %q", url, err)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s took %v", url, took)
		}
	}
}

// The back-off doubles up to its limit, and is random over its whole length.
func TestBackOffHasFullJitter(t *testing.T) {
	for attempts := range 200 {
		longest := min(maxBackOff, firstBackOff*time.Duration(1<<min(attempts, 20)))
		var least, most time.Duration = longest, 0
		for range 500 {
			d := backOff(attempts)
			least, most = min(least, d), max(most, d)
		}
		if least < 0 || most > longest || least > longest/10 || most < longest*9/10 {
			t.Fatalf("after %d: %v to %v, want anything up to %v", attempts, least, most, longest)
		}
	}
}

// 10,000 webhooks that wait for receivers that are down do not slow down a chat, and those
// for a working receiver are sent at once.
func TestTenThousandWaitingWebhooksCostAChatNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	b := newBox(t)
	down, err := net.Listen("tcp", "127.0.0.1:0")
	b.must(err)
	url := "http://" + down.Addr().String()
	down.Close()
	r := newReceiver(t, nil)
	chats := func() (start, tell []time.Duration) {
		for n := range 50 {
			begun := time.Now()
			chat := b.begin(r.URL)
			start = append(start, time.Since(begun))
			for got := r.until(t, n+1); !slices.ContainsFunc(got, func(g receivedRequest) bool {
				return g.Chat == chat
			}); got = r.until(t, n+1) {
				<-time.After(time.Millisecond)
			}
			tell = append(tell, time.Since(begun))
		}
		r.mu.Lock()
		r.got = nil
		r.mu.Unlock()
		slices.Sort(start)
		slices.Sort(tell)
		return start, tell
	}
	b.send()
	chats() // warms up
	start, tell := chats()
	b.sender.Close()
	b.begin(url)
	b.tamper(`
		INSERT INTO webhook (id, receiver, chat, event, body, created_ms, until_ms, due_ms)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
		SELECT printf('%016x', i), receiver, 'chat' || i, event, body, created_ms, until_ms, due_ms FROM webhook, n
		 WHERE state = 'waiting'`)
	b.send()
	fullStart, fullTell := chats()
	costs := func() bool {
		return fullStart[25] > 3*start[25]+5*time.Millisecond || fullTell[25] > 3*tell[25]+20*time.Millisecond
	}
	// other load on the machine passes, but the waiting webhooks stay
	for tried := 0; costs() && tried < 10; tried++ {
		fullStart, fullTell = chats()
	}
	waiting, _, err := b.store.WebhookCounts(t.Context())
	b.must(err)
	t.Logf("median (and longest) of 50: beginning a chat %v (%v), and with %d that wait %v (%v); told after %v (%v), "+
		"and %v (%v)",
		start[25], start[49], waiting, fullStart[25], fullStart[49], tell[25], tell[49], fullTell[25], fullTell[49])
	if waiting < 9000 {
		t.Errorf("%d wait", waiting)
	}
	if costs() {
		t.Error("those that wait cost chats something")
	}
	begun := time.Now()
	all, err := b.store.WaitingReceivers(t.Context())
	b.must(err)
	t.Logf("looking at %d receivers takes %v", len(all), time.Since(begun))
}
