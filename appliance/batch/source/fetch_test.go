package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"parley/internal/addresses"
)

// small are limits for tests.
func small() Limits { return Limits{Bytes: 1 << 20, Time: 20 * time.Second, Stall: 10 * time.Second} }

// serve runs a server on loopback and returns its URL.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// allowing returns a Fetcher that may call the servers of tests.
func allowing(t *testing.T, hosts ...string) Fetcher {
	t.Helper()
	a, err := addresses.ParseAllowed(append(hosts, "127.0.0.0/8"))
	if err != nil {
		t.Fatal(err)
	}
	return Fetcher{Allowed: a, Agent: "Parley/test"}
}

// refused fetches and wants a fault that contains want, and no file.
func refused(ctx context.Context, t *testing.T, f Fetcher, url string, l Limits, want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	_, err := f.Fetch(ctx, url, path, l)
	if e, ok := errors.AsType[*Error](err); !ok || !strings.Contains(e.Why, want) {
		t.Errorf("%s: %v; want a fault with %q", url, err, want)
	}
	if _, err := os.Stat(path); err == nil {
		t.Errorf("%s left a file", url)
	}
}

func TestFileIsFetchedWithItsName(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/7?key=secret", http.StatusFound)
			return
		case "/7":
			w.Header().Set("Content-Disposition", `attachment; filename="..\..\talk one.wav"`)
		}
		fmt.Fprint(w, r.UserAgent())
	})
	for path, want := range map[string]string{
		"/a/b%20c.mp3?x=1": "b c.mp3",
		"/moved":           "talk one.wav",
		"/7":               "talk one.wav",
		"/plain":           "plain",
		"/":                "127.0.0.1",
		"/a%2F..%2Fb.wav":  "b.wav",
	} {
		file := filepath.Join(t.TempDir(), "file")
		name, err := allowing(t).Fetch(t.Context(), url+path, file, small())
		got, _ := os.ReadFile(file)
		if err != nil || name != want || string(got) != "Parley/test" {
			t.Errorf("%s: %q, %q, %v; want %q", path, name, got, err, want)
		}
	}
}

func TestOnlyPublicAddressesAreCalled(t *testing.T) {
	var calls atomic.Int32
	inside := serve(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(inside, "http://"))
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433"} {
		path := filepath.Join(t.TempDir(), "file")
		if _, err := (Fetcher{}).Fetch(t.Context(), "http://"+host+":"+port, path, small()); err == nil {
			t.Errorf("%s was called", host)
		}
	}
	for _, host := range []string{"10.0.0.1", "192.168.1.1", "172.16.9.9", "[fd00::1]"} {
		refused(t.Context(), t, Fetcher{}, "http://"+host+"/", small(), "in the box's own network")
	}
	for _, host := range []string{"169.254.169.254", "100.100.100.200", "[fe80::1]", "0.0.0.0", "224.0.0.1",
		"[fd00:ec2::254]"} {
		refused(t.Context(), t, allowing(t), "http://"+host+"/", small(), "never calls")
	}
	// Each redirect is checked, also from an allowed server.
	out := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	for to, want := range map[string]string{
		"http://10.0.0.1/":              "in the box's own network",
		"http://169.254.169.254/latest": "never calls",
		"http://[::1]:" + port + "/":    "in the box's own network",
		"file:///etc/passwd":            "http:// and https:// are allowed",
		"http://u:secret@127.0.0.1/":    "user name",
	} {
		refused(t.Context(), t, allowing(t), out+"/?to="+url.QueryEscape(to), small(), want)
	}
	if calls.Load() != 0 {
		t.Errorf("the server inside got %d requests", calls.Load())
	}
}

// The address of the connection counts, not that of an earlier lookup, and errors do not
// tell what a name resolves to.
func TestNameThatLeadsInsideIsRefusedWithoutItsAddress(t *testing.T) {
	f := Fetcher{resolver: resolver(t, "10.7.7.7")}
	refused(t.Context(), t, f, "http://shop.example/", small(), "shop.example is in the box's own network")
	path := filepath.Join(t.TempDir(), "file")
	if _, err := f.Fetch(t.Context(), "https://shop.example/", path, small()); strings.Contains(err.Error(), "10.7") {
		t.Errorf("the error tells the address: %v", err)
	}
	f = allowing(t, "shop.example")
	f.resolver = resolver(t, "127.0.0.1")
	refused(t.Context(), t, f, "http://shop.example:1/x", small(), "shop.example cannot be reached: connection refused")
	f.resolver = resolver(t)
	refused(t.Context(), t, f, "http://shop.example/x", small(), "the name has no address")
	t.Setenv("HTTP_PROXY", serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") }))
	refused(t.Context(), t, f, "http://shop.example/x", small(), "the name has no address")
}

// resolver returns a resolver that answers with the addresses.
func resolver(t *testing.T, answers ...string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg).SetReply(q)
		for _, ip := range answers {
			if q.Question[0].Qtype == dns.TypeA {
				h := dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET}
				m.Answer = append(m.Answer, &dns.A{Hdr: h, A: net.ParseIP(ip)})
			}
		}
		if len(answers) == 0 {
			m.SetRcode(q, dns.RcodeNameError)
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
	}}
}

func TestBadURLsAreRefusedWithoutTheirSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "begins with",
		"ftp://host/x":                    `"ftp:"`,
		"file:///etc/passwd":              `"file:"`,
		"http:///x":                       "no host",
		"https://me:secret@host/x":        "user name or a password",
		"http://me:secret@host:port%zz/x": "not valid",
		"http://h/" + strings.Repeat("x", maxURL): "at most 8192",
	} {
		path := filepath.Join(t.TempDir(), "file")
		_, err := Fetcher{}.Fetch(t.Context(), text, path, small())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.40q: %v; want %q", text, err, want)
		}
	}
}

func TestServerCannotSendTooMuch(t *testing.T) {
	var sent atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/declared" {
			w.Header().Set("Content-Length", fmt.Sprint(2<<20))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		block := make([]byte, 64<<10)
		for r.Context().Err() == nil { // without an end
			n, err := w.Write(block)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	})
	refused(t.Context(), t, allowing(t), url+"/declared", small(), "more than the 1 MiB")
	refused(t.Context(), t, allowing(t), url+"/endless", small(), "more than the 1 MiB")

	// The memory does not grow with the file.
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l := small()
	l.Bytes = 64 << 20
	refused(t.Context(), t, allowing(t), url+"/endless", l, "more than the 64 MiB")
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("64 MiB took %d KiB", grown>>10)
	}
}

func TestSlowServerIsGivenUp(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.URL.Path == "/drips" && r.Context().Err() == nil {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Millisecond)
		}
		if r.URL.Path == "/stalls" {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	})
	l := Limits{Bytes: 1 << 20, Time: 20 * time.Second, Stall: 200 * time.Millisecond}
	refused(t.Context(), t, allowing(t), url+"/stalls", l, "sent nothing for 200ms")
	refused(t.Context(), t, allowing(t), url+"/silent", l, "sent nothing for 200ms")
	l = Limits{Bytes: 1 << 20, Time: 300 * time.Millisecond, Stall: 10 * time.Second}
	refused(t.Context(), t, allowing(t), url+"/drips", l, "whole file within 300ms")

	// A job that ends is no fault of the server.
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, io.ErrClosedPipe)
	defer cancel()
	_, err := allowing(t).Fetch(ctx, url+"/drips", filepath.Join(t.TempDir(), "file"), small())
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFailuresOfServersAreExplained(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/cut":
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "short")
		default:
			http.NotFound(w, r)
		}
	})
	refused(t.Context(), t, allowing(t), url+"/x?key=secret", small(), "127.0.0.1 answered 404 Not Found")
	refused(t.Context(), t, allowing(t), url+"/loop", small(), "redirects more than 5 times")
	refused(t.Context(), t, allowing(t), url+"/cut", small(), "closed the connection before the end")
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	refused(t.Context(), t, allowing(t), secure.URL, small(), "no valid certificate")
	refused(t.Context(), t, allowing(t), strings.Replace(url, "http:", "https:", 1), small(), "cannot be read")
}

func TestFailureOfTheDiskIsNoFaultOfTheFile(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") })
	_, err := allowing(t).Fetch(t.Context(), url, "/nowhere/file", small())
	if _, ok := errors.AsType[*Error](err); err == nil || ok {
		t.Errorf("a missing folder is the fault of the URL: %v", err)
	}
	if err := checkSpace(t.TempDir(), 1<<60); !errors.Is(err, ErrDiskFull) {
		t.Errorf("an exabyte has space: %v", err)
	}
}
