package box

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/appliance/config"
	"parley/appliance/contract"
)

func newConfig(t *testing.T, flags map[string]string) config.Config {
	t.Helper()
	all := map[string]string{"data": filepath.Join(t.TempDir(), "data")}
	for key, value := range flags {
		all[key] = value
	}
	cfg, err := config.Load(config.Sources{Flags: all, Dir: t.TempDir(), Home: t.TempDir(), System: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestEachWrongAnswerIsReportedAtItsField(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	good := contract.PostedSetUp{Listen: "127.0.0.1:0", Profile: "small", TLS: "off"}
	changed := func(change func(*contract.PostedSetUp)) contract.PostedSetUp {
		s := good
		change(&s)
		return s
	}
	s := ConsoleSetUp{Config: newConfig(t, nil)}
	for _, c := range []struct {
		answers     contract.PostedSetUp
		field, want string
	}{
		{good, "", ""},
		{changed(func(s *contract.PostedSetUp) { s.Listen = l.Addr().String() }), "listen", "taken"},
		{changed(func(s *contract.PostedSetUp) { s.Listen = "here" }), "listen", "host:port"},
		{changed(func(s *contract.PostedSetUp) { s.Profile = "huge" }), "profile", "small"},
		{changed(func(s *contract.PostedSetUp) { s.TLS = "on" }), "tls", "auto"},
		{changed(func(s *contract.PostedSetUp) { s.TLS = "acme" }), "tls_names", "needs names"},
		{changed(func(s *contract.PostedSetUp) { s.TLS = "a.pem,b.pem" }), "tls", "from /"},
		{changed(func(s *contract.PostedSetUp) { s.TLS = "/no/a.pem,/no/b.pem" }), "tls", "cannot be used"},
		{changed(func(s *contract.PostedSetUp) { s.TLSNames = "not a name" }), "tls_names", "host"},
	} {
		found := s.Check(c.answers).Problems
		if c.field == "" && len(found) > 0 || c.field != "" && (len(found) != 1 || found[0].Field != c.field ||
			!strings.Contains(found[0].Why, c.want)) {
			t.Errorf("%+v: %+v, want %s at %s", c.answers, found, c.want, c.field)
		}
	}
	fixed := ConsoleSetUp{Config: newConfig(t, map[string]string{"listen": "127.0.0.1:0"})}
	other := changed(func(s *contract.PostedSetUp) { s.Listen = "localhost:0" })
	if found := fixed.Check(other).Problems; len(found) != 1 || !strings.Contains(found[0].Why, "--listen sets it") {
		t.Errorf("a flag: %+v", found)
	}
}

func TestTheNewAddressIsOneThatTheClientReaches(t *testing.T) {
	for _, c := range []struct {
		flags     map[string]string
		host, url string
		others    string
	}{
		{map[string]string{"listen": "127.0.0.1:81"}, "localhost", "http://localhost:81/x", ""},
		{map[string]string{"listen": "0.0.0.0:8443"}, "127.0.0.1", "https://127.0.0.1:8443/x", "*"},
		{map[string]string{"listen": "192.0.2.9:8443"}, "localhost", "https://192.0.2.9:8443/x", ""},
		{map[string]string{"listen": ":443", "tls": "acme", "tls.names": "box.example"}, "localhost",
			"https://box.example:443/x", ""},
	} {
		got := whereabouts(newConfig(t, c.flags), "127.0.0.1:8080", c.host, "/x")
		if got.URL != c.url || c.others == "" && len(got.Others) > 0 || slices.Contains(got.Others, got.URL) {
			t.Errorf("%v: %+v", c.flags, got)
		}
	}
}
