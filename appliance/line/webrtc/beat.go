package webrtc

import (
	"net"
	"net/netip"
	"time"

	"github.com/pion/transport/v5"
	"github.com/pion/transport/v5/stdnet"
	"golang.org/x/sys/unix"
)

// beat is the rhythm that all calls of a box keep, so that one waking of the
// machine serves many of them: a packet that comes or goes alone costs ten times
// of what it costs among others, most of it the scheduler's.
type beat struct{ epoch time.Time }

const (
	// beatLong is by how much a packet may be sent early for it, once in a talkspurt,
	// and how long one that came may wait where many come.
	beatLong = 10 * time.Millisecond
	// manyPackets is how many packets in countLong are many: those of five voices.
	// A call that is alone on the box is never kept waiting.
	manyPackets = 25
	countLong   = 100 * time.Millisecond
	// socketRoom is how many bytes may wait in the kernel, as far as it allows: its
	// own 200 KB hold what a hundred calls send in fifty beats.
	socketRoom = 1 << 20
)

func newBeat() beat { return beat{time.Now()} }

// before is the newest beat of a moment.
func (b beat) before(t time.Time) time.Time { return t.Add(-(t.Sub(b.epoch) % beatLong)) }

// next is the first beat behind a moment.
func (b beat) next(t time.Time) time.Time { return b.before(t).Add(beatLong) }

// gathering is a socket that hands packets over in beats while many come. One
// goroutine reads it.
type gathering struct {
	transport.UDPConn
	of    *net.UDPConn
	beat  beat
	raw   waits
	since time.Time // the packets are counted
	count int
	many  bool // there were, in the time before
}

// waits tells whether a packet does; of an empty one it does not know.
type waits func() bool

func newGathering(of *net.UDPConn, b beat) *gathering {
	_ = of.SetReadBuffer(socketRoom)
	g := &gathering{
		UDPConn: of,
		of:      of,
		beat:    b,
		raw:     func() bool { return true },
	}
	if raw, err := of.SyscallConn(); err == nil {
		g.raw = func() (some bool) {
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
func (g *gathering) ReadFromAddrPort(b []byte) (int, netip.AddrPort, error) {
	if g.many && !g.raw() {
		time.Sleep(time.Until(g.beat.next(time.Now())))
	}
	n, from, err := g.of.ReadFromUDPAddrPort(b)
	g.note(time.Now())
	return n, from, err
}

// note counts a packet.
func (g *gathering) note(now time.Time) {
	if passed := now.Sub(g.since); passed >= countLong {
		g.many = g.count >= manyPackets && passed < 2*countLong
		g.since, g.count = now, 0
	}
	g.count++
}

// WriteToAddrPort is ice.AddrPortReaderWriter.
func (g *gathering) WriteToAddrPort(b []byte, to netip.AddrPort) (int, error) {
	return g.of.WriteToUDPAddrPort(b, to)
}

// interfaces are the machine's, whose sockets gather.
type interfaces struct {
	*stdnet.Net
	beat beat
}

// ListenUDP is transport.Net.
func (i interfaces) ListenUDP(network string, at *net.UDPAddr) (transport.UDPConn, error) {
	socket, err := net.ListenUDP(network, at)
	if err != nil {
		return nil, err
	}
	return newGathering(socket, i.beat), nil
}
