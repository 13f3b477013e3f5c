package sip

import (
	"net"
	"net/netip"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// A datagramSocket is the socket of a UDP listener. On a machine with several addresses it
// answers from the one at which a message came (RFC 3581, section 4): the peer, and
// translators of addresses, expect the answer from there.
type datagramSocket struct {
	*net.UDPConn
	local netip.AddrPort
	// notes has room for what the system says about a message; nil if the socket is bound to
	// one address anyway.
	notes []byte
}

// notesSize is enough for one address of IPv6 with its header.
const notesSize = 128

func openDatagrams(network, at string) (*datagramSocket, error) {
	address, err := net.ResolveUDPAddr(network, at)
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP(network, address)
	if err != nil {
		return nil, err
	}
	s := &datagramSocket{UDPConn: conn, local: addrPort(conn.LocalAddr())}
	// A burst of requests must not push out those of live calls: 1 MiB holds about a
	// thousand. The system may allow less.
	_ = conn.SetReadBuffer(1 << 20)
	if !s.local.Addr().IsUnspecified() {
		return s, nil
	}
	if s.local.Addr().Is4() {
		err = ipv4.NewPacketConn(conn).SetControlMessage(ipv4.FlagDst, true)
	} else {
		err = ipv6.NewPacketConn(conn).SetControlMessage(ipv6.FlagDst, true)
	}
	if err == nil { // otherwise the system chooses the address
		s.notes = make([]byte, notesSize)
	}
	return s, nil
}

// read reads a message. local is the address at which it came, unspecified where the system
// does not say. One goroutine reads.
func (s *datagramSocket) read(buffer []byte) (n int, local, from netip.AddrPort, err error) {
	n, noted, _, from, err := s.ReadMsgUDPAddrPort(buffer, s.notes)
	if err != nil {
		return 0, local, from, err
	}
	from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	to := s.local.Addr()
	if at, ok := destination(s.local.Addr(), s.notes[:noted]); ok {
		to = at
	}
	return n, netip.AddrPortFrom(to, s.local.Port()), from, nil
}

// destination returns the address of the box in what the system says about a message.
func destination(bound netip.Addr, notes []byte) (netip.Addr, bool) {
	var ip net.IP
	if bound.Is4() {
		var c ipv4.ControlMessage
		if c.Parse(notes) == nil {
			ip = c.Dst
		}
	} else {
		var c ipv6.ControlMessage
		if c.Parse(notes) == nil {
			ip = c.Dst
		}
	}
	at, ok := netip.AddrFromSlice(ip)
	at = at.Unmap()
	return at, ok && !at.IsMulticast() && !at.IsUnspecified() && at != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

// write sends a message from an address of the box; from an unspecified one, the system
// chooses.
func (s *datagramSocket) write(text []byte, local, to netip.AddrPort) error {
	var notes []byte
	from := local.Addr()
	switch {
	case s.notes == nil || from.IsUnspecified():
	case from.Is4(): // also on a socket of IPv6
		notes = (&ipv4.ControlMessage{Src: from.AsSlice()}).Marshal()
	default:
		notes = (&ipv6.ControlMessage{Src: from.AsSlice()}).Marshal()
	}
	_, _, err := s.WriteMsgUDPAddrPort(text, notes, to)
	if err != nil && notes != nil { // the address may have left the box
		_, err = s.WriteToUDPAddrPort(text, to)
	}
	return err
}
