package webhook

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/store"
)

// While a receiver is down for long, the outbox stays within its bounds. The oldest
// webhooks are listed as given up with a reason, and the receiver gets the rest when it is
// up again.
func TestOutboxStaysWithinItsBounds(t *testing.T) {
	b := newBox(t)
	var down atomic.Bool
	down.Store(true)
	r := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusGone)
		}
	})
	var shed atomic.Int64
	b.send(func(p *Parts) {
		p.bounds = store.WebhookBounds{Number: 20, Bytes: 1 << 20}
		p.Shed = func(n int) { shed.Add(int64(n)) }
	})
	chat := b.begin(r.URL)
	for n := range 50 {
		b.call(chat, n)
	}
	b.until("31 are given up", func() bool { return shed.Load() >= 31 })
	down.Store(false)
	_, err := b.store.RetryWebhooks(t.Context(), store.WebhookFilter{IDs: b.waiting()})
	b.must(err)
	b.until("the rest is delivered", func() bool { return len(b.waiting()) == 0 })
	dead := b.listed(store.WebhookWasAbandoned)
	if len(dead) == 0 || len(dead) > 20 {
		t.Fatalf("%d dropped webhooks are still stored", len(dead))
	}
	for _, d := range dead {
		if !strings.Contains(d.LastError, "at most 20 webhooks of one account") {
			t.Errorf("dropped because %q", d.LastError)
		}
	}
	var numbers []int
	for _, got := range r.until(t, 20) {
		if got.Event == "tool_call" && got.Number >= 30 {
			numbers = append(numbers, got.Number)
		}
	}
	for i, n := range numbers {
		if i > 0 && n < numbers[i-1] {
			t.Errorf("received in the order %v", numbers)
			break
		}
	}
}

// waiting returns the ids of the webhooks that wait.
func (b *testBox) waiting() (ids []string) {
	for _, w := range b.listed(store.WebhookWaiting) {
		ids = append(ids, w.ID)
	}
	return ids
}

// until waits for a condition.
func (b *testBox) until(what string, so func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("not so after a minute: %s", what)
		}
	}
}
