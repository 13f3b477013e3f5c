package appliance

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/store"
)

// A browser on the network fetches the box's authority and a token, and starts a chat. The
// chat ends when a command on the box revokes the key.
func TestRevokedKeyEndsTheChatsOfItsTokens(t *testing.T) {
	box := startBox(t, withScriptedModel(t), func(c *config.Config) {
		c.Listen, c.TLS = "0.0.0.0:0", config.TLS{Mode: config.TLSOwn}
	})
	if !strings.HasPrefix(box.url, "https://") || strings.Contains(box.url, "0.0.0.0") {
		t.Fatalf("the box is reported at %s", box.url)
	}
	ca, err := os.ReadFile(box.cfg.AuthorityFile())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	defer client.CloseIdleConnections()

	records, err := store.Join(t.Context(), box.cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	made, err := records.CreateKey(t.Context(), store.NewKey{Account: "museum"})
	if err != nil {
		t.Fatal(err)
	}
	ask, err := http.NewRequestWithContext(t.Context(), "POST", box.url+"/oauth2-cc/token",
		strings.NewReader(`{"grant_type":"client_credentials"}`))
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Content-Type", "application/json")
	ask.SetBasicAuth(made.APIKey, made.SecretKey)
	answer, err := client.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&token); err != nil || token.AccessToken == "" {
		t.Fatalf("%d %v", answer.StatusCode, err)
	}

	url := "wss" + strings.TrimPrefix(box.url, "https") + "/v0/evi/chat?access_token=" + token.AccessToken
	conn, shake, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	c := &caller{
		t:     t,
		conn:  conn,
		begun: time.Now(),
		news:  make(chan struct{}, 1),
	}
	go c.listen()
	t.Cleanup(func() { conn.CloseNow() })
	meta := c.until("chat_metadata", 1, waitLimit)[0].ServerMessage.(contract.ChatMetadata)
	if id := shake.Header.Get("X-Request-Id"); meta.RequestID != id || id == "" {
		t.Errorf("the chat is request %s, its handshake %s", meta.RequestID, id)
	}

	if err := records.RevokeKey(t.Context(), made.KeyID); err != nil {
		t.Fatal(err)
	}
	revoked := time.Now()
	// The socket may be closed before this is sent.
	_ = c.conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"user_input","text":"Are you still there?"}`))
	heard := c.until("error", 1, waitLimit)
	if e := heard[len(heard)-1].ServerMessage.(contract.WebSocketError); e.Code != contract.KeyRevoked ||
		time.Since(revoked) > 20*time.Second {
		t.Errorf("after %v: %+v", time.Since(revoked), e)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c.mu.Lock()
		why, heard := c.closed, c.received
		c.mu.Unlock()
		if why == nil && time.Now().Before(deadline) {
			continue
		}
		ce, ok := errors.AsType[websocket.CloseError](why)
		if !ok || ce.Code != contract.ClosePolicy {
			t.Errorf("closed with %v", why)
		}
		for _, m := range heard {
			if m.MessageType() == "user_message" {
				t.Error("what came after the end was taken")
			}
		}
		break
	}
	if _, res, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPClient: client}); err == nil ||
		res == nil || res.StatusCode != 401 {
		t.Errorf("the token opens another chat: %v", err)
	}

	// A silent client does not keep the box from stopping.
	silent, err := net.Dial("tcp", strings.TrimPrefix(box.url, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	time.Sleep(50 * time.Millisecond) // until the box has accepted it
	begun := time.Now()
	if err := box.stop(); err != nil || time.Since(begun) > 20*time.Second {
		t.Errorf("the box stopped after %v: %v", time.Since(begun), err)
	}
}
