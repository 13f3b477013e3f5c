package ws

import (
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"parley/appliance/line"
)

const (
	// waitingBytes is how much of what the system has taken may wait to be put on
	// the wire (TCP_NOTSENT_LOWAT): a quarter of a second of speech. What waits
	// there can neither be taken back nor be seen to wait.
	waitingBytes = 32 << 10
	// minProgress is what the other end has to take to count as alive without a
	// pong. An end that only acknowledges pings, while its program hangs, takes a
	// few bytes a ping; one that takes speech, at a tenth of its speed, 128 KB
	// within Timing.Pong.
	minProgress = 4 << 10
)

// socket is the TCP connection under a line.
type socket struct{ raw syscall.RawConn }

// socketOf returns the one under conn; without one, as in tests, nothing is
// known of what is taken.
func socketOf(conn net.Conn) socket {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return socket{}
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return socket{}
	}
	return socket{raw}
}

// limitBuffer has the system take little more than it puts on the wire. It is a
// wish; without it the line works as well.
func (s socket) limitBuffer() {
	if s.raw != nil {
		_ = s.raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, waitingBytes)
		})
	}
}

// acknowledged is how many bytes the other end has acknowledged so far; 0 where that
// is not known.
func (s socket) acknowledged() (n uint64) {
	if s.raw == nil {
		return 0
	}
	_ = s.raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			n = info.Bytes_acked
		}
	})
	return n
}

// A deadline cuts off a line that takes nothing for Timing.Write while something
// waits to be written. One that takes a little meanwhile is slow, and not cut off.
type deadline struct {
	line *Line

	mu           sync.Mutex
	timer        *time.Timer
	acknowledged uint64
	stopped      bool
}

func (l *Line) deadline() *deadline {
	d := &deadline{line: l, acknowledged: l.socket.acknowledged()}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer = time.AfterFunc(l.timing.Write, d.look)
	return d
}

func (d *deadline) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.line.socket.acknowledged()
	switch {
	case d.stopped:
	case taken == d.acknowledged:
		d.line.lifecycle.Drop(line.ErrTooSlow)
	default:
		d.acknowledged = taken
		d.timer.Reset(d.line.timing.Write)
	}
}

func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.timer.Stop()
}
