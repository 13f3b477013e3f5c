package sandbox

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// memory is the linear memory of an instance: address space of its maximum size, which the
// kernel backs with pages as they are touched. So a new instance costs what it uses,
// growing copies nothing, and the memory returns to the system at once, without the garbage
// collector.
type memory struct {
	reserved []byte
	limit    int64
	used     *atomic.Int64 // bytes of the whole instance
	size     int64
	released bool
	refused  bool // more was requested than allowed
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

// Free does nothing: the runtime calls it at a moment of its choosing. release unmaps the
// pages when nothing can run in them any more.
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

// reserve maps address space for an instance with a memory limit.
func reserve(limit int64, used *atomic.Int64) (*memory, error) {
	whole, err := unix.Mmap(-1, 0, int(limit), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	return &memory{reserved: whole, limit: limit, used: used}, nil
}
