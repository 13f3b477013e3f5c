package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance"
	"parley/appliance/box"
	"parley/appliance/config"
	"parley/store"
)

// printed returns the banner of a box with a first key.
func printed(key box.FirstKey) string {
	var out bytes.Buffer
	b := banner{config.Config{Data: "/data", Listen: "127.0.0.1:1", TLS: config.TLS{Mode: config.TLSOff}}, &out}
	b.ready(appliance.Ready{URL: "http://127.0.0.1:1", FirstKey: key})
	return out.String()
}

func TestBannerShowsTheFirstKeyOnlyIfNoFileHasIt(t *testing.T) {
	key := box.FirstKey{Made: true,
		Credentials: store.Credentials{APIKey: "the-api-key", SecretKey: "the-secret", WebhookSigningKey: "the-signer"}}
	secrets := []string{key.APIKey, key.SecretKey, key.WebhookSigningKey}
	text := printed(key)
	for _, secret := range secrets {
		if !strings.Contains(text, secret) {
			t.Errorf("%q does not show %s", text, secret)
		}
	}
	key.File = "/data/first-key.env"
	text = printed(key)
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("%q shows a secret", text)
		}
	}
	if !strings.Contains(text, "cat "+key.File) || !strings.Contains(text, "rm "+key.File) {
		t.Errorf("%q does not say how to read and delete the file", text)
	}
}

func TestClosedFolderIsNamed(t *testing.T) {
	top := t.TempDir()
	closed := filepath.Join(top, "closed")
	file := filepath.Join(closed, "data", "ca.crt")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	open := closedFolder(file)
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := closedFolder(file); got != closed && got != open || got == "" {
		t.Errorf("named is %q, want %s", got, closed)
	}
}
