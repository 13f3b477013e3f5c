package sandbox

import (
	"encoding/binary"
	"math/bits"
)

// kernel is the memory through which host and plugin exchange bytes in the
// Extism ABI: blocks with a length, named by where they begin. Nothing in it
// outlives a call.
type kernel struct {
	arena  []byte
	blocks map[uint64]uint64   // where a block begins, and its length
	free   [maxClass][]uint64  // blocks given back, by the class of their size
	room   func(more int) bool // asks for more bytes of the instance's memory

	input, inputLength   uint64
	output, outputLength uint64
	failure              uint64 // the block with the plugin's error; 0 is none
}

const (
	// firstBlock is where blocks begin: 0 means none.
	firstBlock = 16
	maxClass   = 32 // blocks of up to 2^31 bytes
)

// reset forgets everything. A large arena is given back, so that one large
// answer does not stay in a kept instance.
func (k *kernel) reset() {
	if cap(k.arena) > 1<<20 {
		k.room(-cap(k.arena))
		k.arena = nil
	} else {
		clear(k.arena)
		k.arena = k.arena[:0]
	}
	clear(k.blocks)
	for i := range k.free {
		k.free[i] = k.free[i][:0]
	}
	k.input, k.inputLength, k.output, k.outputLength, k.failure = 0, 0, 0, 0, 0
}

// class is that of blocks of n bytes: they have room for 2^class.
func class(n uint64) int { return max(bits.Len64(n-1), 4) }

// alloc makes a block of n bytes, zeroed; 0 where there is no room.
func (k *kernel) alloc(n uint64) uint64 {
	if n == 0 || n > 1<<(maxClass-1) {
		return 0
	}
	c := class(n)
	if given := k.free[min(c, maxClass-1)]; len(given) > 0 {
		at := given[len(given)-1]
		k.free[c] = given[:len(given)-1]
		clear(k.arena[at : at+n])
		k.blocks[at] = n
		return at
	}
	at := max(len(k.arena), firstBlock)
	size := at + 1<<c
	if size > cap(k.arena) {
		grown := max(size, 2*cap(k.arena), 4<<10)
		if !k.room(grown - cap(k.arena)) {
			if grown = size; !k.room(grown - cap(k.arena)) {
				return 0
			}
		}
		k.arena = append(make([]byte, 0, grown), k.arena...)
	}
	k.arena = k.arena[:size]
	if k.blocks == nil {
		k.blocks = map[uint64]uint64{}
	}
	k.blocks[uint64(at)] = n
	return uint64(at)
}

// release gives a block back. One that there is not is nobody's.
func (k *kernel) release(at uint64) {
	n, ok := k.blocks[at]
	if !ok {
		return
	}
	delete(k.blocks, at)
	c := class(n)
	k.free[c] = append(k.free[c], at)
}

// block is the bytes of the block at; nil where there is none.
func (k *kernel) block(at uint64) []byte {
	n, ok := k.blocks[at]
	if !ok {
		return nil
	}
	return k.arena[at : at+n]
}

// put makes a block with what is in b; 0 where b is empty or there is no room.
func (k *kernel) put(b []byte) (at uint64, ok bool) {
	if len(b) == 0 {
		return 0, true
	}
	at = k.alloc(uint64(len(b)))
	if at == 0 {
		return 0, false
	}
	copy(k.arena[at:], b)
	return at, true
}

// span is the n bytes at; ok is false where they are not all there.
func (k *kernel) span(at, n uint64) (b []byte, ok bool) {
	if at > uint64(len(k.arena)) || n > uint64(len(k.arena))-at {
		return nil, false
	}
	return k.arena[at : at+n], true
}

func (k *kernel) load64(at uint64) (uint64, bool) {
	b, ok := k.span(at, 8)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

func (k *kernel) store64(at, value uint64) bool {
	b, ok := k.span(at, 8)
	if ok {
		binary.LittleEndian.PutUint64(b, value)
	}
	return ok
}
