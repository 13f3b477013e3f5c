package sandbox

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// memory is an instance's linear memory: address space of the size that it may
// have, of which the kernel gives pages as they are touched. So a fresh instance
// costs what it uses, growing copies nothing, and what it had goes back to the
// system at once, without the garbage collector.
type memory struct {
	reserved []byte
	limit    int64
	used     *atomic.Int64 // bytes of the instance, all together
	size     int64
	released bool
	refused  bool // addCharge was asked for than there may be
}

func (m *memory) Reallocate(size uint64) []byte {
	if m.released || size > uint64(len(m.reserved)) {
		m.refused = true
		return nil
	}
	if more := int64(size) - m.size; m.used.Add(more) > m.limit {
		m.used.Add(-more)
		m.refused = true
		return nil
	}
	m.size = int64(size)
	return m.reserved[:size]
}

// Free is called by the runtime at a moment of its choosing; release gives the
// pages back when surely nothing runs in them any more.
func (m *memory) Free() {}

func (m *memory) release() {
	if m.released {
		return
	}
	m.released = true
	if m.reserved != nil {
		_ = unix.Munmap(m.reserved)
	}
	m.reserved = nil
}

// reserve takes address space for an instance that may have limit bytes.
func reserve(limit int64, used *atomic.Int64) (*memory, error) {
	whole, err := unix.Mmap(-1, 0, int(limit), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	return &memory{reserved: whole, limit: limit, used: used}, nil
}
