package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"
)

// acmeServer is a process with Pebble, the ACME server that certificate authorities use for
// tests.
type acmeServer struct {
	directory string
	admin     string // base URL of the management interface
	roots     string // file with the authority that vouches for the server itself
	client    *http.Client
}

// startPebble starts an ACME server that finds every name at 127.0.0.1 and the box's port.
func startPebble(t *testing.T, boxPort string) *acmeServer {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "pebble")
	if out, err := exec.Command("go", "build", "-o", program,
		"github.com/letsencrypt/pebble/v2/cmd/pebble").CombinedOutput(); err != nil {
		t.Fatalf("building the ACME server: %v\n%s", err, out)
	}
	a, err := newAuthority(nil)
	if err != nil {
		t.Fatal(err)
	}
	leaf, key, err := a.issue([]string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}, time.Now().Add(-time.Hour),
		time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	s := &acmeServer{roots: filepath.Join(dir, "roots.pem")}
	write(t, s.roots, string(a.certificate()))
	write(t, filepath.Join(dir, "cert.pem"), string(certPEM(leaf)))
	write(t, filepath.Join(dir, "key.pem"), string(keyPEM(key)))
	listen, admin := freeAddress(t), freeAddress(t)
	s.directory, s.admin = "https://"+listen+"/dir", "https://"+admin
	settings, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": listen, "managementListenAddress": admin,
		"certificate": filepath.Join(dir, "cert.pem"), "privateKey": filepath.Join(dir, "key.pem"),
		"httpPort": 1, "tlsPort": json.Number(boxPort),
		"profiles": map[string]any{"default": map[string]any{"description": "test", "validityPeriod": 7776000}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "pebble.json"), string(settings))

	cmd := exec.Command(program, "-config", filepath.Join(dir, "pebble.json"),
		"-strict", "-dnsserver", startDNS(t))
	// By default Pebble waits up to 15 s before each check, and refuses one nonce in
	// twenty.
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the ACME server said:\n%s", &output)
		}
	})
	pool, err := readRoots(s.roots)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(transport.CloseIdleConnections)
	s.client = &http.Client{Transport: transport, Timeout: 30 * time.Second}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		res, err := s.client.Get(s.directory)
		if err == nil {
			_ = res.Body.Close()
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("the ACME server does not answer: %v", err)
		}
	}
}

// authority returns the certificate of the authority that signs the server's certificates.
func (s *acmeServer) authority(t *testing.T) []byte {
	t.Helper()
	var all []byte
	for _, path := range []string{"/roots/0", "/intermediates/0"} {
		res, err := s.client.Get(s.admin + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("%s: %d %v", path, res.StatusCode, err)
		}
		all = append(all, text...)
	}
	return all
}

// freeAddress returns an address that is not in use.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// startDNS starts a DNS server that answers 127.0.0.1 for every name, and returns its
// address.
func startDNS(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // Pebble uses TCP
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{Listener: listener, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		for _, question := range q.Question {
			if question.Qtype == dns.TypeA {
				rr, err := dns.NewRR(question.Name + " 60 IN A 127.0.0.1")
				if err == nil {
					answer.Answer = append(answer.Answer, rr)
				}
			}
		}
		_ = w.WriteMsg(answer)
	})}
	done := make(chan error, 1)
	go func() { done <- server.ActivateAndServe() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = server.ShutdownContext(ctx)
		<-done
	})
	return listener.Addr().String()
}

// acmeLeftovers are goroutines that end by themselves or exist once per process: those of a
// lock that is checked every five seconds, and of idle connections.
var acmeLeftovers = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/caddyserver/certmagic.keepLockfileFresh"),
	goleak.IgnoreAnyFunction("github.com/caddyserver/certmagic.(*RingBufferRateLimiter).loop"),
	goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
	goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	goleak.IgnoreAnyFunction("net/http.(*http2ClientConn).readLoop"),
}

func TestACMEServerIssuesTheCertificate(t *testing.T) {
	listen := freeAddress(t)
	_, port, _ := net.SplitHostPort(listen)
	server := startPebble(t, port)
	o := Options{
		Source:    ACME,
		Folder:    t.TempDir(),
		Host:      "127.0.0.1",
		Names:     []string{"box.example", "www.box.example"},
		Directory: server.directory,
		Email:     "operator@box.example",
		Roots:     server.roots,
	}
	roots := server.authority(t)
	var mark string
	t.Run("at the first start", func(t *testing.T) {
		box := startBox(t, listen, o, acmeLeftovers...)
		mark = waitForCertificate(t, box.client(t, roots), o.Names)
		// Clients that connect by address get the certificate too.
		conn, err := tls.Dial("tcp", listen, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if name := conn.ConnectionState().PeerCertificates[0].DNSNames[0]; name != "box.example" {
			t.Errorf("by address: %s", name)
		}
		if res, text := fetch(t, box.client(t, nil), "http://box.example/"); res.StatusCode != 400 ||
			strings.Contains(text, "ca.crt") {
			t.Errorf("without TLS: %d %s", res.StatusCode, text)
		}
		if box.Authority() != nil {
			t.Error("an authority is handed out that is not the box's")
		}
	})
	t.Run("kept over a restart", func(t *testing.T) {
		box := startBox(t, listen, o, acmeLeftovers...)
		if again := waitForCertificate(t, box.client(t, roots), o.Names); again != mark {
			t.Error("a restart asked for a new certificate")
		}
	})
}

// waitForCertificate waits until the box has a trusted certificate for every name, and
// returns the serial numbers.
func waitForCertificate(t *testing.T, c *http.Client, names []string) string {
	t.Helper()
	var serials string
	for _, name := range names {
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
			res, err := c.Get("https://" + name)
			if err == nil {
				_ = res.Body.Close()
				serials += fmt.Sprint(res.TLS.PeerCertificates[0].SerialNumber, " ")
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	return serials
}

func TestBoxRunsWithoutItsACMEServer(t *testing.T) {
	a, err := newAuthority(nil)
	if err != nil {
		t.Fatal(err)
	}
	roots := filepath.Join(t.TempDir(), "roots.pem")
	write(t, roots, string(a.certificate()))
	o := Options{
		Source:    ACME,
		Folder:    t.TempDir(),
		Host:      "127.0.0.1",
		Names:     []string{"box.example"},
		Directory: "https://" + freeAddress(t) + "/dir",
		Roots:     roots,
	}
	box := startBox(t, anyPort, o, acmeLeftovers...)
	if _, err := box.client(t, a.certificate()).Get("https://box.example"); err == nil {
		t.Error("a certificate came from nowhere")
	}
	o.Roots = filepath.Join(t.TempDir(), "none.pem")
	for _, text := range []string{"", "no PEM"} {
		if text != "" {
			write(t, o.Roots, text)
		}
		if _, err := Open(t.Context(), o, box.addr, nil); err == nil || !strings.Contains(err.Error(), "none.pem") {
			t.Errorf("roots of %q: %v", text, err)
		}
	}
}
