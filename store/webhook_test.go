package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// hooked is a chat whose receivers subscribe to all events.
func hooked(account string, urls ...string) NewChat {
	n := NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: account,
		StartedMS: 1000,
		RequestID: "r",
	}
	for _, url := range urls {
		n.Webhooks.Hooks = append(n.Webhooks.Hooks, Webhook{url, []string{"chat_started", "tool_call", "chat_ended"}})
	}
	n.Webhooks.Started, n.Webhooks.Ended = `{"event_name":"chat_started"}`,
		`{"event_name":"chat_ended","custom_session_id":null,"end_time":0,"duration_seconds":0,"end_reason":""}`
	return n
}

// outbox lists the events in the outbox, oldest first, as "event state", with "!" if one
// is due.
func outbox(t *testing.T, s *Store) string {
	t.Helper()
	all, err := s.Webhooks(t.Context(), WebhookFilter{}, 1000)
	must(t, err)
	slices.Reverse(all)
	var list []string
	for _, w := range all {
		due := ""
		if w.DueMS != 0 {
			due = "!"
		}
		list = append(list, fmt.Sprintf("%s %s%s", w.Event, w.State, due))
	}
	return strings.Join(list, ", ")
}

func wantOutbox(t *testing.T, s *Store, want string) {
	t.Helper()
	if got := outbox(t, s); got != want {
		t.Errorf("in the outbox: %s; want %s", got, want)
	}
}

// A notice is stored in the same transaction as its event.
func TestWebhooksAreStoredWithTheirEvent(t *testing.T) {
	s := openStore(t, t.TempDir())
	n := hooked(newAccount(t, s, "home"), "https://a/")
	must(t, s.StartChat(t.Context(), n))
	wantOutbox(t, s, "chat_started waiting!")
	again := n
	again.GroupID = uuid.NewString()
	wantError(t, s.StartChat(t.Context(), again), ErrConflict)
	notice := []Notice{{"tool_call", 1500, `{}`}}
	wantError(t, s.WriteChat(t.Context(), n.ID, ChatWrite{Notices: notice, Amended: []Event{{ID: "none"}}}),
		ErrNotFound)
	wantError(t, s.EndChat(t.Context(), n.ID, "SLEPT", 2000), ErrNotAllowed)
	wantOutbox(t, s, "chat_started waiting!")
	must(t, s.WriteChat(t.Context(), n.ID, ChatWrite{Notices: notice, CustomSessionID: "mine \"'"}))
	must(t, s.EndChat(t.Context(), n.ID, InactivityTimeout, 4999))
	wantError(t, s.EndChat(t.Context(), n.ID, UserEnded, 5000), ErrConflict)
	must(t, s.WriteChat(t.Context(), n.ID, ChatWrite{Notices: notice})) // after its end nobody is told
	wantOutbox(t, s, "chat_started waiting!, tool_call waiting, chat_ended waiting")
	ended, err := value[string](t.Context(), s.read, `SELECT body FROM webhook WHERE event = 'chat_ended'`)
	must(t, err)
	var got map[string]any
	must(t, json.Unmarshal([]byte(ended), &got))
	if got["end_reason"] != "INACTIVITY_TIMEOUT" || got["end_time"] != 4999.0 || got["duration_seconds"] != 3.0 ||
		got["custom_session_id"] != "mine \"'" {
		t.Errorf("got %s", ended)
	}
	if left, err := value[int](t.Context(), s.read,
		`SELECT (SELECT count(*) FROM webhook_chat) + (SELECT count(*) FROM webhook_wish)`); err != nil || left != 0 {
		t.Errorf("%d rows are left of a chat that is over (%v)", left, err)
	}
	must(t, s.Check(t.Context()))
}

// A receiver that a config names twice gets each event once.
func TestReceiverGetsEachEventOnce(t *testing.T) {
	s := openStore(t, t.TempDir())
	home, work := newAccount(t, s, "home"), newAccount(t, s, "work")
	must(t, s.StartChat(t.Context(), hooked(home, "https://a/", "https://a/")))
	must(t, s.StartChat(t.Context(), hooked(work, "https://a/"))) // another account's is another receiver
	wantOutbox(t, s, "chat_started waiting!, chat_started waiting!")
	receivers, err := s.WaitingReceivers(t.Context())
	must(t, err)
	if len(receivers) != 2 {
		t.Errorf("%d receivers", len(receivers))
	}
	keys := map[string]bool{}
	for _, r := range receivers {
		due, next, err := s.DueWebhooks(t.Context(), r.Num, time.Now().UnixMilli(), 10)
		must(t, err)
		if len(due) != 1 || next != 0 || due[0].SigningKey == "" {
			t.Fatalf("%+v, %d", due, next)
		}
		keys[due[0].SigningKey] = true
	}
	if len(keys) != 2 {
		t.Error("two accounts share a signing key")
	}
}

// deliver marks all that is due now as delivered.
func deliver(t *testing.T, s *Store, settle func(d Delivery) error) {
	t.Helper()
	receivers, err := s.WaitingReceivers(t.Context())
	must(t, err)
	for _, r := range receivers {
		due, _, err := s.DueWebhooks(t.Context(), r.Num, time.Now().UnixMilli(), 100)
		must(t, err)
		for _, d := range due {
			must(t, settle(d))
		}
	}
}

func TestNextWebhookOfAChatIsDueWhenTheFirstHasEnded(t *testing.T) {
	s := openStore(t, t.TempDir())
	n := hooked(newAccount(t, s, "home"), "https://a/")
	must(t, s.StartChat(t.Context(), n))
	must(t, s.WriteChat(t.Context(), n.ID, ChatWrite{Notices: []Notice{{"tool_call", 1500, `{}`}}}))
	must(t, s.EndChat(t.Context(), n.ID, UserEnded, 2000))
	now := time.Now().UnixMilli()
	deliver(t, s, func(d Delivery) error { return s.WebhookFailed(t.Context(), d.Num, now, "no", now-1) })
	wantOutbox(t, s, "chat_started waiting!, tool_call waiting, chat_ended waiting")
	deliver(t, s, func(d Delivery) error { return s.WebhookDelivered(t.Context(), d.Num, now) })
	wantOutbox(t, s, "chat_started delivered, tool_call waiting!, chat_ended waiting")
	if body, err := value[string](t.Context(), s.read,
		`SELECT body FROM webhook WHERE state = 'delivered'`); err != nil || body != "" {
		t.Errorf("the body of a delivered webhook is stored: %q (%v)", body, err)
	}
	deliver(t, s, func(d Delivery) error { return s.WebhookDead(t.Context(), d.Num, now, "never") })
	wantOutbox(t, s, "chat_started delivered, tool_call dead, chat_ended waiting!")
	if n, err := s.RetryWebhooks(t.Context(), WebhookFilter{}); err != nil || n != 2 {
		t.Errorf("%d retried, %v", n, err)
	}
	deliver(t, s, func(d Delivery) error { return s.WebhookDelivered(t.Context(), d.Num, now) })
	wantOutbox(t, s, "chat_started delivered, tool_call delivered, chat_ended delivered")
	if n, err := s.RetryWebhooks(t.Context(), WebhookFilter{}); err != nil || n != 0 {
		t.Errorf("%d retried, %v", n, err)
	}
	waiting, dead, err := s.WebhookCounts(t.Context())
	if err != nil || waiting != 0 || dead != 0 {
		t.Errorf("%d wait, %d are dead, %v", waiting, dead, err)
	}
}

// Sent webhooks are deleted after their retention, with receivers that are no longer
// used, and at once with a deleted chat; waiting ones never are.
func TestFinishedWebhooksAreDeleted(t *testing.T) {
	s := openStore(t, t.TempDir())
	account := newAccount(t, s, "home")
	now := time.Now()
	settle := map[string]func(d Delivery) error{
		"https://delivered/": func(d Delivery) error { return s.WebhookDelivered(t.Context(), d.Num, now.UnixMilli()) },
		"https://delivered-old/": func(d Delivery) error {
			return s.WebhookDelivered(t.Context(), d.Num, now.Add(-25*time.Hour).UnixMilli())
		},
		"https://dead/": func(d Delivery) error {
			return s.WebhookDead(t.Context(), d.Num, now.Add(-25*time.Hour).UnixMilli(), "no")
		},
		"https://dead-old/": func(d Delivery) error {
			return s.WebhookDead(t.Context(), d.Num, now.Add(-8*24*time.Hour).UnixMilli(), "no")
		},
		"https://waiting/": func(Delivery) error { return nil },
	}
	n := hooked(account, slices.Sorted(maps.Keys(settle))...)
	must(t, s.StartChat(t.Context(), n))
	deliver(t, s, func(d Delivery) error { return settle[d.URL](d) })
	urls := func() string {
		all, err := s.Webhooks(t.Context(), WebhookFilter{}, 100)
		must(t, err)
		var urls []string
		for _, w := range all {
			urls = append(urls, w.URL)
		}
		slices.Sort(urls)
		return strings.Join(urls, " ")
	}
	must(t, s.Tidy(t.Context(), 0))
	if got := urls(); got != "https://dead/ https://delivered/ https://waiting/" {
		t.Errorf("after tidying: %s", got)
	}
	if receivers, err := value[int](t.Context(), s.read, `SELECT count(*) FROM webhook_receiver`); err != nil ||
		receivers != 5 {
		t.Errorf("%d receivers of a chat that goes on, %v", receivers, err)
	}
	must(t, s.EndChat(t.Context(), n.ID, UserEnded, 2000))
	must(t, s.DeleteChatGroup(t.Context(), account, n.GroupID))
	wantStates(t, s, WebhookWaiting)
	if forgotten, err := s.ForgetWebhooks(t.Context(), WebhookFilter{}); err != nil || forgotten != 0 {
		t.Errorf("%d forgotten, %v", forgotten, err)
	}
}

func wantStates(t *testing.T, s *Store, want WebhookState) {
	t.Helper()
	all, err := s.Webhooks(t.Context(), WebhookFilter{}, 100)
	must(t, err)
	for _, w := range all {
		if w.State != want {
			t.Errorf("%s of %s is %s", w.Event, w.URL, w.State)
		}
	}
	if len(all) == 0 {
		t.Error("none is left")
	}
}

// Webhooks that ran out of time while the box was off get a last chance, and a clock that
// was set back delays nothing for years.
func TestOverdueWebhooksGetALastAttempt(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, s.StartChat(t.Context(), hooked(newAccount(t, s, "home"), "https://a/")))
	now := time.Now()
	set := func(until, due time.Time) {
		must(t, s.change(t.Context(), "testing", func(ctx context.Context, c conn) error {
			_, err := c.ExecContext(ctx, `UPDATE webhook SET until_ms = ?, due_ms = ?`, until.UnixMilli(),
				due.UnixMilli())
			return err
		}))
		must(t, s.ResumeWebhooks(t.Context(), time.Hour))
	}
	for _, x := range []struct{ until, due, wantUntil, wantDue time.Duration }{
		{-24 * time.Hour, -48 * time.Hour, time.Hour, -48 * time.Hour},
		{5 * time.Minute, time.Minute, 5 * time.Minute, time.Minute},
		{24 * time.Hour, 9000 * time.Hour, 24 * time.Hour, time.Hour},
	} {
		set(now.Add(x.until), now.Add(x.due))
		all, err := s.Webhooks(t.Context(), WebhookFilter{}, 1)
		must(t, err)
		until, due := time.UnixMilli(all[0].UntilMS).Sub(now), time.UnixMilli(all[0].DueMS).Sub(now)
		if (until-x.wantUntil).Abs() > time.Minute/2 || (due-x.wantDue).Abs() > time.Minute/2 {
			t.Errorf("until %v, due %v: %v and %v", x.until, x.due, until, due)
		}
	}
}

// The sender's queries use indexes, however many webhooks wait.
func TestOutboxQueriesUseIndexes(t *testing.T) {
	s := openStore(t, t.TempDir())
	for _, q := range []struct{ text, want string }{
		{`SELECT num FROM webhook WHERE receiver = 1 AND due_ms <= 5 ORDER BY due_ms, num LIMIT 4`, "webhook_due"},
		{`SELECT min(due_ms) FROM webhook WHERE receiver = 1 AND due_ms IS NOT NULL`, "webhook_due"},
		{`SELECT 1 FROM webhook WHERE chat = 'c' AND receiver = 1 AND state = 'waiting'`, "webhook_lane"},
		{`SELECT count(*) FROM webhook WHERE state = 'waiting'`, "webhook_state"},
		{`SELECT num FROM webhook WHERE state = 'dead' AND last_ms < 5 AND state <> 'waiting'`, "webhook_done"},
	} {
		plan, err := query(t.Context(), s.read, func(row scanner) (detail string, err error) {
			var id, parent, unused int
			return detail, row.Scan(&id, &parent, &unused, &detail)
		}, `EXPLAIN QUERY PLAN `+q.text)
		must(t, err)
		if all := strings.Join(plan, "; "); !strings.Contains(all, q.want) || strings.Contains(all, "SCAN") {
			t.Errorf("%s: %s", q.text, all)
		}
	}
}
