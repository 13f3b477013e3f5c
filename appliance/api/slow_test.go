package api

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// testStall replaces maxStall in tests. It is long enough for clients at full
// speed on a busy machine.
const testStall = 2 * time.Second

// slowBox serves on real sockets, with two more routes: one sends as much as
// requested, and one reads everything.
type slowBox struct {
	*httptest.Server
	api *API
	log bytes.Buffer
	// sending are the answers under way.
	sending atomic.Int32
}

func startSlow(t *testing.T, limits Limits) *slowBox {
	t.Helper()
	b := &slowBox{}
	k := &keys{}
	b.api = New(Parts{
		Keys:   k,
		Ready:  k,
		Log:    slog.New(slog.NewTextHandler(&b.log, nil)),
		Limits: limits,
	})
	b.api.maxStall = testStall
	b.add(
		row{"GET", "/much/{mb}", byAnyone, noBody, normal, nothing,
			func(w http.ResponseWriter, r *http.Request, _ caller) error {
				b.sending.Add(1)
				defer b.sending.Add(-1)
				var mb int64
				_, _ = fmt.Sscan(r.PathValue("mb"), &mb)
				_, err := io.Copy(w, io.LimitReader(zeros{}, mb<<20))
				return err
			}},
		row{"POST", "/much", byAnyone, 1 << 30, normal, nothing,
			func(w http.ResponseWriter, r *http.Request, _ caller) error {
				n, err := io.Copy(io.Discard, r.Body)
				if err == nil {
					_, err = fmt.Fprint(w, n)
				}
				return err
			}},
	)
	b.Server = httptest.NewUnstartedServer(nil)
	b.Listener = Listen(b.Listener, limits, b.api.Log)
	b.Config = NewServer(b.api, b.api.Log)
	b.Config.ReadHeaderTimeout = testStall
	t.Cleanup(b.Close)
	return b
}

func (b *slowBox) add(rows ...row) {
	for _, r := range rows {
		b.api.mux.Handle(r.method+" "+r.path, b.api.enforce(route{row: r}))
	}
}

// othersAreServed fails the test if another client is not served.
func (b *slowBox) othersAreServed(t *testing.T) {
	t.Helper()
	client := *b.Client()
	client.Timeout = 30 * time.Second
	for _, path := range []string{"/healthz", "/docs", "/v0/evi/chat"} {
		answer, err := client.Get(b.URL + path)
		if err != nil {
			t.Errorf("somebody else: %v", err)
			return
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}

func (b *slowBox) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", b.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// waitUntilClosed waits until the box has closed a connection that the client
// does not read: what the client sends is then answered with a reset.
func waitUntilClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	for {
		if _, err := conn.Write([]byte("x")); err != nil {
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				t.Error("it is still connected after a minute")
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestClientsThatNeverReadAreCutOffAndOthersAreServed(t *testing.T) {
	b := startSlow(t, Limits{})
	b.Start()
	conns := make([]*net.TCPConn, 200)
	for i := range conns {
		conns[i] = b.dial(t)
		_ = conns[i].SetReadBuffer(4 << 10)
		path := []string{"/much/64", "/docs"}[i%2]
		// One after the other, so that no buffer on the way takes them all.
		fmt.Fprint(conns[i], strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: box\r\n\r\n", 40))
	}
	b.othersAreServed(t)
	for _, conn := range conns {
		waitUntilClosed(t, conn)
	}
	if n := b.sending.Load(); n > 0 {
		t.Errorf("%d answers are still under way", n)
	}
	b.othersAreServed(t)
}

func TestAReaderBelowTheMinimumRateIsCutOff(t *testing.T) {
	b := startSlow(t, Limits{})
	b.Start()
	conn := b.dial(t)
	_ = conn.SetReadBuffer(4 << 10)
	fmt.Fprint(conn, "GET /much/64 HTTP/1.1\r\nHost: box\r\n\r\n")
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	begun := time.Now()
	for b.sending.Load() == 0 && time.Since(begun) < time.Minute {
		time.Sleep(time.Millisecond)
	}
	for b.sending.Load() > 0 && time.Since(begun) < 20*time.Second {
		_, _ = conn.Read(make([]byte, 1))
		time.Sleep(5 * time.Millisecond)
	}
	if took := time.Since(begun); took < testStall || took > time.Minute {
		t.Errorf("it was cut off after %v", took)
	}
	b.Close()
	if !strings.Contains(b.log.String(), "too_slow=true") {
		t.Errorf("the log does not say why: %s", &b.log)
	}
}

// The transfer takes many times as long as a stalled client may take.
func TestASlowReaderGetsTheWholeAnswer(t *testing.T) {
	t.Parallel()
	b := startSlow(t, Limits{})
	b.api.maxStall = time.Second
	b.Start()
	conn := b.dial(t)
	_ = conn.SetReadBuffer(64 << 10)
	fmt.Fprint(conn, "GET /much/3 HTTP/1.1\r\nHost: box\r\nConnection: close\r\n\r\n")
	begun, got := time.Now(), 0
	buf := make([]byte, 32<<10)
	for {
		n, err := conn.Read(buf)
		got += n
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("after %d bytes: %v", got, err)
		}
		time.Sleep(time.Duration(n) * time.Second / (1 << 20)) // a MiB in the time in which 32 KiB have to move
	}
	if took := time.Since(begun); got < 3<<20 || took < 2*b.api.maxStall {
		t.Errorf("%d bytes in %v", got, took)
	}
}

func TestAHeaderThatNeverEndsIsCutOff(t *testing.T) {
	t.Parallel()
	b := startSlow(t, Limits{})
	b.Start()
	for range 50 {
		conn := b.dial(t)
		fmt.Fprint(conn, "GET /docs HTTP/1.1\r\nHost: box\r\n")
		go func() {
			for {
				if _, err := fmt.Fprint(conn, "X-More: and more\r\n"); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}()
		t.Cleanup(func() { waitUntilClosed(t, conn) })
	}
	b.othersAreServed(t)
}

func TestABodyBelowTheMinimumRateIsRejected(t *testing.T) {
	t.Parallel()
	b := startSlow(t, Limits{})
	b.Start()
	for name, head := range map[string]string{
		"announced": "Content-Length: 100000\r\n", "in chunks": "Transfer-Encoding: chunked\r\n",
	} {
		for _, path := range []string{"/much", "/oauth2-cc/token", "/nowhere"} {
			conn := b.dial(t)
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: box\r\nAuthorization: %s\r\n%s\r\n", path, basic("a", "b"),
				head)
			go func() {
				for {
					piece := "x"
					if name == "in chunks" {
						piece = "1\r\nx\r\n"
					}
					if _, err := fmt.Fprint(conn, piece); err != nil {
						return
					}
					time.Sleep(20 * time.Millisecond)
				}
			}()
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			r, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Errorf("%s, %s: %v", path, name, err)
				continue
			}
			if path == "/much" && (r.StatusCode != 408 || body(t, r)["code"] != "too_slow") {
				t.Errorf("%s, %s: %d", path, name, r.StatusCode)
			}
			waitUntilClosed(t, conn)
		}
	}
	b.othersAreServed(t)
}

func TestASlowBodyIsAccepted(t *testing.T) {
	t.Parallel()
	b := startSlow(t, Limits{})
	b.Start()
	body, send := io.Pipe()
	go func() {
		for range 12 {
			_, _ = send.Write(make([]byte, progressBytes))
			time.Sleep(testStall / 3)
		}
		send.Close()
	}()
	answer, err := b.Client().Post(b.URL+"/much", "", body)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); string(text) != fmt.Sprint(12*progressBytes) {
		t.Errorf("%d %s", answer.StatusCode, text)
	}
}

func TestOverHTTP2AStreamThatIsNotReadIsCutOffAndOthersAreServed(t *testing.T) {
	b := startSlow(t, Limits{})
	b.EnableHTTP2 = true
	b.TLS = &tls.Config{}
	b.StartTLS()
	transport := b.Client().Transport.(*http.Transport)
	transport.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10, MaxReceiveBufferPerConnection: 1 << 20}
	unreadStreams := make([]*http.Response, 10)
	for i := range unreadStreams {
		answer, err := b.Client().Get(b.URL + "/much/4")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.ProtoMajor != 2 {
			t.Fatalf("it is %s", answer.Proto)
		}
		unreadStreams[i] = answer
	}
	b.othersAreServed(t)
	for begun := time.Now(); b.sending.Load() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("%d streams are still under way", b.sending.Load())
		}
	}
	for _, answer := range unreadStreams {
		if n, err := io.Copy(io.Discard, answer.Body); err == nil {
			t.Errorf("all of it came, %d bytes", n)
		}
	}
	b.othersAreServed(t)
}

// Only the client is timed, so a stream may pause as long as it likes.
func TestOverHTTP2AnAnswerMayPause(t *testing.T) {
	t.Parallel()
	b := startSlow(t, Limits{})
	b.add(row{"GET", "/pause", byAnyone, noBody, normal, nothing,
		func(w http.ResponseWriter, _ *http.Request, _ caller) error {
			for range 3 {
				if _, err := io.WriteString(w, "x"); err != nil {
					return err
				}
				if err := http.NewResponseController(w).Flush(); err != nil {
					return err
				}
				time.Sleep(2 * testStall)
			}
			return nil
		}})
	b.EnableHTTP2 = true
	b.StartTLS()
	answer, err := b.Client().Get(b.URL + "/pause")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); string(text) != "xxx" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestATLSHandshakeThatNeverComesIsCutOff(t *testing.T) {
	t.Parallel()
	b := startSlow(t, Limits{})
	b.StartTLS()
	conn := b.dial(t)
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("%v", err)
	}
	b.othersAreServed(t)
}
