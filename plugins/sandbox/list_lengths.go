package sandbox

// lists reports whether the lists in a section are as long as they claim. The runtime
// allocates as many entries as a list claims: a module of 20 bytes can claim billions, and
// would end the whole program.
func (s section) lists() bool {
	c := &cursor{b: s.body}
	switch s.id {
	case typeSection:
		for range c.count() {
			c.bad = c.byte() != 0x60 || c.bad
			c.skip(int64(c.count()))
			c.skip(int64(c.count()))
		}
	case elementSection:
		for range c.count() {
			c.element()
		}
	case dataSection:
		for range c.count() {
			kind := c.number()
			c.bad = c.bad || kind > 2
			if kind == 2 {
				c.number()
			}
			if kind != 1 {
				c.constant()
			}
			c.bytes()
		}
	default:
		return true
	}
	return !c.bad && c.left() == 0
}

// element reads an element segment, of one of eight kinds.
func (c *cursor) element() {
	kind := c.number()
	c.bad = c.bad || kind > 7
	if kind&1 == 0 {
		if kind&2 != 0 {
			c.number()
		}
		c.constant()
	}
	if kind&3 != 0 {
		c.byte()
	}
	for range c.count() {
		if kind&4 != 0 {
			c.constant()
		} else {
			c.number()
		}
	}
}

// constant reads a constant expression.
func (c *cursor) constant() {
	for !c.bad {
		switch c.byte() {
		case 0x0B: // end
			return
		case 0x41: // i32.const
			c.leb(5)
		case 0x42: // i64.const
			c.leb(10)
		case 0x43: // f32.const
			c.skip(4)
		case 0x44: // f64.const
			c.skip(8)
		case 0x23, 0xD2: // global.get, ref.func
			c.number()
		case 0xD0: // ref.null
			t := c.byte()
			c.bad = c.bad || t != 0x70 && t != 0x6F
		case 0xFD: // v128.const
			c.bad = c.byte() != 0x0C || c.bad
			c.skip(16)
		default:
			c.bad = true
		}
	}
}
