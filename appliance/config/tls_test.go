package config

import (
	"slices"
	"strings"
	"testing"
)

func TestOnlyLoopbackIsUnencryptedByDefault(t *testing.T) {
	for _, c := range []struct {
		listen, tls string
		mode        TLSMode
		warned      bool
	}{
		{"127.0.0.1:1", "", TLSOff, false},
		{"[::1]:1", "", TLSOff, false},
		{"localhost:1", "auto", TLSOff, false},
		{"127.0.0.1:1", "own", TLSOwn, false},
		{"0.0.0.0:1", "", TLSOwn, false},
		{":1", "", TLSOwn, false},
		{"[::]:1", "auto", TLSOwn, false},
		{"192.168.1.2:1", "", TLSOwn, false},
		{"box.lan:1", "", TLSOwn, false},
		{"0.0.0.0:1", "off", TLSOff, true},
		{":1", "OFF", TLSOff, true},
		{"192.168.1.2:1", "off", TLSOff, true},
		{"127.0.0.1:1", "off", TLSOff, false},
		{"127.0.0.1:1", "/c,/k", TLSFiles, false},
	} {
		s := newSources(t, "")
		s.Flags["listen"] = c.listen
		if c.tls != "" {
			s.Flags["tls"] = c.tls
		}
		got := load(t, s)
		if got.TLS.Mode != c.mode || got.TLS.Off() != (c.mode == TLSOff) || c.warned != (len(got.Warnings) == 1) {
			t.Errorf("listen %s, tls %q: %q, warned %q", c.listen, c.tls, got.TLS.Mode, got.Warnings)
		}
	}
}

func TestFileAcceptsEveryFormOfTLS(t *testing.T) {
	for text, want := range map[string]TLS{
		"tls: off": {Mode: TLSOff},
		"tls: own": {Mode: TLSOwn},
		"tls: {names: [Box.Example, 192.0.2.7, '::ffff:192.0.2.8']}": {Mode: TLSOff,
			Names: []string{"box.example", "192.0.2.7", "192.0.2.8"}},
		"tls: {cert: /c, key: /k}": {Mode: TLSFiles, Cert: "/c", Key: "/k"},
		"tls: {acme: LetsEncrypt, names: [box.example]}": {Mode: TLSACME, Directory: letsEncrypt,
			Names: []string{"box.example"}},
		"tls: {acme: 'https://ca.lan/dir', names: 'a.b,c.d', email: m@a.b, roots: /r}": {
			Mode:      TLSACME,
			Directory: "https://ca.lan/dir",
			Names:     []string{"a.b", "c.d"},
			Email:     "m@a.b",
			Roots:     "/r",
		},
	} {
		got := load(t, newSources(t, text)).TLS
		if got.Mode != want.Mode || got.Cert != want.Cert || got.Key != want.Key || got.Directory != want.Directory ||
			got.Email != want.Email || got.Roots != want.Roots || !slices.Equal(got.Names, want.Names) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestPrecedenceDecidesTheModeOfTLS(t *testing.T) {
	s := newSources(t, "tls: {acme: 'https://ca.lan/dir', names: [box.example]}")
	s.Flags["tls"] = "acme"
	if c := load(t, s).TLS; c.Directory != "https://ca.lan/dir" {
		t.Errorf("--tls acme forgot the directory of the file: %+v", c)
	}
	s = newSources(t, "tls: {cert: /c, key: /k}")
	s.Flags["tls"] = "off"
	if c := load(t, s).TLS; !c.Off() {
		t.Errorf("--tls off did not beat the file: %+v", c)
	}
	s = newSources(t, "tls: acme|me@box.example|/r")
	s.Flags["tls"] = "off"
	if c := load(t, s).TLS; !c.Off() || c.Email != "" {
		t.Errorf("--tls off did not beat an ACME server in the file: %+v", c)
	}
	s = newSources(t, "tls: {cert: /c, key: /k}")
	s.Environ = []string{"PARLEY_TLS=own"}
	delete(s.Flags, "tls")
	if c := load(t, s).TLS; c.Mode != TLSOwn {
		t.Errorf("PARLEY_TLS=own did not beat the file: %+v", c)
	}
}

func TestInvalidTLSIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"tls: maybe":                                        "use auto, off, own, acme",
		"tls: acme":                                         "set tls.names",
		"tls: {acme: letsencrypt}":                          "set tls.names",
		"tls: {acme: 'http://ca.lan/dir'}":                  "https:// URL",
		"tls: {acme: ca.lan}":                               "https:// URL",
		"tls: {names: ['*.box.example']}":                   "neither the name nor the address",
		"tls: {names: ['box example']}":                     "neither the name nor the address",
		"tls: {names: ['-a.b']}":                            "neither the name nor the address",
		"tls: {names: ['fe80::1%eth0']}":                    "neither the name nor the address",
		"tls: {names: [" + long(300) + "]}":                 "neither the name nor the address",
		"tls: {email: me}":                                  "not an e-mail address",
		"tls: {email: me@box.example}":                      "are for an ACME server",
		"tls: {roots: /r}":                                  "are for an ACME server",
		"tls: {cert: /c}":                                   "set both cert and key",
		"tls: {acme: letsencrypt, names: 7}":                "",
		"tls: {acme: letsencrypt, names: [192.0.2.7, a.b]}": "not addresses",
	} {
		_, err := Load(newSources(t, text))
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "tls") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func long(n int) string { return strings.Repeat("a.", n/2) + "a" }
