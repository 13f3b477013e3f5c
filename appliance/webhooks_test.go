package appliance

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/webhook"
	"parley/store"
)

// receivedWebhook is a webhook that the receiver of a test got.
type receivedWebhook struct {
	at        time.Time
	body      string
	signature string
	stamp     string
}

// receiveWebhooks runs a receiver, and returns its webhooks on a channel.
func receiveWebhooks(t *testing.T) (url string, got <-chan receivedWebhook) {
	t.Helper()
	heard := make(chan receivedWebhook, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		heard <- receivedWebhook{time.Now(), string(body), r.Header.Get("X-Service-Webhook-Signature"),
			r.Header.Get("X-Service-Webhook-Timestamp")}
	}))
	t.Cleanup(s.Close)
	return s.URL, heard
}

func nextWebhook(t *testing.T, got <-chan receivedWebhook) (h receivedWebhook, fields map[string]any) {
	t.Helper()
	select {
	case h = <-got:
	case <-time.After(time.Minute):
		t.Fatal("no webhook came")
	}
	if err := json.Unmarshal([]byte(h.body), &fields); err != nil {
		t.Fatal(err)
	}
	return h, fields
}

// The receiver in a config learns of the start and of the end of a chat, whether the
// history is stored or not, and also when the stopping box ends the chat.
func TestLiveChatSendsWebhooks(t *testing.T) {
	for _, kept := range []bool{true, false} {
		b := startBox(t, withScriptedModel(t), func(c *config.Config) {
			c.Webhooks.AllowPrivate, c.Retention.History = true, kept
		})
		url, got := receiveWebhooks(t)
		id := b.post(t, "/v0/evi/configs", `{"name":"museum","evi_version":"4-mini","webhooks":[{"url":"`+url+
			`/told","events":["chat_started","chat_ended"]}]}`)
		c := b.call(t, "&config_id="+id+"&session_settings[custom_session_id]=mine")
		begun := c.until("chat_metadata", 1, waitLimit)[0].ServerMessage.(contract.ChatMetadata)
		h, started := nextWebhook(t, got)
		t.Logf("chat_started came %v after its fact", h.at.Sub(time.UnixMilli(int64(started["start_time"].(float64)))))
		if started["event_name"] != "chat_started" || started["chat_id"] != begun.ChatID ||
			started["chat_group_id"] != begun.ChatGroupID || started["config_id"] != id ||
			started["chat_start_type"] != "new_chat_group" || started["custom_session_id"] != "mine" ||
			started["caller_number"] != nil {
			t.Errorf("history %v: received %s", kept, h.body)
		}
		c.send(contract.SessionSettings{CustomSessionID: "other"})
		c.send(contract.AssistantInput{Text: "Hello."})
		c.until("assistant_end", 1, waitLimit)
		c.conn.CloseNow()
		h, ended := nextWebhook(t, got)
		t.Logf("chat_ended came %v after its fact", h.at.Sub(time.UnixMilli(int64(ended["end_time"].(float64)))))
		if ended["event_name"] != "chat_ended" || ended["chat_id"] != begun.ChatID ||
			ended["end_reason"] != "USER_ENDED" || ended["custom_session_id"] != "other" {
			t.Errorf("history %v: received %s", kept, h.body)
		}
		key := b.signingKey(t)
		if h.signature != webhook.Sign(key, h.body, timestamp(t, h.stamp)) {
			t.Errorf("history %v: signed %s", kept, h.signature)
		}

		c = b.call(t, "&config_id="+id)
		c.until("chat_metadata", 1, waitLimit)
		nextWebhook(t, got)
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		if h, ended := nextWebhook(t, got); ended["event_name"] != "chat_ended" || ended["end_reason"] == "" ||
			ended["custom_session_id"] != nil {
			t.Errorf("history %v: received %s", kept, h.body)
		}
	}
}

// signingKey returns the signing key of the box's first account.
func (b *runningBox) signingKey(t *testing.T) string {
	t.Helper()
	records, err := store.Join(t.Context(), b.cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	all, err := records.Accounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	key, err := records.SigningKey(t.Context(), all[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func timestamp(t *testing.T, seconds string) time.Time {
	t.Helper()
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(n, 0)
}
