package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/internal/sipuri"
)

// target is one address of a peer at which a request is tried.
type target struct {
	transport string // udp, tcp or tls
	name      string // what a certificate has to name: the host of the settings
	addr      netip.AddrPort
}

func (t target) String() string { return t.transport + "://" + t.addr.String() }

// resolver looks names up. *net.Resolver is one.
type resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error)
}

// lookupTime bounds the look-ups for one address: a resolver that asks two servers twice
// needs less, and a caller does not wait longer.
const lookupTime = 5 * time.Second

// maxTargets bounds the addresses at which one request is tried.
const maxTargets = 8

// resolve returns the targets of an address in the order in which they are to be tried
// (RFC 3263): an IP address is one target; a name with a port is looked up as it is; a
// name without one is looked up as a service first. NAPTR records are not asked for: an
// address without a transport is looked up for UDP, and for TCP and TLS if there is none.
func resolve(ctx context.Context, r resolver, a sipuri.Address) ([]target, error) {
	if a.Network.IsValid() {
		return nil, fmt.Errorf("%s is a network: calls come from it, but none can go there", a)
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	if ip, err := netip.ParseAddr(a.Host); err == nil {
		return []target{hostTarget(a, ip)}, nil
	}
	if a.Port == 0 {
		if found := services(ctx, r, a, a.Transport); len(found) > 0 {
			return found, nil
		}
	}
	found, err := hosts(ctx, r, a)
	if err == nil || a.Port != 0 || a.Transport != "" {
		return found, err
	}
	for _, transport := range []string{"tcp", "tls"} {
		if found := services(ctx, r, a, transport); len(found) > 0 {
			return found, nil
		}
	}
	return nil, err
}

// hosts returns the targets of the address records of a name.
func hosts(ctx context.Context, r resolver, a sipuri.Address) ([]target, error) {
	ips, err := r.LookupNetIP(ctx, "ip", a.Host)
	if err != nil {
		return nil, err
	}
	all := make([]target, 0, len(ips))
	for _, ip := range ips {
		all = append(all, hostTarget(a, ip))
	}
	if len(all) == 0 {
		return nil, errors.New("lookup " + a.Host + ": no addresses")
	}
	return all[:min(len(all), maxTargets)], nil
}

func hostTarget(a sipuri.Address, ip netip.Addr) target {
	t := target{transport: a.Transport, name: a.Host}
	if t.transport == "" {
		t.transport = "udp"
	}
	port := a.Port
	if port == 0 {
		port = uint16(sip.DefaultPort(t.transport))
	}
	t.addr = netip.AddrPortFrom(ip.Unmap(), port)
	return t
}

// services returns the targets of the SRV records of a name for a transport, by priority
// and weight; none if the name has no such records.
func services(ctx context.Context, r resolver, a sipuri.Address, transport string) []target {
	service, proto := "sip", transport
	switch transport {
	case "":
		proto, transport = "udp", "udp"
	case "tls":
		service, proto = "sips", "tcp"
	}
	_, records, err := r.LookupSRV(ctx, service, proto, a.Host)
	if err != nil {
		return nil
	}
	var all []target
	for _, s := range records {
		if s.Target == "." || s.Port == 0 || len(all) >= maxTargets {
			continue
		}
		at := sipuri.Address{Host: strings.TrimSuffix(s.Target, "."), Port: s.Port, Transport: transport}
		found, err := hosts(ctx, r, at)
		if err != nil {
			continue // another server of the peer may have an address
		}
		for _, t := range found {
			// Whoever can forge SRV records could name a host of their own (RFC 5922, section 7.1).
			t.name = a.Host
			all = append(all, t)
		}
	}
	return all[:min(len(all), maxTargets)]
}
