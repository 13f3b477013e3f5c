package webhook

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// guard says which addresses a webhook may go to. It is asked when a connection
// is made, with the address that the name has led to: what a name led to before
// does not count, so a name that changes its mind gains nothing.
type guard struct {
	plain         bool // for http: only within the house
	allowPrivate  bool // the operator lets webhooks go to private addresses
	own           func() []netip.Addr
	private       []netip.Prefix // of machines in the same house
	never         []netip.Prefix
	nat64, sixTo4 netip.Prefix // an IPv4 address lies in those
}

// newGuard returns the guard of what is sent over http (plain) or https. own are
// the addresses of this machine. The ranges are of IANA's registries of
// special-purpose addresses (https://www.iana.org/assignments/iana-ipv4-special-registry
// and iana-ipv6-special-registry).
func newGuard(plain, allowPrivate bool, own func() []netip.Addr) guard {
	return guard{
		plain: plain, allowPrivate: allowPrivate, own: own,
		// RFC 1918, RFC 6598 (which mesh VPNs use), RFC 4193, loopback.
		private: prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "127.0.0.0/8", "::1/128"),
		// Link-local addresses, where clouds and hypervisors serve secrets to
		// whatever runs on the machine; single addresses where some do so
		// elsewhere; and ranges in which no receiver can be.
		never: prefixes(
			"169.254.0.0/16", "fe80::/10", "100.100.100.200/32", "fd00:ec2::254/128", "fd20:ce::254/128", "168.63.129.16/32", "192.0.0.192/32",
			"0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
			"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10", "ff00::/8",
		),
		nat64: netip.MustParsePrefix("64:ff9b::/96"), sixTo4: netip.MustParsePrefix("2002::/16"),
	}
}

// ErrRefused is an address that webhooks may not go to.
type ErrRefused struct{ Why string }

func (e ErrRefused) Error() string { return "refused: " + e.Why }

// control refuses a connection before its first packet (net.Dialer.ControlContext).
func (g guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return ErrRefused{fmt.Sprintf("%q is not an address", address)}
	}
	return g.check(to.Addr())
}

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		all[i] = netip.MustParsePrefix(t)
	}
	return all
}

func within(ranges []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// check returns an ErrRefused where a webhook may not go to ip.
func (g guard) check(ip netip.Addr) error {
	ip = g.meant(ip.Unmap().WithZone(""))
	loopback := ip.IsLoopback()
	switch {
	case !loopback && within(g.never, ip):
		return ErrRefused{fmt.Sprintf("webhooks never go to %s: it is link-local, of a cloud's own services, or no receiver's address", ip)}
	case within(g.private, ip) || slices.Contains(g.own(), ip):
		if !g.allowPrivate {
			return ErrRefused{fmt.Sprintf("%s is %s address; set webhooks.allow_private to let webhooks go there", ip, g.kindOf(ip))}
		}
	case g.plain:
		return ErrRefused{fmt.Sprintf("%s is public, and http:// is not encrypted; use https://", ip)}
	}
	return nil
}

func (g guard) kindOf(ip netip.Addr) string {
	switch {
	case ip.IsLoopback():
		return "the box's own loopback"
	case within(g.private, ip):
		return "a private"
	}
	return "the box's own"
}

// meant is the IPv4 address that leads on from an IPv6 address that stands for
// one; else ip itself.
func (g guard) meant(ip netip.Addr) netip.Addr {
	from := 0
	switch {
	case g.nat64.Contains(ip):
		from = 12
	case g.sixTo4.Contains(ip):
		from = 2
	default:
		return ip
	}
	b := ip.As16()
	return netip.AddrFrom4([4]byte(b[from : from+4]))
}

// ownAddresses are those of this machine as it is now: cables and VPNs come and
// go.
func ownAddresses() []netip.Addr {
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
