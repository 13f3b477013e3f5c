package webhook

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"parley/internal/addresses"
	"parley/store"
)

// The class of an address decides whether a webhook may go there, however the address is
// written.
func TestAddressesAreRefusedByClass(t *testing.T) {
	const (
		public  = "public"
		private = "private"
		never   = "never"
	)
	table := addresses.NewTable(func() []netip.Addr {
		return []netip.Addr{netip.MustParseAddr("8.8.4.4"), netip.MustParseAddr("2a00:1450::7")}
	})
	for address, class := range map[string]string{
		"93.184.216.34": public, "2606:2800:220:1::1": public, "::ffff:93.184.216.34": public, "172.32.0.1": public,
		"10.0.0.1": private, "100.64.0.1": private, "fd12:3456::1": private, "127.0.0.1": private, "::1": private,
		"64:ff9b::a00:1": private, "8.8.4.4": private, "2a00:1450::7": private, // addresses of the box
		"169.254.169.254": never, "2002:a9fe:a9fe::": never, "fe80::1%eth0": never, "fd00:ec2::254": never,
		"0.0.0.0": never,
	} {
		for _, plain := range []bool{false, true} {
			for _, allow := range []bool{false, true} {
				g := dialFilter{plain, allow, table}
				err := g.control(t.Context(), "tcp", net.JoinHostPort(address, "443"), nil)
				good := class == public && !plain || class == private && allow
				var refused ErrRefused
				if good != (err == nil) || err != nil && !errors.As(err, &refused) {
					t.Errorf("%s (%s), plain %v, allowed %v: %v", address, class, plain, allow, err)
				}
				if err != nil && class == private && !strings.Contains(err.Error(), "webhooks.allow_private") {
					t.Errorf("%s: %v says not what allows it", address, err)
				}
			}
		}
	}
	if err := (dialFilter{false, true, table}).control(t.Context(), "tcp", "nonsense", nil); err == nil {
		t.Error("what is no address is allowed")
	}
}

// startDNS starts a DNS server whose answers for any name change each time.
func startDNS(t *testing.T, answers ...string) (resolver *net.Resolver, queries *atomic.Int32) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	queries = &atomic.Int32{}
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		if q.Question[0].Qtype == dns.TypeA {
			n := int(queries.Add(1)) - 1
			for ip := range strings.SplitSeq(answers[min(n, len(answers)-1)], " ") {
				m.Answer = append(m.Answer,
					&dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET},
						A: net.ParseIP(ip)})
			}
		}
		_ = w.WriteMsg(m)
	})}
	served := make(chan error, 1)
	go func() { served <- s.ActivateAndServe() }()
	t.Cleanup(func() {
		_ = s.Shutdown()
		<-served
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}, queries
}

// A name that first leads to an allowed address, and then to the box itself, is refused:
// the address of the connection counts.
func TestChangingDNSAnswersAreRefused(t *testing.T) {
	b, r := newBox(t), newReceiver(t, nil)
	_, port, err := net.SplitHostPort(r.Listener.Addr().String())
	b.must(err)
	for name, answers := range map[string][]string{"rebound": {"127.0.0.1"},
		"among others": {"127.0.0.1 169.254.169.254"}} {
		resolver, queries := startDNS(t, answers...)
		for _, scheme := range []string{"http", "https"} {
			chat := b.begin(scheme + "://shop.example:" + port + "/" + scheme + strings.ReplaceAll(name, " ", "-"))
			b.send(func(p *Parts) { p.AllowPrivate, p.resolver = false, resolver })
			for deadline := time.Now().Add(time.Minute); ; <-time.After(10 * time.Millisecond) {
				w := b.listed()
				if last := w[len(w)-1]; last.ChatID == chat && last.Attempts > 0 {
					if !strings.HasPrefix(last.LastError, "refused: ") ||
						!strings.Contains(last.LastError, "127.0.0.1 is the box's own loopback") &&
							!strings.Contains(last.LastError, "169.254.169.254") {
						t.Errorf("%s, %s: %q", name, scheme, last.LastError)
					}
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s, %s: nothing was tried", name, scheme)
				}
			}
			b.sender.Close()
			if queries.Load() == 0 {
				t.Errorf("%s: the name was not looked up", name)
			}
		}
	}
	if n := r.count(); n != 0 {
		t.Errorf("the box's server got %d requests", n)
	}
}

// The proxy of the environment is not used: it would connect past the dial filter.
func TestProxyIsNotUsed(t *testing.T) {
	proxy := newReceiver(t, nil)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	resolver, _ := startDNS(t, "127.0.0.1")
	c := newClient("Parley/test", false, resolver)
	defer c.close()
	var f failure
	if err := c.send(t.Context(), store.Delivery{URL: "http://shop.example/", Body: "{}"}); !errors.As(err, &f) ||
		!strings.Contains(f.why, "refused") {
		t.Errorf("%v", err)
	}
	if proxy.count() != 0 {
		t.Error("the proxy was asked")
	}
}

// A redirect is not followed, even to the receiver's own address.
func TestRedirectIsNotFollowed(t *testing.T) {
	elsewhere := newReceiver(t, nil)
	r := newReceiver(t, func(_ int, w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	c := newClient("Parley/test", true, nil)
	defer c.close()
	var f failure
	err := c.send(t.Context(), store.Delivery{URL: r.URL, Body: "{}"})
	if !errors.As(err, &f) || !strings.Contains(f.why, "307") ||
		!strings.Contains(f.why, "redirects are not followed") {
		t.Errorf("%v", err)
	}
	if elsewhere.count() != 0 {
		t.Error("it was followed")
	}
}
