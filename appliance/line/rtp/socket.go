package rtp

import (
	"net"
	"net/netip"
	"time"

	"github.com/pion/transport/v5"
	"golang.org/x/sys/unix"
)

const (
	// batchThreshold is the number of packets in countWindow from which they are batched:
	// those of five voices. The packets of a single call never wait.
	batchThreshold = 25
	countWindow    = 100 * time.Millisecond
	// socketBuffer is the receive buffer of the system, as far as it allows. Its default of
	// 200 KB holds what a hundred calls send in fifty ticks.
	socketBuffer = 1 << 20
)

// Socket is a socket for many calls. While many packets come, it returns them at ticks. One
// goroutine reads it.
type Socket struct {
	transport.UDPConn
	socket    *net.UDPConn
	clock     Clock
	hasPacket func() bool // reports whether a packet waits
	since     time.Time   // start of the count
	count     int
	batching  bool // the previous window had enough packets
}

// NewSocket returns a Socket for an open socket.
func NewSocket(of *net.UDPConn, c Clock) *Socket {
	_ = of.SetReadBuffer(socketBuffer)
	s := &Socket{
		UDPConn:   of,
		socket:    of,
		clock:     c,
		hasPacket: func() bool { return true },
	}
	if raw, err := of.SyscallConn(); err == nil {
		s.hasPacket = func() (some bool) {
			err := raw.Control(func(fd uintptr) {
				n, err := unix.IoctlGetInt(int(fd), unix.SIOCINQ)
				some = n > 0 || err != nil
			})
			return some || err != nil
		}
	}
	return s
}

// ReadFromAddrPort implements ice.AddrPortReaderWriter. It waits for a packet.
func (s *Socket) ReadFromAddrPort(b []byte) (int, netip.AddrPort, error) {
	if s.batching && !s.hasPacket() {
		time.Sleep(time.Until(s.clock.next(time.Now())))
	}
	n, from, err := s.socket.ReadFromUDPAddrPort(b)
	s.note(time.Now())
	return n, from, err
}

// note counts a packet.
func (s *Socket) note(now time.Time) {
	if passed := now.Sub(s.since); passed >= countWindow {
		s.batching = s.count >= batchThreshold && passed < 2*countWindow
		s.since, s.count = now, 0
	}
	s.count++
}

// WriteToAddrPort implements ice.AddrPortReaderWriter.
func (s *Socket) WriteToAddrPort(b []byte, to netip.AddrPort) (int, error) {
	return s.socket.WriteToUDPAddrPort(b, to)
}
