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
	// waitingBytes bounds the bytes that the system buffers before it sends them
	// (TCP_NOTSENT_LOWAT): a quarter of a second of speech. These bytes can neither be
	// taken back nor counted as unsent.
	waitingBytes = 32 << 10
	// minProgress is how much a client has to receive to count as alive without a pong. A
	// system that only acknowledges pings while its program hangs receives a few bytes a
	// ping; one that receives speech, at a tenth of its speed, 128 KB within Timing.Pong.
	minProgress = 4 << 10
)

// socket is the TCP connection of a line.
type socket struct{ raw syscall.RawConn }

// socketOf returns the socket of conn. For other connections, as in tests, its methods do
// nothing.
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

// limitBuffer limits the unsent bytes in the system. An error is ignored; the line works
// without the limit.
func (s socket) limitBuffer() {
	if s.raw != nil {
		_ = s.raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, waitingBytes)
		})
	}
}

// acknowledged returns how many bytes the client has acknowledged so far; 0 if that is
// unknown.
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

// A deadline drops a line whose client receives nothing for Timing.Write while a message is
// being written. A slow client is not dropped.
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
