package sandbox

import "encoding/binary"

// How much a module may execute before it returns to Go, in units of the meter. A loop
// iteration or a call is one unit, and each 16 bytes of its code another one. A tight loop
// returns every 50 µs, at a cost of one percent; code of the slowest instructions, which
// miss all caches, every few ms. Until it returns, no other goroutine runs on its core, and
// the garbage collector, and with it everything, waits.
const (
	meterFull  = 1 << 15
	meterBytes = 16
	// checksPerTick is how many returns there are for each time the box checks whether
	// others want the core, which takes five times as long as a return. At most 63.
	checksPerTick = 8
	// meterPiece is how many bytes are filled or copied at once, which takes 50 µs if they
	// are touched for the first time. 2^meterMoved bytes cost one unit.
	meterPiece = 256 << 10
	meterMoved = 3
	// meterBulk is the price of other instructions that move an arbitrary amount.
	meterBulk = meterFull / 4
	// meterHost is the price of a host call; most take at least a microsecond.
	meterHost = 256
	// meterLeaf is the largest body, in bytes, of a function without loops and calls that
	// is charged to its caller.
	meterLeaf = 256
	// maxNested bounds the depth of nested blocks and maxLocals the locals of a function,
	// as browsers do. maxAllLocals bounds the locals of all functions together, because the
	// compiler lists them before it knows whether they are used.
	maxNested    = 50_000
	maxLocals    = 50_000
	maxAllLocals = 4 << 20
)

// meter instruments function bodies so that a module can be stopped: at the beginning of
// functions and loops the code subtracts from a global, and calls an added function when
// nothing is left.
type meter struct {
	left, stop, turn uint32 // indices of the added globals: units left, stop flag, checks until the next tick
	checkFunction    uint32 // index of the added function

	globals, functions, imported uint32 // counts of what the module defines or imports
	tables, locals               uint32
	sizes                        []int  // of the function bodies
	leaf                         []bool // imported functions that are as cheap as a leaf
	types                        []arity
	functionTypes                []uint32 // types of the functions, imported ones first
	values, work                 uint64   // cost of compiling
	around, deepest              uint64   // depth of nested loops now, and at most
	loops, parts                 uint64   // numbers of loops, and of pieces between branches

	out    []byte // the instrumented body
	in     cursor
	copied int // position in in up to which it was copied to out
	nested []nest
	heavy  bool // the function loops, calls, or has slow instructions
	moves  bool // a function fills or copies memory
}

// nest is an open block. For a loop or a function it has the position of its price in out
// and of its body in in. inner is the number of bytes that inner loops pay for, and more
// the charge beyond the bytes.
type nest struct {
	price, begin, inner int
	more, label         uint32 // label is the number of values that a branch to it passes
}

// body returns the instrumented body of a function. It is valid until the next call.
func (m *meter) body(f uint32, b []byte) ([]byte, bool) {
	m.in, m.out, m.copied, m.nested, m.heavy = cursor{b: b}, m.out[:0], 0, m.nested[:0], false
	m.around, m.deepest, m.loops, m.parts = 0, 0, 0, 0
	of, before := m.arityOf(f), m.locals
	m.skipLocals()
	m.pass(of.in + of.out)
	m.openMetered(m.in.at, of.out)
	for len(m.nested) > 0 && !m.in.bad {
		m.instruction()
	}
	if m.in.bad || m.in.left() > 0 {
		return nil, false
	}
	m.addCost(uint64(of.in + m.locals - before))
	if !m.heavy && len(b) <= meterLeaf {
		return b, true
	}
	m.copy(len(b))
	return m.out, true
}

func (m *meter) skipLocals() {
	sum := uint32(0)
	for range m.in.count() {
		n := m.in.number()
		if sum += min(n, maxLocals+1); sum > maxLocals || !isType(m.in.byte()) {
			m.in.bad = true
			return
		}
	}
	if m.locals += sum; m.locals > maxAllLocals {
		m.in.bad = true
	}
}

// copy copies what was read up to at.
func (m *meter) copy(at int) {
	m.out = append(m.out, m.in.b[m.copied:at]...)
	m.copied = at
}

// openMetered writes a check at begin and opens a block, whose price is known at its end.
// label is the number of values that a branch to it passes.
func (m *meter) openMetered(begin int, label uint32) {
	if m.in.bad {
		return
	}
	m.copy(begin)
	m.out = binary.AppendUvarint(append(m.out, 0x23), uint64(m.left)) // global.get
	n := nest{price: len(m.out) + 1, begin: begin, label: label}
	m.out = append(m.out, 0x41, 0, 0, 0) // i32.const
	m.writeCheck()
	m.nested = append(m.nested, n)
	m.around++
	m.loops++
	m.deepest = max(m.deepest, m.around)
}

// writeCheck writes code that subtracts a price from what is left, and calls the added
// function if nothing is left.
func (m *meter) writeCheck() {
	m.out = binary.AppendUvarint(append(m.out, 0x6B, 0x24), uint64(m.left)) // i32.sub, global.set
	m.out = binary.AppendUvarint(append(m.out, 0x23), uint64(m.left))
	m.out = append(m.out, 0x41, 0, 0x48, 0x04, 0x40, 0x10) // i32.const 0, i32.lt_s, if, call
	m.out = append(binary.AppendUvarint(m.out, uint64(m.checkFunction)), 0x0B)
}

// addCharge makes the innermost block more expensive.
func (m *meter) addCharge(units uint32) {
	if len(m.nested) > 0 {
		n := &m.nested[len(m.nested)-1]
		n.more = min(n.more+units, meterFull)
	}
}

// writePrice writes a price, always in three bytes.
func (m *meter) writePrice(at int, price uint32) {
	signed(m.out[at:at], min(price, meterFull))
}

// writeStopCheck writes code at at that stops the module if it is to stop. It stands before
// host calls, each of which may take long.
func (m *meter) writeStopCheck(at int) {
	m.heavy = true
	m.addCharge(meterHost)
	m.copy(at)
	m.out = binary.AppendUvarint(append(m.out, 0x23), uint64(m.stop))
	m.out = append(m.out, 0x04, 0x40, 0x00, 0x0B) // if, unreachable, end
}

// end closes the innermost block. The enclosing block pays for what has no price of its
// own.
func (m *meter) end() {
	n := m.nested[len(m.nested)-1]
	m.nested = m.nested[:len(m.nested)-1]
	whole := m.in.at - n.begin
	if n.price > 0 {
		m.around--
		m.writePrice(n.price, 1+uint32(whole-n.inner)/meterBytes+n.more)
		n.inner, n.more = whole, 0
	}
	m.addCharge(n.more)
	if len(m.nested) > 0 {
		m.nested[len(m.nested)-1].inner += n.inner
	}
}
