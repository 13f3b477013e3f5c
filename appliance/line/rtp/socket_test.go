package rtp

import (
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"
)

func TestOnlyManyPacketsAreBatched(t *testing.T) {
	for _, c := range []struct {
		name  string
		every time.Duration
		many  bool
	}{
		{"one voice", 20 * time.Millisecond, false},
		{"four voices", 5 * time.Millisecond, false},
		{"six voices", 20 * time.Millisecond / 6, true},
		{"twenty voices", time.Millisecond, true},
	} {
		var s Socket
		now := time.Unix(1, 0)
		for range time.Second / c.every {
			now = now.Add(c.every)
			s.note(now)
		}
		if s.batching != c.many {
			t.Errorf("%s: batching is %v", c.name, s.batching)
		}
		s.note(now.Add(time.Minute))
		if s.batching {
			t.Errorf("after a minute without a packet %s are still many", c.name)
		}
	}
}

// All packets that gathered are read, also empty ones, which the kernel does not count.
func TestAllGatheredPacketsAreRead(t *testing.T) {
	at, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSocket(at, NewClock())
	s.batching, s.since, s.count = true, time.Now().Add(time.Hour), 0 // for the whole test
	client, err := net.Dial("udp", at.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	said := [][]byte{{1}, {}, {2, 3}, {}, {}, {4}}
	for _, packet := range said {
		if _, err := client.Write(packet); err != nil {
			t.Fatal(err)
		}
	}
	room := make([]byte, 100)
	for n, want := range said {
		got, from, err := s.ReadFromAddrPort(room)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(room[:got], want) || from != netip.MustParseAddrPort(client.LocalAddr().String()) {
			t.Errorf("packet %d is %v from %v, not %v", n, room[:got], from, want)
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, _, err := s.ReadFromAddrPort(room)
		ended <- err
	}()
	if err := at.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("a socket that is closed is still read")
	}
}
