package batch

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/appliance/webhook"
	"parley/store"
)

// callbacks starts a sender of webhooks, and returns the URL of a receiver and its bodies.
// The receiver fails the first delivery.
func (b *testBox) callbacks() (url string, bodies <-chan string) {
	received, failed := make(chan string, 9), false
	key, err := b.records.SigningKey(b.t.Context(), b.account)
	b.must(err)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !failed {
			failed = true
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, err := io.ReadAll(r.Body)
		stamp, err2 := strconv.ParseInt(r.Header.Get("X-Service-Webhook-Timestamp"), 10, 64)
		if err != nil || err2 != nil {
			b.t.Error(err, err2)
		}
		if got := r.Header.Get("X-Service-Webhook-Signature"); got != webhook.Sign(key, string(body), time.Unix(stamp,
			0)) {
			b.t.Errorf("the signature is %q", got)
		}
		received <- string(body)
	}))
	sender := webhook.Start(webhook.Parts{
		Outbox:       b.records,
		AllowPrivate: true,
		Log:          slog.New(slog.DiscardHandler),
	})
	b.t.Cleanup(func() { sender.Close(); receiver.Close() })
	return receiver.URL + "/done", received
}

func TestCallbackHasThePredictionsAndIsSignedAndRetried(t *testing.T) {
	b := newBox(t)
	url, bodies := b.callbacks()
	b.start(words)
	for _, c := range []struct {
		text   string
		status contract.JobState
		long   bool
	}{
		{"one two", contract.JobCompleted, false},
		{strings.Repeat("word ", 20_000), contract.JobCompleted, true},
	} {
		request, err := json.Marshal(contract.PostedBatchJob{Text: []string{c.text}, CallbackURL: url})
		b.must(err)
		id := b.submit(string(request))
		var body string
		select {
		case body = <-bodies:
		case <-time.After(waitLimit):
			t.Fatal("no callback")
		}
		var got struct {
			JobID       string                  `json:"job_id"`
			Status      contract.JobState       `json:"status"`
			Predictions []contract.SourceResult `json:"predictions"`
			Error       string                  `json:"error"`
		}
		b.must(json.Unmarshal([]byte(body), &got))
		if got.JobID != id || got.Status != c.status || (len(got.Predictions) == 0) != c.long ||
			strings.Contains(got.Error, id+"/predictions") != c.long || len(body) > maxCallbackBytes+1000 {
			t.Errorf("got %.300s", body)
		}
	}
	sent, err := b.records.Webhooks(t.Context(), store.WebhookFilter{}, 9)
	if err != nil || len(sent) != 2 || sent[0].Event != "batch_job" {
		t.Errorf("the outbox is %+v, %v", sent, err)
	}
}
