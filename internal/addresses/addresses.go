// Package addresses knows which IP addresses are public and which lead into the
// own network, so that what strangers make the box talk to can be told apart. It
// is asked when a connection is made, with the address that the name has led to.
package addresses

import (
	"net"
	"net/netip"
	"slices"
)

// Kind is what an address leads to.
type Kind string

const (
	Public  Kind = "public"
	Private Kind = "private" // a machine in the same house
	Box     Kind = "box"     // this machine itself: its loopback
	// Special is link-local, where clouds and hypervisors serve secrets to
	// whatever runs on the machine; a single address where some do so elsewhere;
	// or a range in which no server can be.
	Special Kind = "special"
)

// The ranges are of IANA's registries of special-purpose addresses
// (https://www.iana.org/assignments/iana-ipv4-special-registry and
// iana-ipv6-special-registry).
func private() []netip.Prefix {
	// RFC 1918, RFC 6598 (which mesh VPNs use), RFC 4193.
	return prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
}

func special() []netip.Prefix {
	return prefixes(
		"169.254.0.0/16", "fe80::/10", "100.100.100.200/32", "fd00:ec2::254/128", "fd20:ce::254/128", "168.63.129.16/32", "192.0.0.192/32",
		"0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10", "ff00::/8",
	)
}

// Table tells kinds apart. Make one with NewTable and keep it.
type Table struct {
	private, special []netip.Prefix
	nat64, sixTo4    netip.Prefix // an IPv4 address lies in those
}

// NewTable returns the table of all ranges.
func NewTable() Table {
	return Table{private(), special(), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("2002::/16")}
}

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		all[i] = netip.MustParsePrefix(t)
	}
	return all
}

// Kind says what ip leads to; ip is as Meant returns it.
func (t Table) Kind(ip netip.Addr) Kind {
	within := func(ranges []netip.Prefix) bool {
		return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(ip) })
	}
	switch {
	case ip.IsLoopback():
		return Box
	case within(t.special):
		return Special
	case within(t.private):
		return Private
	}
	return Public
}

// Meant is where a packet to ip arrives: without a zone, and the IPv4 address
// that leads on from an IPv6 address that stands for one.
func (t Table) Meant(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	from := 0
	switch {
	case t.nat64.Contains(ip):
		from = 12
	case t.sixTo4.Contains(ip):
		from = 2
	default:
		return ip
	}
	b := ip.As16()
	return netip.AddrFrom4([4]byte(b[from : from+4]))
}

// Own are the addresses of this machine as it is now: cables and VPNs come and
// go.
func Own() []netip.Addr {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var own []netip.Addr
	for _, a := range found {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				own = append(own, ip.Unmap())
			}
		}
	}
	return own
}
