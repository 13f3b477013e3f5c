package sandbox

import (
	"encoding/binary"
	"slices"
)

// The indices of the functions that instrument adds after those of the module:
// checkFunction, which the checks call; tickFunction, which it calls every few times; and,
// if the module fills or copies memory, two functions that do so in pieces, since one
// instruction may touch all of it.
func (m *meter) tickFunction() uint32 { return m.checkFunction + 1 }
func (m *meter) fillFunction() uint32 { return m.checkFunction + 2 }
func (m *meter) copyFunction() uint32 { return m.checkFunction + 3 }

// added is an added function; kind is the index of its type, counted from the end of the
// module's types.
type added struct {
	kind uint32
	body []byte
}

func (m *meter) addedFunctions() []added {
	all := []added{{0, m.checkBody()}, {0, []byte{0, 0x0B}}} // the box listens to calls of the second
	if m.moves {
		all = append(all, added{1, m.fillBody()}, added{1, m.copyBody()})
	}
	return all
}

// replaceBulk replaces the instruction at at by a call of function f, which takes the same
// three operands. Out of bounds, f moves what it can before it traps, where the instruction
// would move nothing; nobody sees the memory of an instance that trapped.
func (m *meter) replaceBulk(at int, f uint32) {
	if m.in.bad {
		return
	}
	m.heavy, m.moves = true, true
	m.copy(at)
	m.copied = m.in.at
	m.out = binary.AppendUvarint(append(m.out, 0x10), uint64(f)) // call
}

// checkBody is the body of checkFunction. It refills the meter, returns to Go by growing a
// table by zero, calls tickFunction every few times, and traps if the module is to stop.
func (m *meter) checkBody() []byte {
	set := func(global uint32) []byte { return binary.AppendUvarint([]byte{0x24}, uint64(global)) }
	read := func(global uint32) []byte { return binary.AppendUvarint([]byte{0x23}, uint64(global)) }
	return join([]byte{0}, signed([]byte{0x41}, meterFull), set(m.left), // no locals; i32.const
		// ref.null func, i32.const 0, table.grow, drop
		[]byte{0xD0, 0x70, 0x41, 0, 0xFC, 0x0F}, binary.AppendUvarint(nil, uint64(m.tables)), []byte{0x1A},
		// i32.const 1, i32.sub, i32.eqz, if
		read(m.turn), []byte{0x41, 1, 0x6B}, set(m.turn), read(m.turn), []byte{0x45, 0x04, 0x40},
		// call, end
		[]byte{0x41, checksPerTick}, set(m.turn), binary.AppendUvarint([]byte{0x10}, uint64(m.tickFunction())),
		[]byte{0x0B},
		read(m.stop), []byte{0x04, 0x40, 0x00, 0x0B, 0x0B}) // if, unreachable, end, end
}

// The parameters of both functions: destination, source or value, and number of bytes.
const dst, src, size = 0, 1, 2

// fillBody is memory.fill in pieces.
func (m *meter) fillBody() []byte {
	fill := []byte{0xFC, 0x0B, 0}
	return join(m.bulkPrologue(), []byte{0x02, 0x40, 0x03, 0x40}, breakIfSmall(1), // block, loop
		get(dst), get(src), piece(), fill, m.call(), addPiece(dst), subtractPiece(),
		[]byte{0x0C, 0, 0x0B, 0x0B}, // br to the loop, end, end
		get(dst), get(src), get(size), fill, []byte{0x0B})
}

// copyBody is memory.copy in pieces: forwards if the destination is before the source, and
// otherwise backwards, so that nothing is overwritten before it was read.
func (m *meter) copyBody() []byte {
	move := []byte{0xFC, 0x0A, 0, 0}
	behind := func(local byte) []byte { return join(get(local), get(size), []byte{0x6A}) }
	// block, i32.le_u, if, loop
	return join(m.bulkPrologue(), []byte{0x02, 0x40}, get(dst), get(src), []byte{0x4D, 0x04, 0x40, 0x03, 0x40},
		breakIfSmall(2), get(dst), get(src), piece(), move, m.call(), addPiece(dst), addPiece(src), subtractPiece(),
		[]byte{0x0C, 0, 0x0B, 0x05, 0x03, 0x40}, // br to the loop, end, else, loop
		breakIfSmall(2), subtractPiece(), behind(dst), behind(src), piece(), move, m.call(),
		[]byte{0x0C, 0, 0x0B, 0x0B, 0x0B}, // br to the loop, end, end, end
		get(dst), get(src), get(size), move, []byte{0x0B})
}

// bulkPrologue begins both bodies: no locals, and the charge for the whole size.
func (m *meter) bulkPrologue() []byte {
	m.out = binary.AppendUvarint([]byte{0, 0x23}, uint64(m.left)) // global.get
	m.out = append(m.out, 0x20, size, 0x41, meterMoved, 0x76)     // local.get, i32.const, i32.shr_u
	m.writeCheck()
	return m.out
}

// breakIfSmall leaves the block of that depth if no more than one piece is left.
func breakIfSmall(depth byte) []byte {
	return join(get(size), piece(), []byte{0x4D, 0x0D, depth})
} // i32.le_u, br_if

func (m *meter) call() []byte { return binary.AppendUvarint([]byte{0x10}, uint64(m.checkFunction)) }
func get(local byte) []byte   { return []byte{0x20, local} }
func piece() []byte           { return signed([]byte{0x41}, meterPiece) }
func addPiece(local byte) []byte {
	return join(get(local), piece(), []byte{0x6A, 0x21, local})
}
func subtractPiece() []byte {
	return join(get(size), piece(), []byte{0x6B, 0x21, size})
}

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }
