package server_test

import (
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"

	"parley/fleet/server"
)

func open(t *testing.T, folder string) *server.Trust {
	t.Helper()
	trust, err := server.OpenTrust(folder)
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

func account(t *testing.T, trust *server.Trust) *jwt.AccountClaims {
	t.Helper()
	accounts, err := trust.Accounts()
	if err != nil {
		t.Fatal(err)
	}
	c, err := jwt.DecodeAccountClaims(accounts[1]) // of boxes
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestKeysSurviveARestart(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "fleet")
	first := open(t, folder)
	u, err := first.Box("museum-1", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Revoke(u.Key); err != nil {
		t.Fatal(err)
	}
	again := open(t, folder)
	a, b := account(t, first), account(t, again)
	if a.Subject != b.Subject || a.Issuer != b.Issuer || len(b.Revocations) != 1 || b.Revocations[u.Key] == 0 {
		t.Errorf("after a restart, the account is %v, was %v", b, a)
	}
	for _, path := range []string{folder, filepath.Join(folder, "trust.json")} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may read %s: %v %v", path, info.Mode(), err)
		}
	}
}

// New keys in place of lost ones would put out every box.
func TestDamagedKeysAreNotReplaced(t *testing.T) {
	folder := t.TempDir()
	open(t, folder)
	file := filepath.Join(folder, "trust.json")
	for _, text := range []string{"", "{", "{}", `{"operator": "x"}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := server.OpenTrust(folder)
		if err == nil || !strings.Contains(err.Error(), "restore the file from a backup") {
			t.Errorf("%q: %v", text, err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%q was changed to %q: %v", text, got, err)
		}
	}
}

func TestNamesAndKeysAreChecked(t *testing.T) {
	trust := open(t, t.TempDir())
	for _, name := range []string{"", ">", "*", "a.b", "Museum", "a b", strings.Repeat("x", 41)} {
		if _, err := trust.Box(name, time.Time{}); err == nil {
			t.Errorf("a box may be named %q", name)
		}
		if _, err := trust.Reader(name, time.Time{}); err == nil {
			t.Errorf("a reader may be named %q", name)
		}
	}
	for _, key := range []string{"", "*", "museum-1", "AAQ2KLZDXVTPOVVPCUR44KNOYP32NXP6EAR6Y7DYREB3FHO2N4KIHJ57"} {
		if err := trust.Revoke(key); err == nil {
			t.Errorf("%q may be revoked", key)
		}
	}
}

func TestServerSaysWhyItDoesNotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	folder := t.TempDir()
	o := server.Options{
		Name:   `a "name" \ of a hub`,
		Folder: filepath.Join(folder, `with "quotes" and ümlauts`),
		Listen: taken.Addr().String(),
		TLS:    &tls.Config{MinVersion: tls.VersionTLS12},
		Trust:  open(t, folder),
		Log:    slog.New(slog.DiscardHandler),
	}
	if _, err := server.Start(o); err == nil || !strings.Contains(err.Error(), "address already in use") ||
		!strings.Contains(err.Error(), o.Listen) {
		t.Errorf("at an address that is taken: %v", err)
	}
	o.Listen = "127.0.0.1:0"
	s, err := server.Start(o)
	if err != nil {
		t.Fatalf("at another one: %v", err)
	}
	s.Close()
	o.TLS = nil
	if _, err := server.Start(o); err == nil || !strings.Contains(err.Error(), "needs a certificate") {
		t.Errorf("without TLS: %v", err)
	}
	o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	store := filepath.Join(o.Folder, "store")
	if err := os.RemoveAll(store); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Start(o); err == nil || !strings.Contains(err.Error(), "store") {
		t.Errorf("with a file in place of its folder: %v", err)
	}
}
