// Package machine reports the addresses and the memory of this machine.
package machine

import (
	"net"
	"net/netip"
)

// Addresses returns the current addresses of this machine: cables and VPNs come and go.
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
