package sandbox

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"parley/internal/addresses"
	"parley/plugins/manifest"
)

func grant(hosts ...string) []manifest.HTTP {
	var all []manifest.HTTP
	for _, h := range hosts {
		all = append(all, manifest.HTTP{Host: h, Methods: []string{"GET"}})
	}
	return all
}

func TestOnlyGrantedHostsAreReached(t *testing.T) {
	w := newWeb(append(grant("api.example.org", "*.example.com", "192.168.1.20", "host.example.net:8443",
		"[fd00::7]:8080"), manifest.HTTP{Host: "post.example.org", Methods: []string{"POST"}}), nil)
	for target, allowed := range map[string]bool{
		"https://api.example.org/x": true, "http://api.example.org": true, "https://API.example.org": true,
		"https://api.example.org:443": true, "https://user:pass@api.example.org": true,
		"https://api.example.org:8443": false, "http://api.example.org:443": false, "https://api.example.org.": false,
		"https://xapi.example.org": false, "https://example.org": false,
		"https://api.example.org@evil.example.net": false, "https://evil.example.net/api.example.org": false,
		"https://evil.example.net#api.example.org": false,
		"https://a.example.com":                    true, "https://a.b.example.com": true, "https://example.com": false,
		"https://aexample.com": false, "https://.example.com": false, "https://127.0.0.1": false,
		"http://192.168.1.20": true, "http://192.168.1.21": false, "http://[::ffff:192.168.1.20]": false,
		"http://3232235796":             false,
		"https://host.example.net:8443": true, "https://host.example.net": false, "http://[fd00::7]:8080": true,
		"http://[fd00::7]":      false,
		"ftp://api.example.org": false, "file:///api.example.org": false, "api.example.org": false, "https://": false,
		"https://post.example.org": false,
	} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.allows("GET", u); allowed != (err == nil) || err != nil && AsFault(err).Kind != Refused {
			t.Errorf("%s: %v", target, err)
		}
	}
	if err := w.allows("POST", &url.URL{Scheme: "https", Host: "post.example.org"}); err != nil {
		t.Error(err)
	}
}

func TestOnlyPublicAndGrantedAddressesAreReached(t *testing.T) {
	w := newWeb(grant("api.example.org", "192.168.1.20", "127.0.0.1:8080", "169.254.169.254"), nil)
	w.table = addresses.NewTable(func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("8.8.4.4")} })
	for address, allowed := range map[string]bool{
		"93.184.216.34:443": true, "[2606:2800:220:1::1]:443": true, "8.8.8.8:80": true,
		"127.0.0.1:443": false, "127.0.0.1:8080": true, "127.0.0.2:8080": false, "[::1]:443": false,
		"[::ffff:127.0.0.1]:443": false, "[::ffff:127.0.0.1]:8080": true,
		"10.0.0.1:443": false, "172.16.0.1:443": false, "192.168.1.5:443": false, "192.168.1.20:80": true,
		"192.168.1.20:8080": false, "100.64.0.1:443": false, "[fd00::1]:443": false,
		"169.254.169.254:80": true, "169.254.169.253:80": false, "[fe80::1%eth0]:443": false, "224.0.0.1:443": false,
		"[ff02::1]:443": false, "0.0.0.0:443": false, "[::]:443": false, "255.255.255.255:443": false,
		"[64:ff9b::a00:1]:443": false, "[64:ff9b::7f00:1]:443": false, "[64:ff9b::5db8:d822]:443": true,
		"[2002:a00:1::]:443": false, "[::10.0.0.1]:443": false,
		"8.8.4.4:443": false, // of the box
	} {
		err := w.control(t.Context(), "tcp", address, nil)
		if allowed != (err == nil) || err != nil && AsFault(err).Kind != Refused {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// resolver resolves every name to the result of answer.
func resolver(t *testing.T, answer func(n int) string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg)
		m.SetReply(q)
		if q.Question[0].Qtype == dns.TypeA {
			if rr, err := dns.NewRR(fmt.Sprintf("%s 0 IN A %s", q.Question[0].Name,
				answer(int(asked.Add(1))))); err == nil {
				m.Answer = append(m.Answer, rr)
			}
		}
		_ = w.WriteMsg(m)
	})}
	go func() { _ = s.ActivateAndServe() }()
	t.Cleanup(func() { _ = s.Shutdown() })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// A name that resolves to a public address when it is checked, and to the box when it is
// dialed, is refused.
func TestRebindingReachesNothing(t *testing.T) {
	reached := atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer s.Close()
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	w := newWeb(grant("rebind.example.org:"+port), resolver(t, func(n int) string {
		if n%2 == 1 {
			return "127.0.0.1"
		}
		return "10.255.255.1"
	}))
	defer w.close()
	for range 4 {
		_, err := w.do(t.Context(), w.client, request{URL: "http://rebind.example.org:" + port})
		if f := AsFault(err); err == nil || f.Kind != Refused || !strings.Contains(f.Message, "no public address") {
			t.Errorf("error %v", err)
		}
	}
	if reached.Load() > 0 {
		t.Error("the box itself was reached")
	}
}

func TestRedirectsNeedPermissionToo(t *testing.T) {
	reached := atomic.Int32{}
	secret := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		_, _ = io.WriteString(w, "secret")
	}))
	defer secret.Close()
	_, secretPort, _ := net.SplitHostPort(secret.Listener.Addr().String())
	var to string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/fine":
			_, _ = io.WriteString(w, "fine")
		case r.URL.Path == "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	defer s.Close()
	// The first server is granted by its address. A name that leads to the second is
	// granted too, but not its address.
	host := strings.TrimPrefix(s.URL, "http://")
	w := newWeb(grant(host, "inside.example.org:"+secretPort), resolver(t, func(int) string { return "127.0.0.1" }))
	defer w.close()
	for _, c := range []struct{ to, says string }{
		{secret.URL, "was not granted"}, {"http://localhost:" + secretPort, "was not granted"},
		{"http://inside.example.org:" + secretPort + "/", "no public address"},
		{"file:///etc/passwd", "http and https are allowed"}, {"/round", "more than 5 times"},
	} {
		to = c.to
		_, err := w.do(t.Context(), w.client, request{URL: s.URL + "/begin"})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("to %s: %v, want %q", c.to, err, c.says)
		}
	}
	to = "/fine"
	if got, err := w.do(t.Context(), w.client, request{URL: s.URL + "/begin"}); err != nil ||
		string(got.body) != "fine" {
		t.Errorf("redirect to a granted URL: %q %v", got.body, err)
	}
	if reached.Load() > 0 {
		t.Error("a host without permission was reached")
	}
	if err := w.redirect(&http.Request{Method: "GET", URL: &url.URL{Scheme: "http", Host: host}},
		[]*http.Request{{URL: &url.URL{Scheme: "https", Host: host}}}); err == nil {
		t.Error("a redirect from https to http was followed")
	}
}

func TestAnswersHaveLimits(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			for range 100 {
				_, _ = w.Write(make([]byte, 1<<20))
			}
		case "/slow":
			select {
			case <-release:
			case <-r.Context().Done():
			}
		case "/echo":
			for _, name := range []string{"X-Mine", "Connection", "Upgrade", "Proxy-Authorization"} {
				_, _ = fmt.Fprintf(w, "%s=%s ", name, r.Header.Get(name))
			}
			_, _ = fmt.Fprint(w, r.Host)
		}
	}))
	defer s.Close()
	defer close(release)
	host := strings.TrimPrefix(s.URL, "https://")
	w := newWeb(grant(host), nil)
	w.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{
		RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	defer w.close()
	if _, err := w.do(t.Context(), w.client, request{URL: s.URL + "/large"}); err == nil ||
		!strings.Contains(err.Error(), "more than 4194304 bytes") {
		t.Errorf("large: %v", err)
	}
	late, done := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer done()
	if _, err := w.do(late, w.client, request{URL: s.URL + "/slow?key=secret"}); err == nil ||
		!strings.Contains(err.Error(), "in time") || strings.Contains(err.Error(), "secret") {
		t.Errorf("slow: %v", err)
	}
	got, err := w.do(t.Context(), w.client,
		request{URL: s.URL + "/echo",
			Headers: map[string]string{"X-Mine": "1", "connection": "upgrade", "Upgrade": "websocket",
				"Proxy-Authorization": "x", "Host": "evil.example.org"}})
	if want := "X-Mine=1 Connection= Upgrade= Proxy-Authorization= " + host; err != nil || string(got.body) != want {
		t.Errorf("%q, want %q; %v", got.body, want, err)
	}
}
