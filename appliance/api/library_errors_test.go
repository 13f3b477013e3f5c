package api

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/contract"
)

// sharedText can be written to concurrently.
type sharedText struct {
	mu sync.Mutex
	strings.Builder
}

func (s *sharedText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Builder.Write(p)
}

func (s *sharedText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Builder.String()
}

// An error answer of the HTTP library looks like all other errors: JSON, with an
// id that is in the log.
func TestErrorsOfTheLibraryAreAnsweredInJSON(t *testing.T) {
	a, _ := box(io.Discard)
	var log sharedText
	server := NewServer(a, slog.New(slog.DiscardHandler))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(Listen(l, Limits{}, slog.New(slog.NewTextHandler(&log, nil))))
	}()
	ids := map[string]bool{}
	for _, x := range []struct {
		name, sent string
		status     int
		code, says string
	}{
		{"no request at all", "hello\r\n\r\n", 400, "invalid_request", "no HTTP/1.1"},
		{"another protocol", "SSH-2.0-OpenSSH_9.2\r\n", 400, "invalid_request", ""},
		{"TLS", "\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00\r\n\r\n", 400, "invalid_request", ""},
		{"a method of no letters", "G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid_request", ""},
		{"no host", "GET / HTTP/1.1\r\n\r\n", 400, "invalid_request", "Host"},
		{"a bad host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "invalid_request", "Host"},
		{"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "invalid_request", ""},
		{"a header without a name", "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400, "invalid_request", ""},
		{"a header with a control character", "GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n", 400, "invalid_request",
			""},
		{"two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", 400,
			"invalid_request", ""},
		{"a broken path", "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid_request", ""},
		{"another version", "GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505, "unsupported_version", "HTTP/1.1"},
		{"an unknown encoding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: zip\r\n\r\n", 501,
			"unsupported_transfer_encoding", "chunked"},
		{"an unknown expectation", "GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n", 417, "expectation_failed",
			"100-continue"},
		{"too much", "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 600<<10) + "\r\n\r\n", 431,
			"headers_too_large", "524288"},
		{"too long a path", "GET /" + strings.Repeat("x", 600<<10) + " HTTP/1.1\r\nHost: a\r\n\r\n", 431,
			"headers_too_large", ""},
		{"no such path", "GET /none HTTP/1.0\r\n\r\n", 404, "not_found", "/none"},
		{"a strange method", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 405, "method_not_allowed", "BREW"},
		{"no path", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid_request", "path"},
	} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		go func() { _, _ = io.WriteString(conn, x.sent) }()
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		id := r.Header.Get("X-Request-Id")
		if r.StatusCode != x.status || !contract.ValidID(id) || ids[id] ||
			r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d, %v", x.name, r.StatusCode, r.Header)
		}
		ids[id] = true
		if b := body(t, r); b["code"] != x.code || !strings.Contains(b["message"].(string), x.says) ||
			b["error"] != http.StatusText(x.status) {
			t.Errorf("%s: %v", x.name, b)
		}
		_ = conn.Close()
	}
	if err := server.Shutdown(t.Context()); err != nil { // waits for the last error answer
		t.Error(err)
	}
	<-served
	if n := strings.Count(log.String(), "request="); n != len(ids)-3 { // the last three are the box's own
		t.Errorf("the log has %d of %d:\n%s", n, len(ids)-3, &log)
	}
}
