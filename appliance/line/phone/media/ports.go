package media

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
)

// Ports is a range of UDP ports. A call takes an even one for RTP and the next one for RTCP
// (RFC 3550, section 11).
type Ports struct{ From, To uint16 }

// sockets are the two open sockets of a call.
type sockets struct {
	rtp, rtcp *net.UDPConn
	port      uint16 // of rtp
}

// socketBuffer is the receive buffer of a call: five seconds of G.711 in packets of 10 ms,
// for as long as the session blocks.
const socketBuffer = 256 << 10

// open binds a free pair of ports. It begins at a random one, so that late packets of a call
// that has ended do not reach the next one. The system decides who gets a port.
func (p Ports) open(at netip.Addr) (*sockets, error) {
	first := int(p.From) + int(p.From)%2
	pairs := (int(p.To) - first + 1) / 2
	if pairs <= 0 {
		return nil, fmt.Errorf("%w: %d-%d has no even port with the next one", ErrNoPorts, p.From, p.To)
	}
	begin := rand.IntN(pairs)
	for n := range pairs {
		port := uint16(first + (begin+n)%pairs*2)
		a, err := listen(at, port)
		if err != nil {
			continue
		}
		b, err := listen(at, port+1)
		if err != nil {
			_ = a.Close()
			continue
		}
		return &sockets{a, b, port}, nil
	}
	return nil, fmt.Errorf("%w: %d-%d", ErrNoPorts, p.From, p.To)
}

// listen opens a socket at an address, or at all addresses if it is unspecified.
func listen(at netip.Addr, port uint16) (*net.UDPConn, error) {
	address := &net.UDPAddr{Port: int(port)}
	if at.IsValid() && !at.IsUnspecified() {
		address.IP = at.AsSlice()
	}
	s, err := net.ListenUDP("udp", address)
	if err == nil {
		_ = s.SetReadBuffer(socketBuffer)
	}
	return s, err
}

func (s *sockets) close() {
	_ = s.rtp.Close()
	_ = s.rtcp.Close()
}

// LocalAddress returns the address of the box that a peer can reach: external, if it is valid
// and the peer is outside: in no network of one of the box's interfaces, and, as long as
// external is public, in no private network; else listen, unless it is unspecified; else the
// address from which the box sends to the peer.
func LocalAddress(peer, listen, external netip.Addr) (netip.Addr, error) {
	peer = peer.Unmap()
	if external.IsValid() && external.Is4() == peer.Is4() && !isNeighbour(peer) &&
		(external.IsPrivate() || !peer.IsPrivate()) {
		return external, nil
	}
	if listen.IsValid() && !listen.IsUnspecified() {
		return listen, nil
	}
	// Connecting a UDP socket sends nothing. Port 9 is that of discarding (RFC 863).
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(peer, 9)))
	if err != nil {
		return netip.Addr{}, fmt.Errorf("there is no way to %s: %w", peer, err)
	}
	defer func() { _ = c.Close() }()
	from, err := netip.ParseAddrPort(c.LocalAddr().String())
	return from.Addr().Unmap().WithZone(""), err
}

// isNeighbour reports whether an address is in a network of one of the box's interfaces.
func isNeighbour(a netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, i := range all {
		if p, err := netip.ParsePrefix(i.String()); err == nil && p.Masked().Contains(a.WithZone("")) {
			return true
		}
	}
	return false
}
