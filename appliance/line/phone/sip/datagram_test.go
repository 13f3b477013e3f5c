package sip

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// Linux takes packets for every address of 127.0.0.0/8 on the loopback interface.
func TestAnswersComeFromTheAddressThatWasAsked(t *testing.T) {
	for _, at := range []string{"0.0.0.0:0", "[::]:0", ":0"} {
		server, err := openDatagrams(map[bool]string{true: "udp4", false: "udp"}[at[0] == '0'], at)
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		client, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.77"), server.local.Port())
		if _, err := client.WriteToUDPAddrPort([]byte("asked"), to); err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 100)
		n, local, from, err := server.read(buffer)
		if err != nil || local != to {
			t.Errorf("%s: read at %s, %v; want %s", at, local, err, to)
		}
		if err := server.write(buffer[:n], local, from); err != nil {
			t.Fatal(err)
		}
		_ = client.SetReadDeadline(time.Now().Add(time.Second))
		if _, answerer, err := client.ReadFromUDPAddrPort(buffer); err != nil || answerer.Addr().Unmap() != to.Addr() {
			t.Errorf("%s: the answer comes from %s, %v; want %s", at, answerer, err, to)
		}
		if err := server.write([]byte("x"), netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), 1), from); err != nil {
			t.Errorf("%s: an address that has left the box: %v", at, err)
		}
	}
}

func TestExternalAddressIsShownOutside(t *testing.T) {
	s := open(t, desk())
	s.e.External = netip.MustParseAddr("203.0.113.5")
	local := netip.MustParseAddrPort("127.0.0.1:5060")
	inside := &flow{transport: "UDP", local: local, remote: netip.MustParseAddrPort("127.0.0.1:5061")}
	outside := &flow{transport: "UDP", local: local, remote: netip.MustParseAddrPort("198.51.100.7:5060")}
	if host, port := s.e.face(inside); host.String() != "127.0.0.1" || port != 5060 {
		t.Errorf("a peer inside reaches the box at %s, port %d", host, port)
	}
	if host, port := s.e.face(outside); host != s.e.External || port != 5060 {
		t.Errorf("a peer outside reaches the box at %s, port %d; want %s, 5060", host, port, s.e.External)
	}
	if via := s.e.via(outside).Value(); !strings.HasPrefix(via, "SIP/2.0/UDP 203.0.113.5:5060;branch=z9hG4bK") {
		t.Errorf("Via is %s", via)
	}
	if contact := s.e.contact(outside, "box").Value(); contact != "<sip:box@203.0.113.5:5060>" {
		t.Errorf("Contact is %s", contact)
	}
}

func TestNextHopOfAnAddress(t *testing.T) {
	for address, want := range map[string]string{
		"sip:ada@192.0.2.1":                     "UDP 192.0.2.1:5060",
		"sip:ada@192.0.2.1:5080;transport=tcp":  "TCP 192.0.2.1:5080",
		"sips:ada@192.0.2.1":                    "TLS 192.0.2.1:5061",
		"sip:ada@[2001:db8::1]:5062":            "UDP [2001:db8::1]:5062",
		"sip:ada@192.0.2.1;maddr=192.0.2.9":     "UDP 192.0.2.9:5060",
		"sip:ada@192.0.2.1;transport=ws":        "",
		"sip:ada@192.0.2.1:5060;transport=TLS":  "TLS 192.0.2.1:5060",
		"sip:ada@192.0.2.1:5060;TRANSPORT=tcp ": "UDP 192.0.2.1:5060",
	} {
		uri := requestOf(t, "sip:100@box", "Contact: <"+address+">").Contact().Address
		transport, to, _, err := nextHop(context.Background(), &uri)
		if got := transport + " " + to.String(); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%s leads to %s, %v; want %q", address, got, err, want)
		}
	}
}
