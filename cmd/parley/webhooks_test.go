package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/appliance/webhook"
	"parley/store"
)

// boxWithWebhooks returns the data folder of a box with a waiting, a dead and a delivered
// webhook, and their ids.
func boxWithWebhooks(t *testing.T) (data string, ids map[store.WebhookState]string) {
	t.Helper()
	data, ids = filepath.Join(t.TempDir(), "box"), map[store.WebhookState]string{}
	s, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	must(t, err)
	defer s.Close()
	_, err = s.CreateKey(t.Context(), store.NewKey{Account: "home"})
	must(t, err)
	home, err := s.Account(t.Context(), "home")
	must(t, err)
	now := time.Now().UnixMilli()
	for state, settle := range map[store.WebhookState]func(num int64) error{
		store.WebhookWaiting: func(num int64) error {
			return s.WebhookFailed(t.Context(), num, now, "answered 500 oh\x1b[31m", now+90_000)
		},
		store.WebhookWasAbandoned: func(num int64) error {
			return s.WebhookDead(t.Context(), num, now, "connection refused")
		},
		store.WebhookWasDelivered: func(num int64) error { return s.WebhookDelivered(t.Context(), num, now) },
	} {
		must(t, s.StartChat(t.Context(), store.NewChat{
			ID:        "chat-" + string(state),
			GroupID:   "g-" + string(state),
			AccountID: home.ID,
			StartedMS: now,
			RequestID: "r",
			Webhooks: store.Webhooks{
				Hooks: []store.Webhook{{URL: "https://user:secret@shop.example/" + string(state),
					Events: []string{"chat_started"}}}, Started: `{}`, Ended: `{}`,
			},
		}))
		all, err := s.Webhooks(t.Context(), store.WebhookFilter{ChatID: "chat-" + string(state)}, 1)
		must(t, err)
		ids[state] = all[0].ID
		receivers, err := s.WaitingReceivers(t.Context())
		must(t, err)
		for _, r := range receivers {
			due, _, err := s.DueWebhooks(t.Context(), r.Num, now+1000, 10)
			must(t, err)
			for _, d := range due {
				must(t, settle(d.Num))
			}
		}
	}
	return data, ids
}

func TestWebhooksAreListedRetriedAndForgotten(t *testing.T) {
	t.Parallel()
	data, ids := boxWithWebhooks(t)
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := parley(t, "", append(append([]string{"webhooks"}, args...), "--data", data)...)
		if code != want {
			t.Errorf("parley webhooks %v: code %d, want %d: %s%s", args, code, want, out, errs)
		}
		return out + errs
	}
	list := func(args ...string) (listed []listedWebhook) {
		t.Helper()
		if err := json.Unmarshal([]byte(run(exitDone, append([]string{"--json"}, args...)...)),
			&listed); err != nil {
			t.Error(err)
		}
		return listed
	}
	if all := list(); len(all) != 3 || strings.Contains(fmt.Sprint(all), "secret") {
		t.Errorf("listed %+v", all)
	}
	for state, id := range ids {
		if some := list("--state", string(state)); len(some) != 1 || some[0].ID != id || some[0].State != state ||
			some[0].Account != "home" || some[0].Event != "chat_started" {
			t.Errorf("%s: listed %+v", state, some)
		}
	}
	table := run(exitDone)
	for _, want := range []string{"again in 1m", "answered 500 oh", "connection refused", "delivered",
		"https://user:xxxxx@shop.example/dead"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if strings.Contains(table, "\x1b") {
		t.Error("a receiver steers the terminal")
	}
	if list("--chat", "chat-dead")[0].ID != ids[store.WebhookWasAbandoned] ||
		len(list("--account", "home", "--limit", "2")) != 2 {
		t.Error("the filters do not hold")
	}
	f := examined(t, exitDone, "--data", data, "--listen", freeAddress(t))["webhooks"]
	if f.Health != "warning" || !strings.Contains(f.What+f.Mend, "connection refused") ||
		!strings.Contains(f.Mend, "--retry") {
		t.Errorf("doctor: %+v", f)
	}

	if out := run(exitFailed, "--retry", ids[store.WebhookWasDelivered]); !strings.Contains(out,
		"parley webhooks shows") {
		t.Errorf("one that was delivered: %s", out)
	}
	run(exitDone, "--retry", ids[store.WebhookWasAbandoned], ids[store.WebhookWasAbandoned])
	if out := run(exitDone, "--retry", "--all", "--json"); out != "{\"retried\":2}\n" {
		t.Errorf("all: %s", out)
	}
	if all := list("--state", "waiting"); len(all) != 2 || all[0].Attempts != 0 ||
		all[0].DueMS > time.Now().UnixMilli() {
		t.Errorf("retried: %+v", all)
	}
	if out := run(exitDone, "--forget", "--all"); !strings.HasPrefix(out, "0 webhooks") {
		t.Errorf("forgotten: %s", out)
	}
	for _, args := range [][]string{{"--retry"}, {"--retry", "--all", "x"}, {"--forget"}, {"--limit", "0"},
		{"--state", "lost"}, {"--test", "shop.example"}, {"--test", "https://h:99999/"}, {"x"}} {
		run(exitMisuse, args...)
	}
	run(exitFailed, "--account", "nobody")
	run(exitFailed, "--forget", "nonsense")
	if f, there := examined(t, exitDone, "--data", t.TempDir(), "--listen", freeAddress(t))["webhooks"]; there {
		t.Errorf("without a box: %+v", f)
	}
}

// --test reports whether a receiver accepts a signed example, under the rules of the box.
func TestAReceiverIsTried(t *testing.T) {
	data, _ := boxWithWebhooks(t)
	_, key, _ := parley(t, "", "keys", "signing-key", "--account", "home", "--data", data)
	status := http.StatusOK
	r := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		stamp, stampErr := strconv.ParseInt(r.Header.Get("X-Hume-AI-Webhook-Timestamp"), 10, 64)
		if err := errors.Join(err, stampErr); err != nil {
			t.Error(err)
		}
		if want := webhook.Sign(strings.TrimSpace(key), string(body),
			time.Unix(stamp, 0)); r.Header.Get("X-Hume-AI-Webhook-Signature") != want {
			t.Errorf("signed %q, want %q", r.Header.Get("X-Hume-AI-Webhook-Signature"), want)
		}
		w.WriteHeader(status)
	}))
	defer r.Close()
	try := func(args ...string) (int, string) {
		code, out, errs := parley(t, "",
			append([]string{"webhooks", "--test", r.URL, "--account", "home", "--data", data}, args...)...)
		return code, out + errs
	}
	if code, out := try(); code != exitFailed || !strings.Contains(out, "webhooks.allow_private") {
		t.Errorf("code %d, %s", code, out)
	}
	if code, out := try("--webhooks-allow-private", "true"); code != exitDone ||
		!strings.HasPrefix(out, "delivered, in ") {
		t.Errorf("code %d, %s", code, out)
	}
	status = http.StatusForbidden
	if code, out := try("--webhooks-allow-private", "true"); code != exitFailed ||
		!strings.Contains(out, "403 Forbidden") {
		t.Errorf("code %d, %s", code, out)
	}
}
