package store

import (
	"strings"
	"testing"
)

// The oldest webhooks of an account with too many are given up, whatever their receiver;
// other accounts' stay, and so does the order within a chat.
func TestOldestWaitingWebhooksAreDropped(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, shop := newAccount(t, s, "home"), newAccount(t, s, "shop")
	for _, n := range []NewChat{hooked(home, "https://a/"), hooked(shop, "https://a/"), hooked(home, "https://b/")} {
		must(t, s.StartChat(t.Context(), n))
		must(t, s.WriteChat(t.Context(), n.ID,
			ChatWrite{Notices: []Notice{{"tool_call", 1500, `{"a":"` + strings.Repeat("b", 1000) + `"}`}}}))
	}
	newest, number, bytes, err := s.WebhooksSince(t.Context(), 0)
	if err != nil || newest == 0 || number != 6 || bytes < 3000 || bytes > 4000 {
		t.Fatalf("%d webhooks of %d bytes, up to %d (%v)", number, bytes, newest, err)
	}
	shed := func(b WebhookBounds, want int, outbox string) {
		t.Helper()
		if n, err := s.ShedWebhooks(t.Context(), b, "too many"); n != want || err != nil {
			t.Errorf("%d are given up (%v), want %d", n, err, want)
		}
		wantOutbox(t, s, outbox)
	}
	shed(WebhookBounds{4, 1 << 20}, 0, "chat_started waiting!, tool_call waiting, chat_started waiting!, tool_call "+
		"waiting, chat_started waiting!, tool_call waiting")
	shed(WebhookBounds{3, 1 << 20}, 1, "chat_started dead, tool_call waiting!, chat_started waiting!, tool_call "+
		"waiting, chat_started waiting!, tool_call waiting")
	shed(WebhookBounds{100, 1500}, 1, "chat_started dead, tool_call dead, chat_started waiting!, tool_call waiting, "+
		"chat_started waiting!, tool_call waiting")
	all, err := s.Webhooks(t.Context(), WebhookFilter{AccountID: home, States: []WebhookState{WebhookWasAbandoned}}, 10)
	must(t, err)
	if len(all) != 2 || all[0].LastError != "too many" || all[0].LastMS == 0 || all[0].Attempts != 0 {
		t.Errorf("listed as %+v", all)
	}
	// What was given up is kept within the bounds too.
	shed(WebhookBounds{1, 1 << 20}, 2, "chat_started dead, tool_call waiting!, chat_started dead, tool_call waiting!")
	if n, err := s.RetryWebhooks(t.Context(), WebhookFilter{}); n != 4 || err != nil {
		t.Errorf("%d are tried again (%v)", n, err)
	}
	must(t, s.Check(t.Context()))
}

// A webhook that is delivered after it was given up counts as delivered.
func TestWebhookDeliveredAfterItWasDroppedIsDelivered(t *testing.T) {
	s := openStore(t, t.TempDir())
	n := hooked(newAccount(t, s, "home"), "https://a/")
	must(t, s.StartChat(t.Context(), n))
	deliver(t, s, func(d Delivery) error {
		if _, err := s.ShedWebhooks(t.Context(), WebhookBounds{0, 0}, "too many"); err != nil {
			return err
		}
		return s.WebhookDelivered(t.Context(), d.Num, 5)
	})
	wantOutbox(t, s, "")
}
