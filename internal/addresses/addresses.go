// Package addresses classifies IP addresses as public, private, the box's own or special,
// to check where untrusted input makes the box connect. It is asked when a connection is
// made, about the address that the name resolved to.
package addresses

import (
	"fmt"
	"net/netip"
	"slices"
)

// Kind is the kind of an address.
type Kind string

const (
	Public  Kind = "public"
	Private Kind = "private" // a machine in the local network
	Box     Kind = "box"     // this machine: loopback, or one of its addresses
	// Special is link-local, where clouds and hypervisors serve secrets to anything on
	// the machine; an address elsewhere with such a service; or a range that has no
	// servers.
	Special Kind = "special"
)

// The ranges are from IANA's registries of special-purpose addresses
// (https://www.iana.org/assignments/iana-ipv4-special-registry and
// iana-ipv6-special-registry).
func private() []netip.Prefix {
	// RFC 1918, RFC 6598 (which mesh VPNs use), RFC 4193.
	return prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
}

func special() []netip.Prefix {
	return prefixes(
		// Metadata services of clouds: Alibaba, Azure, Oracle; AWS (metadata, keys of pods,
		// time), Google, Oracle, Scaleway, Linode, Alibaba.
		"100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::/32", "fd20:ce::254/128",
		"fd00:c1::a9fe:a9fe/128", "fd00:42::42/128", "fd00:a9fe:a9fe::1/128", "fd00:100::100:200/128",
		"169.254.0.0/16", "0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"2001::/23", "2001:db8::/32", "3fff::/20",
	)
}

// embedding is a range of IPv6 addresses that stand for an IPv4 address.
type embedding struct {
	netip.Prefix
	at       int  // the byte at which the IPv4 address begins
	inverted bool // its bits are inverted
}

func embeddings() []embedding {
	return []embedding{
		{netip.MustParsePrefix("64:ff9b::/96"), 12, false},    // NAT64 (RFC 6052)
		{netip.MustParsePrefix("64:ff9b:1::/48"), 12, false},  // NAT64 of a network's own (RFC 8215)
		{netip.MustParsePrefix("2002::/16"), 2, false},        // 6to4 (RFC 3056)
		{netip.MustParsePrefix("2001::/32"), 12, true},        // Teredo (RFC 4380): the client's address
		{netip.MustParsePrefix("::/96"), 12, false},           // IPv4-compatible (RFC 4291)
		{netip.MustParsePrefix("::ffff:0:0:0/96"), 12, false}, // IPv4-translated (RFC 2765)
	}
}

// Table classifies addresses. Create it once with NewTable.
type Table struct {
	private, special []netip.Prefix
	unicast          netip.Prefix // the assigned part of IPv6 (RFC 4291, section 2.4)
	embeddings       []embedding
	local            func() []netip.Addr
}

// NewTable returns the table of all ranges. own returns the addresses of this machine and
// is called each time; it may be nil if they do not matter.
func NewTable(own func() []netip.Addr) Table {
	if own == nil {
		own = func() []netip.Addr { return nil }
	}
	return Table{private(), special(), netip.MustParsePrefix("2000::/3"), embeddings(), own}
}

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		all[i] = netip.MustParsePrefix(t)
	}
	return all
}

// Destination is the target of a connection.
type Destination struct {
	IP   netip.Addr // where its packets arrive: the IPv4 address if an IPv6 one stands for it
	Port uint16
	Kind Kind
}

// Destination classifies address, which is IP:PORT as net.Dialer.Control gets it.
func (t Table) Destination(address string) (Destination, error) {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return Destination{}, fmt.Errorf("%.80q is not an address", address)
	}
	return t.At(to), nil
}

// At is Destination for a parsed address.
func (t Table) At(to netip.AddrPort) Destination {
	d := Destination{IP: t.Effective(to.Addr()), Port: to.Port()}
	if d.Kind = t.kind(d.IP); d.Kind != Special && slices.Contains(t.local(), d.IP) {
		d.Kind = Box
	}
	return d
}

// String describes the address, such as "10.0.0.1 is a private address".
func (d Destination) String() string {
	what := "public"
	switch {
	case d.Kind == Special:
		what = "link-local, of a cloud's own services, or no server's address"
	case d.Kind == Private:
		what = "a private address"
	case d.IP.IsLoopback():
		what = "the box's own loopback address"
	case d.Kind == Box:
		what = "the box's own address"
	}
	return d.IP.String() + " is " + what
}

// kind returns the kind of ip, which is as Effective returns it.
func (t Table) kind(ip netip.Addr) Kind {
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
	case ip.Is6() && !t.unicast.Contains(ip):
		return Special
	}
	return Public
}

// Effective returns the address at which a packet to ip arrives: without a zone, and the
// IPv4 address if ip is an IPv6 address that stands for one.
func (t Table) Effective(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	i := slices.IndexFunc(t.embeddings, func(f embedding) bool { return f.Contains(ip) })
	if i < 0 || ip.IsLoopback() {
		return ip
	}
	b := ip.As16()
	v4 := [4]byte(b[t.embeddings[i].at:])
	if t.embeddings[i].inverted {
		for i := range v4 {
			v4[i] = ^v4[i]
		}
	}
	if t.embeddings[i].Bits() == 48 && b[13]|b[14]|b[15] == 0 {
		// A network may place the IPv4 address further left in its own range of NAT64, with
		// zeros behind it. Its position cannot be known here.
		return ip
	}
	return netip.AddrFrom4(v4)
}
