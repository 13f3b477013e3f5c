package appliance

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"parley/appliance/config"
	"parley/internal/layout"
	"parley/store"
)

func TestARunningBoxIsFoundByItsDataFolder(t *testing.T) {
	cfg := config.Config{Data: t.TempDir(), TLS: config.TLS{Mode: config.TLSOff}}
	found := func() string {
		t.Helper()
		url, err := Running(cfg.Data)
		if err != nil {
			t.Fatal(err)
		}
		return url
	}
	if url := found(); url != "" {
		t.Errorf("an empty folder: %q", url)
	}
	release, err := store.Lock(cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	if url := found(); url != "" {
		t.Errorf("before it listens: %q", url)
	}
	log := slog.New(slog.DiscardHandler)
	withdraw := announce(cfg, &net.TCPAddr{IP: net.IPv4zero, Port: 8123}, log)
	if url := found(); url != "http://127.0.0.1:8123" {
		t.Errorf("listening on all addresses: %q", url)
	}
	file := filepath.Join(cfg.Data, layout.Address)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want a file of mode 0600", info.Mode(), err)
	}
	if err := os.WriteFile(file, []byte(`{"pid":1,"url":"http://127.0.0.1:1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if url := found(); url != "" {
		t.Errorf("left behind by another: %q", url)
	}
	withdraw()
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("after it stopped: %v", err)
	}
	announce(cfg, &net.TCPAddr{IP: net.IPv6loopback, Port: 8124}, log)
	if url := found(); url != "http://[::1]:8124" {
		t.Errorf("listening on ::1: %q", url)
	}
	release()
	if url := found(); url != "" {
		t.Errorf("after it was killed: %q", url)
	}
}
