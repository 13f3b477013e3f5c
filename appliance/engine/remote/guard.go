package remote

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// errAddress is why a connection is not made: the address is not one that a
// custom language model may have.
var errAddress = errors.New("this address is not allowed")

// guard says to which addresses a connection for a custom language model may
// go, which anybody with a key may name. It is asked with the address itself,
// after the name was resolved, so a name that leads elsewhere the second time
// gains nothing.
func guard(encrypted bool) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %q", errAddress, address)
		}
		return allowed(to.Addr().Unmap(), encrypted)
	}
}

// allowed: without encryption only the machine itself and the networks that are
// private by RFC 1918 and RFC 4193. Nobody serves a model at an address that is
// none, is many, or holds for one link only; at one of the last clouds keep the
// keys of their machines.
func allowed(ip netip.Addr, encrypted bool) error {
	switch {
	case ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return fmt.Errorf("%w: %s is no host's address in a network", errAddress, ip)
	case !encrypted && !ip.IsPrivate() && !ip.IsLoopback():
		return fmt.Errorf("%w: %s is public; without encryption only private and loopback addresses are: use https or wss", errAddress, ip)
	}
	return nil
}
