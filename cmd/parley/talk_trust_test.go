package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"parley/appliance/config"
)

func TestABoxIsTrustedByItsAuthorityOnly(t *testing.T) {
	box := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, err := websocket.Accept(w, r, nil); err == nil {
			conn.CloseNow()
		}
	}))
	defer box.Close()
	address := "wss" + strings.TrimPrefix(box.URL, "https") + chatPath
	cfg := config.Config{Data: t.TempDir()}
	connect := func(ca string) error {
		t.Helper()
		client, err := trustingClient(ca, cfg)
		if err != nil {
			return err
		}
		defer client.CloseIdleConnections()
		line, err := dial(t.Context(), client, address, "key", nil)
		if err == nil {
			line.conn.CloseNow()
		}
		return err
	}
	if err := connect(""); err == nil || !strings.Contains(err.Error(), "pass --ca") {
		t.Errorf("nobody vouches for it: %v", err)
	}
	ca := filepath.Join(t.TempDir(), "ca.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: box.Certificate().Raw})
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := connect(ca); err != nil {
		t.Errorf("--ca: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(cfg.AuthorityFile()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cfg.AuthorityFile(), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := connect(""); err != nil {
		t.Errorf("the box's data lies here: %v", err)
	}
	for name, text := range map[string]string{"none.pem": "", "text.pem": "no PEM"} {
		file := filepath.Join(t.TempDir(), name)
		if text != "" {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := connect(file); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
