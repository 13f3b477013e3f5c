package webrtc

import (
	"net"
	"net/netip"
	"time"

	"github.com/pion/transport/v5"
	"github.com/pion/transport/v5/stdnet"
	"golang.org/x/sys/unix"
)

// batchClock is the rhythm that all calls of a box keep, so that one waking of the
// machine serves many of them: a packet that comes or goes alone costs ten times
// socket what it costs among others, most of it the scheduler's.
type batchClock struct{ epoch time.Time }

const (
	// beatLength is by how much a packet may be sent early for it, once in a talkspurt,
	// and how long one that came may wait where many come.
	beatLength = 10 * time.Millisecond
	// batchThreshold is how many packets in countWindow are many: those of five voices.
	// A call that is alone on the box is never kept waiting.
	batchThreshold = 25
	countWindow    = 100 * time.Millisecond
	// socketBuffer is how many bytes may wait in the kernel, as far as it allows: its
	// own 200 KB hold what a hundred calls send in fifty beats.
	socketBuffer = 1 << 20
)

func newBatchClock() batchClock { return batchClock{time.Now()} }

// before is the newest beat of a moment.
func (b batchClock) before(t time.Time) time.Time { return t.Add(-(t.Sub(b.epoch) % beatLength)) }

// next is the first beat behind a moment.
func (b batchClock) next(t time.Time) time.Time { return b.before(t).Add(beatLength) }

// batchedSocket is a socket that hands packets over in beats while many come. One
// goroutine reads it.
type batchedSocket struct {
	transport.UDPConn
	socket    *net.UDPConn
	beat      batchClock
	hasPacket hasPacket
	since     time.Time // the packets are counted
	count     int
	batching  bool // there were, in the time before
}

// hasPacket tells whether a packet does; of an empty one it does not know.
type hasPacket func() bool

func newBatchedSocket(of *net.UDPConn, b batchClock) *batchedSocket {
	_ = of.SetReadBuffer(socketBuffer)
	g := &batchedSocket{
		UDPConn:   of,
		socket:    of,
		beat:      b,
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

// ReadFromAddrPort is ice.AddrPortReaderWriter: it waits for a packet.
func (g *batchedSocket) ReadFromAddrPort(b []byte) (int, netip.AddrPort, error) {
	if g.batching && !g.hasPacket() {
		time.Sleep(time.Until(g.beat.next(time.Now())))
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

// WriteToAddrPort is ice.AddrPortReaderWriter.
func (g *batchedSocket) WriteToAddrPort(b []byte, to netip.AddrPort) (int, error) {
	return g.socket.WriteToUDPAddrPort(b, to)
}

// interfaces are the machine's, whose sockets gather.
type interfaces struct {
	*stdnet.Net
	beat batchClock
}

// ListenUDP is transport.Net.
func (i interfaces) ListenUDP(network string, at *net.UDPAddr) (transport.UDPConn, error) {
	socket, err := net.ListenUDP(network, at)
	if err != nil {
		return nil, err
	}
	return newBatchedSocket(socket, i.beat), nil
}
