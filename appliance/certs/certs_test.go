package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const anyPort = "127.0.0.1:0"

// testLog writes the log to the test's.
type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// testBox serves a greeting with an identity.
type testBox struct {
	*Identity
	addr net.Addr
}

// startBox serves with the identity that o asks for, at the address listen.
func startBox(t *testing.T, listen string, o Options, leftovers ...goleak.Option) *testBox {
	t.Helper()
	leftovers = append(leftovers, goleak.IgnoreCurrent())
	t.Cleanup(func() { goleak.VerifyNone(t, leftovers...) })
	log := slog.New(slog.NewTextHandler(testLog{t}, nil))
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	id, err := Open(t.Context(), o, listener.Addr(), log)
	if err != nil {
		t.Fatal(err)
	}
	front := &http.Server{ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "hello "+r.Proto)
		})}
	served := make(chan error, 1)
	go func() { served <- id.Serve(front, listener, func(c net.Conn) net.Conn { return c }) }()
	t.Cleanup(func() {
		_ = front.Close()
		if err := <-served; err != http.ErrServerClosed {
			t.Errorf("serving ended with %v", err)
		}
		id.Close()
	})
	return &testBox{id, listener.Addr()}
}

func (b *testBox) port() string {
	_, port, _ := net.SplitHostPort(b.addr.String())
	return port
}

// client returns a client that trusts the certificates in roots, connects to the box for
// every name, and follows no redirects.
func (b *testBox) client(t *testing.T, roots []byte) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	if roots != nil && !pool.AppendCertsFromPEM(roots) {
		t.Fatalf("no certificate in %q", roots)
	}
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: pool},
		ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+b.port())
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
}

func fetch(t *testing.T, c *http.Client, url string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

func ownOptions(t *testing.T, names ...string) Options {
	dir := t.TempDir()
	return Options{
		Source:        Own,
		Folder:        filepath.Join(dir, "tls"),
		AuthorityFile: filepath.Join(dir, "ca.crt"),
		Names:         names,
	}
}

func TestCertificateCoversAllNamesOfTheBox(t *testing.T) {
	o := ownOptions(t, "box.example", "192.0.2.7")
	box := startBox(t, anyPort, o)
	ca, err := os.ReadFile(o.AuthorityFile)
	if err != nil || string(ca) != string(box.Authority()) || strings.Contains(string(ca), "KEY") {
		t.Fatalf("the authority for others: %v\n%s", err, ca)
	}
	c := box.client(t, ca)
	hosts := append(hostNames(), "127.0.0.1", "[::1]", "box.example", "192.0.2.7")
	for _, ip := range MachineAddresses() {
		hosts = append(hosts, strings.TrimSuffix(net.JoinHostPort(ip.String(), ""), ":"))
	}
	for _, host := range hosts {
		if _, text := fetch(t, c, "https://"+host); text != "hello HTTP/2.0" {
			t.Errorf("%s: %s", host, text)
		}
	}
	if _, err := c.Get("https://other.example"); err == nil {
		t.Error("the certificate is good for a name that is not the box's")
	}
	if _, err := box.client(t, nil).Get("https://box.example"); err == nil {
		t.Error("a client that does not trust the authority connects")
	}
	for name, want := range map[string]os.FileMode{"authority.pem": 0o600, "box.pem": 0o600, "../ca.crt": 0o644,
		"": 0o700} {
		info, err := os.Stat(filepath.Join(o.Folder, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, want mode %v", name, info.Mode(), want)
		}
	}
}

// With the stolen key of a box nobody can forge other web sites to clients that trust the
// box.
func TestAuthorityCannotSignForOtherNames(t *testing.T) {
	a, err := newAuthority([]string{"box.example", "192.0.2.7"})
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	for name, good := range map[string]bool{
		"box.example": true, "kiosk.box.example": true, "anything.local": true, "localhost": true,
		"example": false, "mybox.example": false, "bank.example": false, "local.example": false,
	} {
		leaf, _, err := a.issue([]string{name}, nil, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		_, err = leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots})
		if (err == nil) != good || a.permits(name) != good {
			t.Errorf("%s: %v, and may is %v", name, err, a.permits(name))
		}
	}
}

func TestBoxCertificateSurvivesARestartAndIsRenewed(t *testing.T) {
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	open := func(names ...string) *boxCertificate {
		t.Helper()
		o, err := openBoxCertificate(ownIn(dir, names), log)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	get := func(o *boxCertificate) *x509.Certificate {
		t.Helper()
		cert, err := o.get(&tls.ClientHelloInfo{})
		if err != nil {
			t.Fatal(err)
		}
		return cert.Leaf
	}
	first := open()
	leaf, mark := get(first), first.authority.fingerprint()
	again := open()
	if !get(again).Equal(leaf) || again.authority.fingerprint() != mark || len(mark) != 32*3-1 {
		t.Error("a restart changed the certificate or its authority")
	}
	named := open("kiosk.local", "192.0.2.9")
	if got := get(named); got.VerifyHostname("kiosk.local") != nil || got.VerifyHostname("192.0.2.9") != nil ||
		named.authority.fingerprint() != mark {
		t.Errorf("a name was added and is not there: %v %v", got.DNSNames, got.IPAddresses)
	}
	leaf = get(named)
	for _, c := range []struct {
		after   time.Duration
		renewed bool
	}{{boxCertLife - boxCertRenewal - time.Hour, false}, {boxCertLife - boxCertRenewal, true},
		{boxCertLife - boxCertRenewal + time.Hour, false}, {-100 * 24 * time.Hour, true}} {
		named.now = func() time.Time { return time.Now().Add(c.after) }
		next := get(named)
		if next.Equal(leaf) == c.renewed {
			t.Errorf("after %v: renewed is %v", c.after, !c.renewed)
		}
		if at := named.now(); at.Before(next.NotBefore) || at.After(next.NotAfter) {
			t.Errorf("after %v: good from %v to %v", c.after, next.NotBefore, next.NotAfter)
		}
		leaf = next
	}
	// The box leaves out a name that its authority may not sign for.
	if got := get(open("stranger.example")); got.VerifyHostname("stranger.example") == nil ||
		got.VerifyHostname("localhost") != nil {
		t.Errorf("names are %v", got.DNSNames)
	}
}

type connTo struct {
	net.Conn
	local net.Addr
}

func (c connTo) LocalAddr() net.Addr { return c.local }

func TestLaterAddressesAreCovered(t *testing.T) {
	dir := t.TempDir()
	o, err := openBoxCertificate(ownIn(dir, nil), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	at := func(ip string) *x509.Certificate {
		t.Helper()
		cert, err := o.get(&tls.ClientHelloInfo{Conn: connTo{local: &net.TCPAddr{IP: net.ParseIP(ip)}}})
		if err != nil {
			t.Fatal(err)
		}
		return cert.Leaf
	}
	first := at("198.51.100.1")
	two := at("198.51.100.2")
	if first.VerifyHostname("198.51.100.1") != nil || two.VerifyHostname("198.51.100.1") != nil ||
		two.VerifyHostname("198.51.100.2") != nil {
		t.Errorf("covered are %v, then %v", first.IPAddresses, two.IPAddresses)
	}
	if !at("198.51.100.1").Equal(two) || !at("127.0.0.5").Equal(two) {
		t.Error("a certificate was made without need")
	}
}

func TestBrokenAuthorityIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	if _, err := openBoxCertificate(ownIn(dir, nil), log); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		write(t, filepath.Join(dir, "authority.pem"), text)
		if _, err := openBoxCertificate(ownIn(dir, nil), log); err == nil ||
			!strings.Contains(err.Error(), "authority.pem") || !strings.Contains(err.Error(), "delete") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestReplacedFilesAreReloaded(t *testing.T) {
	dir := t.TempDir()
	a, err := newAuthority(nil)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile := filepath.Join(dir, "c.pem"), filepath.Join(dir, "k.pem")
	put := func(name string) {
		t.Helper()
		leaf, key, err := a.issue([]string{name}, nil, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		write(t, certFile, string(certPEM(leaf)))
		write(t, keyFile, string(keyPEM(key)))
	}
	put("one.local")
	f, err := openFiles(certFile, keyFile, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	shown := func() string {
		t.Helper()
		f.checked = time.Now().Add(-reloadEvery)
		cert, err := f.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return cert.Leaf.DNSNames[0]
	}
	put("two.local")
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(certFile, later, later); err != nil {
		t.Fatal(err)
	}
	if got := shown(); got != "two.local" {
		t.Errorf("shown is %s", got)
	}
	write(t, certFile, "half a file")
	if got := shown(); got != "two.local" {
		t.Errorf("in the middle of being replaced: %s", got)
	}
	put("three.local")
	later = later.Add(time.Second)
	if err := os.Chtimes(certFile, later, later); err != nil {
		t.Fatal(err)
	}
	if got := shown(); got != "three.local" {
		t.Errorf("shown is %s", got)
	}
	if _, err := openFiles(certFile, certFile, slog.New(slog.DiscardHandler)); err == nil ||
		!strings.Contains(err.Error(), certFile) {
		t.Errorf("a certificate as its own key: %v", err)
	}
}

func ownIn(dir string, names []string) Options {
	return Options{Folder: dir, AuthorityFile: filepath.Join(dir, "ca.crt"), Names: names}
}
