package sandbox

import "encoding/binary"

// What a module may do before it leaves to Go, in units of the meter: a unit is
// a round of a loop or a call, and one more for each 16 bytes of code in it. A
// tight loop leaves every 50 µs, which costs it a hundredth, and code of the
// dearest instructions, which miss all caches, every few ms. As long as it has not
// left, no other goroutine runs on its core, and the garbage collector waits for
// it, and all with it.
const (
	meterFull  = 1 << 15
	meterBytes = 16
	// checksPerTick is how many times it leaves until the box looks whether others want
	// the core, which takes five times as long. At most 63.
	checksPerTick = 8
	// meterPiece is how many bytes are filled or copied at once, which takes 50 µs
	// where they are touched for the first time; 2^meterMoved of them take a unit.
	meterPiece = 256 << 10
	meterMoved = 3
	// meterBulk is for other instructions that move as much as the module says.
	meterBulk = meterFull / 4
	// meterHost is for a call of the box, most of which take a microsecond at least.
	meterHost = 256
	// meterLeaf is up to how many bytes a function may have that neither loops nor
	// calls, to be reckoned to its caller.
	meterLeaf = 256
	// maxNested bounds how deep blocks are nested, and maxLocals how many locals a
	// arityOf has, as browsers do; maxAllLocals those of all functions together,
	// for the compiler makes a list of them before it knows whether they are used.
	maxNested    = 50_000
	maxLocals    = 50_000
	maxAllLocals = 4 << 20
)

// meter puts the checks into the bodies of functions that let a module be
// stopped: at the beginning of functions and loops it takes from a global, and
// calls a function of ours when there is nothing left.
type meter struct {
	left, stop, turn uint32 // indices of globals that are added
	checkFunction    uint32 // that of the function

	globals, functions, imported uint32 // how many the module has itself
	tables, locals               uint32
	sizes                        []int  // folders the bodies of its functions
	leaf                         []bool // folders the imported ones: it takes no longer than a leaf
	types                        []arity
	functionTypes                []uint32 // types of its functions, the imported ones first
	values, work                 uint64   // what compiling it costs
	around, deepest              uint64   // loops of the function, which counts as one
	loops, parts                 uint64   // all of its loops, and its pieces between branches

	out    []byte // the body that is written
	in     cursor
	copied int // up to where in was written to out
	nested []nest
	heavy  bool // the function loops, calls, or has instructions that take long
	moves  bool // one of them fills or copies memory
}

// nest is a block; of a loop it knows where its price is written, and where its
// body begins. inner are bytes in it that loops pay for themselves, and more is
// what it costs beyond its bytes.
type nest struct {
	price, begin, inner int
	more, label         uint32 // label is how many values a branch to it passes on
}

// body returns a function's body with checks. It is valid until the next call.
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
	own := uint32(0)
	for range m.in.count() {
		n := m.in.number()
		if own += min(n, maxLocals+1); own > maxLocals || !isType(m.in.byte()) {
			m.in.bad = true
			return
		}
	}
	if m.locals += own; m.locals > maxAllLocals {
		m.in.bad = true
	}
}

// copy writes what was read up to at.
func (m *meter) copy(at int) {
	m.out = append(m.out, m.in.b[m.copied:at]...)
	m.copied = at
}

// openMetered writes a check at begin and opens a block, at whose end its price will
// be known. label is how many values a branch to it passes on.
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

// acquire writes what takes a price from what is left, and calls a function of ours
// where that is nothing any more.
func (m *meter) writeCheck() {
	m.out = binary.AppendUvarint(append(m.out, 0x6B, 0x24), uint64(m.left)) // i32.sub, global.set
	m.out = binary.AppendUvarint(append(m.out, 0x23), uint64(m.left))
	m.out = append(m.out, 0x41, 0, 0x48, 0x04, 0x40, 0x10) // i32.const 0, i32.lt_s, if, call
	m.out = append(binary.AppendUvarint(m.out, uint64(m.checkFunction)), 0x0B)
}

// addCharge makes what is around dearer.
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

// writeStopCheck writes a check at at of whether the module is to stop: before calls of the
// host, each of which may take long.
func (m *meter) writeStopCheck(at int) {
	m.heavy = true
	m.addCharge(meterHost)
	m.copy(at)
	m.out = binary.AppendUvarint(append(m.out, 0x23), uint64(m.stop))
	m.out = append(m.out, 0x04, 0x40, 0x00, 0x0B) // if, unreachable, end
}

// end closes the innermost block. What of it has no price of its own is paid by
// what is around it.
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
