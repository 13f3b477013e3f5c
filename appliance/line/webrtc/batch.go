package webrtc

import (
	"net"
	"net/netip"
	"time"

	"github.com/pion/transport/v5"
	"github.com/pion/transport/v5/stdnet"
	"golang.org/x/sys/unix"
)

// batchClock aligns the packets of all calls of a box to common ticks, so that one wake-up
// of the machine serves many of them. A packet that comes or goes alone costs ten times as
// much as one among others, mostly for the scheduler.
type batchClock struct{ epoch time.Time }

const (
	// tickInterval is the interval between ticks: by how much a packet may be sent early,
	// once a talkspurt, and how long a received packet may wait while many come.
	tickInterval = 10 * time.Millisecond
	// batchThreshold is the number of packets in countWindow from which they are batched:
	// those of five voices. The packets of a single call never wait.
	batchThreshold = 25
	countWindow    = 100 * time.Millisecond
	// socketBuffer is the receive buffer of the system, as far as it allows. Its default of
	// 200 KB holds what a hundred calls send in fifty ticks.
	socketBuffer = 1 << 20
)

func newBatchClock() batchClock { return batchClock{time.Now()} }

// before returns the latest tick at or before t.
func (b batchClock) before(t time.Time) time.Time { return t.Add(-(t.Sub(b.epoch) % tickInterval)) }

// next returns the first tick after t.
func (b batchClock) next(t time.Time) time.Time { return b.before(t).Add(tickInterval) }

// batchedSocket is a socket that returns packets at ticks while many come. One goroutine
// reads it.
type batchedSocket struct {
	transport.UDPConn
	socket    *net.UDPConn
	clock     batchClock
	hasPacket hasPacket
	since     time.Time // start of the count
	count     int
	batching  bool // the previous window had enough packets
}

// hasPacket reports whether a packet waits.
type hasPacket func() bool

func newBatchedSocket(of *net.UDPConn, b batchClock) *batchedSocket {
	_ = of.SetReadBuffer(socketBuffer)
	g := &batchedSocket{
		UDPConn:   of,
		socket:    of,
		clock:     b,
		hasPacket: func() bool { return true },
	}
	if raw, err := of.SyscallConn(); err == nil {
		g.hasPacket = func() (some bool) {
			err := raw.Control(func(fd uintptr) {
				n, err := unix.IoctlGetInt(int(fd), unix.SIOCINQ)
				some = n > 0 || err != nil
			})
			return some || err != nil
		}
	}
	return g
}

// ReadFromAddrPort implements ice.AddrPortReaderWriter. It waits for a packet.
func (g *batchedSocket) ReadFromAddrPort(b []byte) (int, netip.AddrPort, error) {
	if g.batching && !g.hasPacket() {
		time.Sleep(time.Until(g.clock.next(time.Now())))
	}
	n, from, err := g.socket.ReadFromUDPAddrPort(b)
	g.note(time.Now())
	return n, from, err
}

// note counts a packet.
func (g *batchedSocket) note(now time.Time) {
	if passed := now.Sub(g.since); passed >= countWindow {
		g.batching = g.count >= batchThreshold && passed < 2*countWindow
		g.since, g.count = now, 0
	}
	g.count++
}

// WriteToAddrPort implements ice.AddrPortReaderWriter.
func (g *batchedSocket) WriteToAddrPort(b []byte, to netip.AddrPort) (int, error) {
	return g.socket.WriteToUDPAddrPort(b, to)
}

// interfaces are the machine's network interfaces, with batched sockets.
type interfaces struct {
	*stdnet.Net
	beat batchClock
}

// ListenUDP implements transport.Net.
func (i interfaces) ListenUDP(network string, at *net.UDPAddr) (transport.UDPConn, error) {
	socket, err := net.ListenUDP(network, at)
	if err != nil {
		return nil, err
	}
	return newBatchedSocket(socket, i.beat), nil
}
