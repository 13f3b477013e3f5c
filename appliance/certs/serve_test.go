package certs

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestClientsWithoutTLSGetAnError(t *testing.T) {
	box := startBox(t, anyPort, ownOptions(t))
	c := box.client(t, nil)
	res, text := fetch(t, c, "http://box:"+box.port()+"/v0/evi/chat?api_key=x")
	var answer struct{ Code, Message string }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || res.StatusCode != 400 ||
		answer.Code != "tls_required" || !strings.Contains(answer.Message, "wss://") ||
		!strings.Contains(answer.Message, "/ca.crt") ||
		res.Header.Get("X-Request-Id") == "" {
		t.Errorf("%d %s (%v)", res.StatusCode, text, err)
	}
	if res, _ := fetch(t, c, "http://box.lan:7/page?a=1", "Accept", "text/html,*/*"); res.StatusCode != 307 ||
		res.Header.Get("Location") != "https://box.lan:7/page?a=1" {
		t.Errorf("a browser: %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
	if res, text := fetch(t, c, "http://box/ca.crt"); res.StatusCode != 200 || text != string(box.Authority()) {
		t.Errorf("the authority: %d %s", res.StatusCode, text)
	}
	if _, text := fetch(t, box.client(t, box.Authority()), "https://localhost"); text != "hello HTTP/2.0" {
		t.Errorf("after that: %s", text)
	}
}

// Garbage, silent connections and many clients without TLS do not block the others.
func TestClientsWithoutTLSDoNotBlockOthers(t *testing.T) {
	box := startBox(t, anyPort, ownOptions(t))
	for i := range 100 {
		conn, err := net.Dial("tcp", box.addr.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		switch i % 3 {
		case 0:
			_, _ = conn.Write([]byte("\x00\xff garbage\r\n\r\n"))
		case 1:
			_, _ = conn.Write([]byte("GET"))
		}
	}
	if _, text := fetch(t, box.client(t, box.Authority()), "https://localhost"); text != "hello HTTP/2.0" {
		t.Errorf("got %s", text)
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	box := startBox(t, anyPort, ownOptions(t))
	_, err := tls.Dial("tcp", box.addr.String(),
		&tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	if err == nil {
		t.Error("TLS 1.1 is spoken")
	}
}

// Requests have the state of their TLS connection with each version of HTTP. http1 gets
// each connection with HTTP/1.1, and can reach the connection below TLS.
func TestRequestsHaveTheirTLSState(t *testing.T) {
	id, err := Open(t.Context(),
		Options{Source: Own, Folder: t.TempDir(), AuthorityFile: filepath.Join(t.TempDir(), "ca.crt")},
		&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer id.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	given := make(chan net.Conn, 9)
	front := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Proto, r.TLS != nil && r.TLS.HandshakeComplete)
	})}
	served := make(chan error, 1)
	go func() { served <- id.Serve(front, l, func(c net.Conn) net.Conn { given <- c; return c }) }()
	for _, two := range []bool{true, false} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
			ForceAttemptHTTP2: two}}
		r, err := client.Get("https://" + l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Body.Close() != nil {
			t.Fatal(err)
		}
		if want := map[bool]string{true: "HTTP/2.0true", false: "HTTP/1.1true"}[two]; string(body) != want {
			t.Errorf("HTTP/2 %v: %s", two, body)
		}
		if n := len(given); n != map[bool]int{true: 0, false: 1}[two] {
			t.Errorf("HTTP/2 %v: %d were given", two, n)
		}
		client.CloseIdleConnections()
	}
	// A client that stops during its handshake does not keep the box from stopping.
	silent, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if _, err := silent.Write([]byte{handshakeByte, 3, 1}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	begun := time.Now()
	if err := front.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	<-served
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("stopping took %v", took)
	}
}
