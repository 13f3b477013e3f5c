package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// receivers accept every webhook except those to a host named down.
type receivers struct{}

func (receivers) WebhookRecord(w store.SentWebhook) contract.ReturnWebhook {
	return contract.ReturnWebhook{
		ID:        w.ID,
		Account:   w.Account,
		Event:     w.Event,
		ChatID:    w.ChatID,
		URL:       w.URL,
		State:     string(w.State),
		CreatedOn: w.CreatedMS,
		LastError: w.LastError,
	}
}

func (receivers) TryWebhook(_ context.Context, _, url string) (time.Duration, error) {
	if strings.Contains(url, "//down") {
		return time.Second, errors.New("it answered 503")
	}
	return time.Millisecond, nil
}

// page returns the entries of a paged list.
func page(t *testing.T, r record, name string) []record {
	t.Helper()
	all, ok := r[name].([]any)
	if !ok {
		t.Fatalf("no %s in %v", name, r)
	}
	rows := make([]record, len(all))
	for i, one := range all {
		rows[i] = one.(record)
	}
	return rows
}

func TestAnOperatorCreatesListsAndRevokesKeys(t *testing.T) {
	c := startRest(t, "home")[0]
	made := c.ask("POST", "/v0/box/keys", `{"account":"museum","label":"Lobby","role":"operator","expires_in":3600}`,
		http.StatusCreated)
	key, id := made["api_key"].(string), made["key_id"].(string)
	if len(key) < 40 || made["role"] != "operator" || made["expires_on"].(float64) < float64(time.Now().UnixMilli()) {
		t.Fatalf("made %v", made)
	}
	other := c
	other.key = key
	listed := other.ask("GET", "/v0/box/keys?search=lobb", "", 200)
	rows := page(t, listed, "keys_page")
	if len(rows) != 1 || rows[0]["account"] != "museum" || rows[0]["hint"] != key[len(key)-4:] {
		t.Errorf("listed are %v", listed)
	}
	if status, _, text := c.send("GET", "/v0/box/keys", "", ""); status != 200 || strings.Contains(text, key) ||
		strings.Contains(text, made["secret_key"].(string)) {
		t.Errorf("a list tells keys: %s", text)
	}
	again := c.ask("POST", "/v0/box/keys/"+id+"/regenerate", "", 200)
	if again["api_key"] == key || again["account"] != "museum" {
		t.Errorf("regenerated is %v", again)
	}
	other.ask("GET", "/v0/box/keys", "", 401)
	c.ask("DELETE", "/v0/box/keys/"+id, "", 200)
	c.ask("DELETE", "/v0/box/keys/"+id, "", 404)
	c.ask("POST", "/v0/box/keys/"+id+"/regenerate", "", 404)
}

// A key that expires does not count as another operator's key.
func TestRevokingTheLastOperatorsKeyNeedsConsent(t *testing.T) {
	c := startRest(t, "home")[0]
	mine := page(t, c.ask("GET", "/v0/box/keys", "", 200), "keys_page")[0]["key_id"].(string)
	c.ask("POST", "/v0/box/keys", `{"account":"home","role":"operator","expires_in":60}`, http.StatusCreated)
	c.ask("POST", "/v0/box/keys", `{"account":"home"}`, http.StatusCreated)
	refused := c.ask("DELETE", "/v0/box/keys/"+mine, "", 409)
	if !strings.Contains(refused["message"].(string), "last=true") {
		t.Errorf("refused with %v", refused)
	}
	second := c.ask("POST", "/v0/box/keys", `{"account":"home","role":"operator"}`, http.StatusCreated)
	c.ask("DELETE", "/v0/box/keys/"+mine, "", 200)
	c.ask("GET", "/v0/box/keys", "", 401)
	c.key = second["api_key"].(string)
	c.ask("DELETE", "/v0/box/keys/"+second["key_id"].(string)+"?last=true", "", 200)
	c.ask("GET", "/v0/box/keys", "", 401)
}

func TestErrorsAboutKeysNameTheField(t *testing.T) {
	c := startRest(t, "home")[0]
	for body, field := range map[string]string{
		`{"label":"x"}`:                          "account",
		`{"account":" "}`:                        "account",
		`{"account":"a\u0007b"}`:                 "account",
		`{"account":"a","label":"\u200bx"}`:      "label",
		`{"account":"a","role":"root"}`:          "role",
		`{"account":"a","expires_in":0}`:         "expires_in",
		`{"account":"a","expires_in":999999999}`: "expires_in",
	} {
		status, _, text := c.send("POST", "/v0/box/keys", "application/json", body)
		if status != 400 && status != 422 || !strings.Contains(text, field) {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	c.ask("GET", "/v0/box/keys?account=nobody", "", 404)
	c.ask("GET", "/v0/box/keys?page_size=0", "", 400)
	c.ask("GET", "/v0/box/keys?revoked=perhaps", "", 400)
	if rows := page(t, c.ask("GET", "/v0/box/keys?page_number=9007199254740992", "", 200),
		"keys_page"); len(rows) != 0 {
		t.Errorf("the last page that there can be has %v", rows)
	}
}

func TestTheSigningKeyIsShownAndReplaced(t *testing.T) {
	c := startRest(t, "home")[0]
	old := c.ask("GET", "/v0/box/signing-keys/home", "", 200)["webhook_signing_key"]
	fresh := c.ask("POST", "/v0/box/signing-keys/home", "", 200)["webhook_signing_key"]
	if old == fresh || c.ask("GET", "/v0/box/signing-keys/home", "", 200)["webhook_signing_key"] != fresh {
		t.Errorf("it was %v and is %v", old, fresh)
	}
	c.ask("GET", "/v0/box/signing-keys/nobody", "", 404)
}

func TestAScreenIsPairedListedAndRevoked(t *testing.T) {
	c := startRest(t, "home")[0]
	config := c.ask("POST", "/v0/evi/configs", `{"name":"Guide","evi_version":"4-mini"}`,
		http.StatusCreated)["id"].(string)
	c.ask("POST", "/v0/box/kiosk-codes", `{"name":"Lobby","account":"home","config_id":"none"}`, 404)
	c.ask("POST", "/v0/box/kiosk-codes", `{"name":"Lobby","account":"nobody","config_id":"`+config+`"}`, 404)
	code := c.ask("POST", "/v0/box/kiosk-codes", `{"name":"Lobby","account":"home","config_id":"`+config+`"}`,
		http.StatusCreated)
	if code["expires_on"].(float64) < float64(time.Now().UnixMilli()) {
		t.Errorf("made %v", code)
	}
	paired := c.ask("POST", "/v0/box/kiosks", fmt.Sprintf(`{"code":%q}`, code["code"]), http.StatusCreated)
	rows := page(t, c.ask("GET", "/v0/box/kiosks?search=LOBBY", "", 200), "kiosks_page")
	if len(rows) != 1 || rows[0]["name"] != "Lobby" || rows[0]["config_name"] != "Guide" ||
		rows[0]["key_id"] != paired["key_id"] {
		t.Fatalf("listed are %v", rows)
	}
	id := paired["key_id"].(string)
	c.ask("POST", "/v0/box/keys/"+id+"/regenerate", "", 409)
	c.ask("DELETE", "/v0/evi/configs/"+config, "", 200)
	if rows := page(t, c.ask("GET", "/v0/box/kiosks", "", 200), "kiosks_page"); len(rows) != 1 ||
		rows[0]["config_id"] != config {
		t.Errorf("with its config gone: %v", rows)
	}
	c.ask("DELETE", "/v0/box/kiosks/"+id, "", 200)
	c.ask("DELETE", "/v0/box/kiosks/"+id, "", 404)
	if rows := page(t, c.ask("GET", "/v0/box/kiosks", "", 200), "kiosks_page"); len(rows) != 0 {
		t.Errorf("revoked, it is listed: %v", rows)
	}
	if rows := page(t, c.ask("GET", "/v0/box/kiosks?revoked=true", "", 200), "kiosks_page"); len(rows) != 1 ||
		rows[0]["revoked_on"] == nil {
		t.Errorf("those that were revoked: %v", rows)
	}
	// The key of an account is no screen.
	mine := page(t, c.ask("GET", "/v0/box/keys?search=home", "", 200), "keys_page")
	c.ask("DELETE", "/v0/box/kiosks/"+mine[len(mine)-1]["key_id"].(string), "", 404)
}

func TestWebhooksAreListedRetriedDeletedAndTested(t *testing.T) {
	c := startRest(t, "home")[0]
	for i := range 5 {
		chat := store.NewChat{
			ID:        contract.NewID(),
			GroupID:   contract.NewID(),
			AccountID: c.account,
			StartedMS: int64(1000 + i),
			RequestID: "r",
		}
		chat.Webhooks.Hooks = []store.Webhook{
			{URL: fmt.Sprintf("https://shop.example/%d?for=x", i), Events: []string{"chat_started"}}}
		chat.Webhooks.Started, chat.Webhooks.Ended = `{"event_name":"chat_started"}`, `{"event_name":"chat_ended"}`
		if err := c.api.Records.StartChat(t.Context(), chat); err != nil {
			t.Fatal(err)
		}
	}
	first := c.ask("GET", "/v0/box/webhooks?page_size=2", "", 200)
	rows := page(t, first, "webhooks_page")
	if len(rows) != 2 || first["total_pages"] != 3.0 || first["waiting"] != 5.0 || first["dead"] != 0.0 ||
		rows[0]["url"] != "https://shop.example/4?for=x" {
		t.Fatalf("the first page is %v", first)
	}
	if rows := page(t, c.ask("GET", "/v0/box/webhooks?page_size=2&page_number=2&state=waiting&account=home", "", 200),
		"webhooks_page"); len(rows) != 1 {
		t.Errorf("the last page is %v", rows)
	}
	past := c.ask("GET", "/v0/box/webhooks?page_number=7&page_size=2", "", 200)
	if len(page(t, past, "webhooks_page")) != 0 || past["total_pages"] != 3.0 {
		t.Errorf("past the end: %v", past)
	}
	if rows := page(t, c.ask("GET", "/v0/box/webhooks?search=EXAMPLE%2F3", "", 200), "webhooks_page"); len(rows) != 1 {
		t.Errorf("found are %v", rows)
	}
	c.ask("GET", "/v0/box/webhooks?state=lost", "", 400)
	c.ask("GET", "/v0/box/webhooks?account=nobody", "", 404)
	one := rows[0]["id"].(string)
	if n := c.ask("POST", "/v0/box/webhooks/retry", `{"ids":["`+one+`","`+one+`","none"]}`, 200)["changed"]; n != 1.0 {
		t.Errorf("%v are tried again", n)
	}
	if n := c.ask("POST", "/v0/box/webhooks/retry", `{"all":true,"account":"home"}`, 200)["changed"]; n != 5.0 {
		t.Errorf("%v are tried again", n)
	}
	if n := c.ask("POST", "/v0/box/webhooks/forget", `{"all":true}`, 200)["changed"]; n != 0.0 {
		t.Errorf("%v that wait were forgotten", n)
	}
	for _, body := range []string{`{}`, `{"ids":[]}`, `{"ids":["x"],"all":true}`} {
		c.ask("POST", "/v0/box/webhooks/forget", body, 400)
	}
	if r := c.ask("POST", "/v0/box/webhooks/test", `{"url":"https://shop.example/x","account":"home"}`,
		200); r["delivered"] != true {
		t.Errorf("tried: %v", r)
	}
	if r := c.ask("POST", "/v0/box/webhooks/test", `{"url":"https://down.example/x","account":"home"}`,
		200); r["delivered"] != false || r["error"] != "it answered 503" {
		t.Errorf("tried: %v", r)
	}
	c.ask("POST", "/v0/box/webhooks/test", `{"url":"ftp://x","account":"home"}`, 400)
	c.ask("POST", "/v0/box/webhooks/test", `{"url":"https://x.example","account":"nobody"}`, 404)
}

// healthSource sends the state three times and then waits for the end.
type healthSource struct {
	BoxHealth
	ended chan struct{}
}

func (h healthSource) Watch(ctx context.Context, tell func(any) error) error {
	defer close(h.ended)
	for n := range 3 {
		if err := tell(record{"n": n}); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// An event stream ends when its client disconnects, when the box stops, and when
// its key is revoked.
func TestAStreamEndsWithItsClientItsKeyAndTheBox(t *testing.T) {
	for name, end := range map[string]func(c client, id string, leave, stop func()){
		"the listener goes":  func(_ client, _ string, leave, _ func()) { leave() },
		"the box stops":      func(_ client, _ string, _, stop func()) { stop() },
		"the key is revoked": func(c client, id string, _, _ func()) { c.ask("DELETE", "/v0/box/keys/"+id, "", 200) },
	} {
		t.Run(name, func(t *testing.T) {
			c := startRest(t, "home")[0]
			made := c.ask("POST", "/v0/box/keys", `{"account":"home","role":"operator"}`, http.StatusCreated)
			running, stop := context.WithCancel(t.Context())
			defer stop()
			h := healthSource{ended: make(chan struct{})}
			c.api.BoxHealth, c.api.Running = h, running
			server := httptest.NewServer(c.api)
			defer server.Close()
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/v0/box/health/events", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Service-Api-Key", made["api_key"].(string))
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.Header.Get("Content-Type") != "text/event-stream" ||
				answer.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("answered with %v", answer.Header)
			}
			lines := bufio.NewScanner(answer.Body)
			var said []string
			for lines.Scan() {
				if said = append(said, lines.Text()); strings.Contains(lines.Text(), `"n":2`) {
					break
				}
			}
			if got := strings.Join(said,
				"\n"); got != ": here\n\ndata: {\"n\":0}\n\ndata: {\"n\":1}\n\ndata: {\"n\":2}" {
				t.Errorf("said %q", got)
			}
			end(c, made["key_id"].(string), leave, stop)
			<-h.ended
		})
	}
}

func TestVoiceAliasesAreSetListedAndDeleted(t *testing.T) {
	c := startRest(t, "home")[0]
	made := c.ask("PUT", "/v0/box/voice-aliases/AC%2FDC%20%20singer", `{"voice":"joe"}`, 200)
	if made["name"] != "AC/DC  singer" || made["voice"] != "joe" || made["from"] != "box" {
		t.Errorf("%v", made)
	}
	c.ask("PUT", "/v0/box/voice-aliases/taken", `{"voice":"joe"}`, 409)
	c.ask("PUT", "/v0/box/voice-aliases/Gazza", `{"voice":""}`, 400)
	c.ask("PUT", "/v0/box/voice-aliases/Gazza", `{}`, 422)
	c.ask("DELETE", "/v0/box/voice-aliases/Gazza", "", 404)
	if _, _, text := c.send("GET", "/v0/box/voice-aliases", "", ""); strings.TrimSpace(text) != `{"aliases":[]}` {
		t.Errorf("%s", text)
	}
}
