package media

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"
)

func TestPortsAreTakenInPairsUntilNoneIsFree(t *testing.T) {
	o := options()
	o.Ports = Ports{41001, 41007} // 41002 and 3, 41004 and 5, 41006 and 7
	taken, err := net.ListenUDP("udp4", &net.UDPAddr{IP: loopback.AsSlice(), Port: 41005})
	if err != nil {
		t.Skipf("the port is in use: %v", err)
	}
	defer func() { _ = taken.Close() }()
	a, b := newEnd(t, o), newEnd(t, o)
	got := []uint16{a.sockets.port, b.sockets.port}
	slices.Sort(got)
	if !slices.Equal(got, []uint16{41002, 41006}) {
		t.Errorf("the ports are %v", got)
	}
	if _, err := New(o, loopback); !errors.Is(err, ErrNoPorts) {
		t.Errorf("without a free port the error is %v", err)
	}
	a.Close()
	if c, err := New(o, loopback); err != nil || c.sockets.port != a.sockets.port {
		t.Errorf("the port of a call that has ended cannot be used: %v", err)
	} else {
		c.Close()
	}
}

func TestTheAddressIsOneThatThePeerCanReach(t *testing.T) {
	external := netip.MustParseAddr("203.0.113.7")
	for _, c := range []struct{ peer, listen, external, want string }{
		{"127.0.0.1", "0.0.0.0", "", "127.0.0.1"},
		{"::1", "::", "", "::1"},
		{"198.51.100.9", "0.0.0.0", "203.0.113.7", "203.0.113.7"}, // beyond the router
		{"127.0.0.1", "0.0.0.0", "203.0.113.7", "127.0.0.1"},      // a neighbour
		{"::1", "::", "203.0.113.7", "::1"},                       // by IPv6
		{"198.51.100.9", "127.0.0.2", "", "127.0.0.2"},
	} {
		e := netip.Addr{}
		if c.external != "" {
			e = external
		}
		got, err := LocalAddress(netip.MustParseAddr(c.peer), netip.MustParseAddr(c.listen), e)
		if err != nil || got.String() != c.want {
			t.Errorf("%+v: the address is %v (%v)", c, got, err)
		}
	}
}
