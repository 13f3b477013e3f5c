package api

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/contract"
)

// remoteListener is a listener whose clients seem to come from other machines,
// with the addresses of a list.
type remoteListener struct {
	net.Listener
	mu   sync.Mutex
	from []string
}

type remoteConn struct {
	net.Conn
	from net.Addr
}

func (s remoteConn) RemoteAddr() net.Addr { return s.from }

func (e *remoteListener) Accept() (net.Conn, error) {
	c, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	at := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(e.from[0]))
	e.from = e.from[1:]
	return remoteConn{c, at}, nil
}

func TestConnectionsAreLimitedByAddressAndInTotal(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var log bytes.Buffer
	away := &remoteListener{Listener: l}
	accepting := Listen(away, Limits{Connections: 6, ConnectionsPerAddress: 2},
		slog.New(slog.NewTextHandler(&log, nil)))
	accepted := make(chan net.Conn, 20)
	go func() {
		for {
			c, err := accepting.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	// from connects, and returns the connection if it was accepted.
	from := func(address string) (taken net.Conn) {
		t.Helper()
		away.mu.Lock()
		away.from = append(away.from, address)
		away.mu.Unlock()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		closed := make(chan error, 1)
		go func() {
			_ = c.SetReadDeadline(time.Now().Add(time.Minute))
			_, err := c.Read(make([]byte, 1))
			closed <- err
		}()
		select {
		case taken = <-accepted:
			return taken
		case err := <-closed:
			if err != io.EOF {
				t.Fatalf("from %s: %v", address, err)
			}
			return nil
		}
	}
	one := from("192.0.2.1:1")
	if one == nil || from("192.0.2.1:2") == nil || from("192.0.2.1:3") != nil {
		t.Error("one address has not just its two slots")
	}
	if from("[2001:db8::1]:1") == nil {
		t.Error("another address has no slot")
	}
	// Three of six are for clients on the machine itself.
	if from("192.0.2.2:1") != nil {
		t.Error("strangers have all slots")
	}
	for i := range 3 {
		if from("127.0.0.1:1") == nil {
			t.Errorf("client %d on the machine itself has no slot", i)
		}
	}
	if from("127.0.0.1:1") != nil {
		t.Error("there are more than there may be in all")
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	_ = one.Close() // gives no second slot back
	if from("127.0.0.1:1") == nil || from("127.0.0.1:1") != nil {
		t.Error("a slot that was given back is not just one")
	}
	if n := strings.Count(log.String(), "connection refused"); n != 1 {
		t.Errorf("%d lines in the log: %s", n, &log)
	}
}

// Over HTTP/2, one connection has many requests, and each of them counts.
func TestRequestsUnderWayAreLimitedByAddress(t *testing.T) {
	p := newOpenLimiter(Limits{Connections: 100, ConnectionsPerAddress: 2})
	here, there := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("127.0.0.1/32")
	first, err := p.enter(here)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.enter(here); err != nil {
		t.Fatal(err)
	}
	if _, err := p.enter(here); err == nil {
		t.Error("a third one is let in")
	} else if k, told := kindOf(err); k.status != 429 || told.(contract.ErrTooMany).Wait() <= 0 {
		t.Errorf("%d %v", k.status, told)
	}
	first()
	if _, err := p.enter(here); err != nil {
		t.Error(err)
	}
	for range 90 {
		if _, err := p.enter(there); err != nil {
			t.Fatal(err)
		}
	}
}
