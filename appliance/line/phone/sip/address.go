package sip

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/emiago/sipgo/sip"

	"parley/appliance/line/phone/media"
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
	host, err := media.LocalAddress(f.remote.Addr(), f.local.Addr(), e.External)
	if err != nil {
		host = f.local.Addr() // there is no way to the peer: nobody will read this
	}
	return host, port
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
	if transport != "UDP" && transport != "TCP" && transport != "TLS" {
		return "", netip.AddrPort{}, "", fmt.Errorf("sip: the transport is %.20q", transport)
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
