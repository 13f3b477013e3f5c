package box

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/internal/layout"
	"parley/store"
)

func TestRunningFindsTheBoxOfADataFolder(t *testing.T) {
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
	withdraw := Announce(cfg, &net.TCPAddr{IP: net.IPv4zero, Port: 8123}, log)
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
	Announce(cfg, &net.TCPAddr{IP: net.IPv6loopback, Port: 8124}, log)
	if url := found(); url != "http://[::1]:8124" {
		t.Errorf("listening on ::1: %q", url)
	}
	release()
	if url := found(); url != "" {
		t.Errorf("after it was killed: %q", url)
	}
}

// Elsewhere returns addresses that other machines can open, and never a loopback address.
func TestElsewhereListsReachableAddresses(t *testing.T) {
	machine := []net.IP{net.ParseIP("2001:db8::7"), net.ParseIP("192.0.2.7").To4(), net.ParseIP("10.8.0.1").To4()}
	for _, c := range []struct {
		a    address
		want string
	}{
		{address{URL: "http://127.0.0.1:8080", Listen: "127.0.0.1:8080"}, ""},
		{address{URL: "http://[::1]:8080", Listen: "[::1]:8080"}, ""},
		{address{URL: "https://127.0.0.1:8080", Listen: "0.0.0.0:8080"},
			"https://192.0.2.7:8080 https://10.8.0.1:8080"},
		{address{URL: "https://127.0.0.1:443", Listen: "[::]:443", Names: []string{"box.example", "192.0.2.7"}},
			"https://box.example https://192.0.2.7 https://10.8.0.1 https://[2001:db8::7]"},
		{address{
			URL:    "https://127.0.0.1:443",
			Listen: "[::]:443",
			Names:  []string{"box.example"},
			ACME:   true,
		}, "https://box.example"},
		{address{URL: "http://192.0.2.7:80", Listen: "192.0.2.7:80"}, "http://192.0.2.7"},
		{address{URL: "http://127.0.0.1:8080"}, ""}, // of an older version
	} {
		if got := strings.Join(c.a.elsewhere(machine), " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.a, got, c.want)
		}
	}
}
