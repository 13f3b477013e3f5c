package remote

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"parley/appliance/engine"
	"parley/internal/addresses"
)

// allow is what the operator allows.
func allow(t *testing.T, entries ...string) addresses.Allowed {
	t.Helper()
	a, err := addresses.ParseAllowed(entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// here allows the servers of tests.
func here(t *testing.T) addresses.Allowed { return allow(t, "127.0.0.1") }

func TestConnectionsGoOnlyWhereTheyMay(t *testing.T) {
	table := addresses.NewTable(func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("8.8.4.4")} })
	for _, c := range []struct{ address, plain, encrypted string }{ // empty: allowed
		{"172.32.0.1", "https://", ""}, {"8.8.8.8", "https://", ""}, {"::ffff:8.8.8.8", "https://", ""},
		{"2001:4860:4860::8888", "https://", ""}, {"64:ff9b::808:808", "https://", ""},
		{"127.0.0.1", "models:", "models:"}, {"::1", "models:", "models:"},
		{"::ffff:127.0.0.1", "models:", "models:"}, {"64:ff9b::7f00:1", "models:", "models:"},
		{"64:ff9b:1::7f00:1", "models:", "models:"}, {"2002:7f00:1::", "models:", "models:"},
		{"2001::80ff:fffe", "models:", "models:"}, {"::7f00:1", "models:", "models:"},
		{"10.1.2.3", "models:", "models:"}, {"172.16.0.1", "models:", "models:"},
		{"192.168.1.9", "models:", "models:"}, {"fd00::1", "models:", "models:"},
		{"100.64.0.1", "models:", "models:"}, {"8.8.4.4", "models:", "models:"}, // the box's own
		{"10.9.9.9", "", ""}, {"::ffff:10.9.9.9", "", ""},
		{"169.254.169.254", "link-local", "link-local"}, {"::ffff:169.254.169.254", "link-local", "link-local"},
		{"fd00:ec2::254", "link-local", "link-local"},
		{"64:ff9b::a9fe:a9fe", "link-local", "link-local"}, {"64:ff9b:1::a9fe:a9fe", "link-local", "link-local"},
		{"2002:a9fe:a9fe::1", "link-local", "link-local"},
		{"fe80::1", "link-local", "link-local"}, {"0.0.0.0", "link-local", "link-local"},
		{"::", "link-local", "link-local"}, {"224.0.0.1", "link-local", "link-local"},
	} {
		for encrypted, want := range map[bool]string{false: c.plain, true: c.encrypted} {
			g := dialFilter{allow(t, "10.9.9.9", "allowed.example"), encrypted, table}
			err := g.check("llm.example:80", net.JoinHostPort(c.address, "80"))
			refused, ok := errors.AsType[errNotAllowed](err)
			if want == "" && err != nil || want != "" && (!ok || !strings.Contains(refused.public, want)) {
				t.Errorf("%s, encrypted %v: %+v", c.address, encrypted, err)
			}
			if ok && strings.Contains(refused.public, c.address) {
				t.Errorf("the public detail reveals the address: %s", refused.public)
			}
		}
	}
}

// The error for a refused address names the line of parley.yaml that would allow it, and is the
// same whether or not anything listens there; nothing is sent.
func TestARefusedAddressRevealsNothingAboutItsPort(t *testing.T) {
	var reached atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer s.Close()
	s.Config.ConnState = func(net.Conn, http.ConnState) { reached.Add(1) }
	_, open, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	gone := httptest.NewServer(nil)
	_, closed, err := net.SplitHostPort(gone.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for _, scheme := range []string{"http", "https", "ws", "wss"} {
		for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "169.254.169.254", "0.0.0.0"} {
			var details []string
			for _, port := range []string{open, closed} {
				address := host + ":" + port
				url := scheme + "://" + address + "/secret"
				m, err := OpenCustom(CustomOptions{URL: url, Limits: generousLimits,
					Allowed: allow(t, "llm.lan", "127.0.0.1:1")})
				if err != nil {
					t.Fatal(err)
				}
				p := hello
				p.Key = "key"
				_, _, _, err = reply(t.Context(), m, p)
				e, ok := errors.AsType[*Error](err)
				if !ok || !errors.Is(err, engine.ErrUnreachable) || !isNotAllowed(err) {
					t.Fatalf("%s %s: %v", scheme, address, err)
				}
				local := host != "169.254.169.254" && host != "0.0.0.0"
				line := `models: {allow: ["` + address + `"]}`
				if local != strings.Contains(e.PublicDetail(), line) || local != strings.Contains(e.Error(), line) {
					t.Errorf("%s %s: public detail %q, logged %q", scheme, address, e.PublicDetail(), e)
				}
				details = append(details, strings.ReplaceAll(e.PublicDetail(), port, "PORT"))
				m.Close()
			}
			if details[0] != details[1] {
				t.Errorf("%s://%s: of an open port %q, of a closed one %q", scheme, host, details[0], details[1])
			}
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("a server that is not allowed was reached %d times", n)
	}
}

// The line that an error suggests allows the address.
func TestTheEntryInTheErrorAllowsTheAddress(t *testing.T) {
	for _, c := range []struct{ address, resolved, entry string }{
		{"llm.lan:8000", "10.0.0.5:8000", "llm.lan:8000"}, {"[fd00::7]:80", "[fd00::7]:80", "[fd00::7]:80"},
		{"10.0.0.5:443", "10.0.0.5:443", "10.0.0.5:443"},
		{"[64:ff9b::a00:5]:80", "[64:ff9b::a00:5]:80", "[64:ff9b::a00:5]:80"},
		{`o"dd:80`, "10.0.0.5:80", "10.0.0.5:80"},
	} {
		g := dialFilter{table: addresses.NewTable(nil)}
		refused, ok := errors.AsType[errNotAllowed](g.check(c.address, c.resolved))
		if !ok || !strings.HasSuffix(refused.public, `models: {allow: ["`+c.entry+`"]}`) {
			t.Errorf("%s: %+v", c.address, refused)
		}
		g.allowed = allow(t, c.entry)
		if err := g.check(c.address, c.resolved); err != nil {
			t.Errorf("%s: %v", c.address, err)
		}
	}
}
