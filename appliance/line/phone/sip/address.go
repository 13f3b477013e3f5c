package sip

import (
	"context"
	"net"
	"net/netip"
	"strings"

	"github.com/emiago/sipgo/sip"
)

// face returns the address and port under which the peer of a flow reaches the box.
func (e *Endpoint) face(f *flow) (netip.Addr, uint16) {
	port := f.local.Port()
	if f.stream != nil {
		for _, l := range e.listeners {
			if l.transport == f.transport && reaches(l.local.Addr(), f.remote.Addr()) {
				port = l.local.Port()
			}
		}
	}
	if e.External.IsValid() && e.External.Is4() == f.remote.Addr().Is4() && !inside(f.remote.Addr()) {
		return e.External, port
	}
	host := f.local.Addr()
	if host.IsUnspecified() {
		host = towards(f.remote)
	}
	return host, port
}

// towards returns the address of the machine from which packets to a peer leave.
func towards(peer netip.AddrPort) netip.Addr {
	conn, err := net.Dial("udp", peer.String()) // sends nothing
	if err != nil {
		return netip.IPv4Unspecified()
	}
	defer conn.Close()
	return addrPort(conn.LocalAddr()).Addr().WithZone("")
}

// inside reports whether an address is in a network of the machine, or in one that no
// packet from outside reaches.
func inside(peer netip.Addr) bool {
	if peer.IsPrivate() || peer.IsLoopback() || peer.IsLinkLocalUnicast() {
		return true
	}
	all, _ := net.InterfaceAddrs()
	for _, one := range all {
		network, err := netip.ParsePrefix(one.String())
		if err == nil && network.Masked().Contains(peer) {
			return true
		}
	}
	return false
}

// contact returns the address under which the peer of a flow reaches user at the box.
func (e *Endpoint) contact(f *flow, user string) *sip.ContactHeader {
	host, port := e.face(f)
	uri := sip.Uri{
		Scheme: "sip",
		User:   user,
		Host:   bracketed(host),
		Port:   int(port),
	}
	if f.transport != "UDP" {
		uri.UriParams.Add("transport", strings.ToLower(f.transport))
	}
	return &sip.ContactHeader{Address: uri}
}

func bracketed(host netip.Addr) string {
	if host.Is6() {
		return "[" + host.String() + "]"
	}
	return host.String()
}

// nextHop returns where a SIP URI leads.
func nextHop(ctx context.Context, uri *sip.Uri) (transport string, to netip.AddrPort, name string, err error) {
	transport = "UDP"
	if t, ok := uri.UriParams.Get("transport"); ok {
		transport = strings.ToUpper(t)
	}
	if uri.IsEncrypted() {
		transport = "TLS"
	}
	name = strings.Trim(uri.Host, "[]")
	if maddr, ok := uri.UriParams.Get("maddr"); ok {
		name = strings.Trim(maddr, "[]")
	}
	port := uri.Port
	if port <= 0 || port > 65535 {
		port = sip.DefaultPort(transport)
	}
	host, err := netip.ParseAddr(name)
	if err != nil {
		hosts, err := (&net.Resolver{}).LookupNetIP(ctx, "ip", name)
		if err != nil {
			return "", netip.AddrPort{}, "", err
		}
		host = hosts[0]
	}
	return transport, netip.AddrPortFrom(host.Unmap(), uint16(port)), name, nil
}
