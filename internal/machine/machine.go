// Package machine knows the machine that the box runs on: its addresses, its memory.
package machine

import (
	"net"
	"net/netip"
)

// Addresses are those of this machine as it is now: cables and VPNs come and go.
func Addresses() []netip.Addr {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var all []netip.Addr
	for _, a := range found {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok {
				all = append(all, ip.Unmap())
			}
		}
	}
	return all
}
