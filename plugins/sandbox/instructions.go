package sandbox

// instruction reads one instruction of WebAssembly 2.0, and writes the checks that it
// needs. It refuses encodings that the runtime might read differently, such as an
// instruction in more bytes than necessary. See
// https://www.w3.org/TR/wasm-core-2/#instructions.
func (m *meter) instruction() {
	c, at := &m.in, m.in.at
	switch op := c.byte(); {
	case op >= 0x02 && op <= 0x04: // block, loop, if
		m.open(op == 0x03)
	case op == 0x0B: // end
		m.end()
	case op == 0x0C || op == 0x0D: // br, br_if
		m.branch(c.number())
		m.parts++
	case op == 0x0E: // br_table
		for range c.count() + 1 {
			m.branch(c.number())
		}
	case op == 0x10: // call
		f := c.number()
		m.heavy = true
		m.pass(m.arityOf(f).out)
		c.bad = c.bad || f >= m.functions
		switch {
		case c.bad:
		case f < m.imported && m.leaf[f]:
			m.addCharge(meterLeaf / meterBytes)
		case f < m.imported:
			m.writeStopCheck(at)
		default:
			m.addCharge(uint32(min(m.sizes[f-m.imported], meterLeaf)) / meterBytes)
		}
	case op == 0x11: // call_indirect
		m.pass(m.arityOfType(c.number()).out)
		m.table()
		if !c.bad {
			m.writeStopCheck(at)
		}
	case op == 0x1C: // select with a type
		c.bad = c.bad || c.byte() != 1 || !isType(c.byte())
	case op >= 0x20 && op <= 0x22: // local.get, local.set, local.tee
		c.number()
	case op == 0x23 || op == 0x24: // global.get, global.set
		c.bad = c.number() >= m.globals || c.bad
	case op == 0x25 || op == 0x26: // table.get, table.set
		m.table()
	case op >= 0x28 && op <= 0x3E: // loads and stores
		c.number()
		c.number()
	case op == 0x3F || op == 0x40: // memory.size, memory.grow
		c.bad = c.byte() != 0 || c.bad
	case op == 0x41: // i32.const
		c.leb(5)
	case op == 0x42: // i64.const
		c.leb(10)
	case op == 0x43: // f32.const
		c.skip(4)
	case op == 0x44: // f64.const
		c.skip(8)
	case op == 0xD0: // ref.null
		t := c.byte()
		c.bad = c.bad || t != 0x70 && t != 0x6F
	case op == 0xD2: // ref.func
		c.bad = c.number() >= m.functions || c.bad
	case op == 0xFC:
		m.bulk(at)
	case op == 0xFD:
		m.vector()
	case op <= 0x01, op == 0x05, op == 0x0F, op == 0x1A, op == 0x1B, op >= 0x45 && op <= 0xC4, op == 0xD1:
		// unreachable, nop, else, return, drop, select, arithmetic, ref.is_null
	default:
		c.bad = true
	}
}

// open reads the type of a block, and opens the block.
func (m *meter) open(loop bool) {
	c := &m.in
	first := c.at
	last := c.leb(5)
	var of arity
	switch kind := (&cursor{b: c.b[first:c.at]}).number(); {
	case last < 0x40: // index of a type
		of = m.arityOfType(kind)
	case last != 0x40: // type of its only result
		of.out = 1
	}
	m.pass(of.in + of.out)
	m.parts++
	// One byte is a value type or no type; longer encodings are indices and not negative.
	if last&0x40 != 0 && (c.at != first+1 || last != 0x40 && !isType(last)) {
		c.bad = true
	}
	if len(m.nested) >= maxNested {
		c.bad = true
	}
	if c.bad {
		return
	}
	if !loop {
		m.nested = append(m.nested, nest{label: of.out})
		return
	}
	m.heavy = true
	m.openMetered(c.at, of.in)
}

// table reads the index of a table.
func (m *meter) table() { m.in.bad = m.in.number() >= m.tables || m.in.bad }

// bulk reads what follows 0xFC.
func (m *meter) bulk(at int) {
	c := &m.in
	op := c.byte()
	switch {
	case op <= 7: // conversions that do not trap
		return
	case op == 10: // memory.copy
		to, from := c.number(), c.number() // memory indices; there is one memory
		c.bad = to != 0 || from != 0 || c.bad
		m.replaceBulk(at, m.copyFunction())
		return
	case op == 11: // memory.fill
		c.bad = c.number() != 0 || c.bad
		m.replaceBulk(at, m.fillFunction())
		return
	case op == 8: // memory.init
		c.number()
		c.number()
	case op == 9 || op == 13: // data.drop, elem.drop
		c.number()
	case op == 12: // table.init
		c.number()
		m.table()
	case op == 14: // table.copy
		m.table()
		m.table()
	case op >= 15 && op <= 17: // table.grow, table.size, table.fill
		m.table()
	default:
		c.bad = true
	}
	if op != 9 && op != 13 && op != 16 {
		m.heavy = true
		m.addCharge(meterBulk)
	}
}

// vector reads what follows 0xFD. For opcodes from 128 on the runtime reads the second
// byte, which is 1, as an instruction that does nothing.
func (m *meter) vector() {
	c := &m.in
	op := c.byte()
	switch {
	case op >= 0x80:
		c.bad = c.byte() != 1 || c.bad
	case op <= 11, op == 92, op == 93: // loads and stores
		c.number()
		c.number()
	case op == 12, op == 13: // v128.const, i8x16.shuffle
		c.skip(16)
	case op >= 21 && op <= 34: // extract or replace a lane
		c.byte()
	case op >= 84 && op <= 91: // load or store a lane
		c.number()
		c.number()
		c.byte()
	}
}

// isType reports whether b encodes a value type.
func isType(b byte) bool { return b >= 0x7B && b <= 0x7F || b == 0x70 || b == 0x6F }
