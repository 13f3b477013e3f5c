package sandbox

import "encoding/binary"

// mostGrown bounds how much larger checks make a module: ordinary ones grow by a
// tenth, and one of nothing but empty loops eightfold.
const mostGrown = 3

// code writes the code section anew, up to the function that is added at its
// end. whole is the size of the module.
func (m *meter) code(b []byte, whole int) ([]byte, error) {
	c := cursor{b: b}
	n := uint32(0)
	if len(b) > 0 {
		n = c.count()
	}
	if c.bad || n != m.functions-m.imported {
		return nil, unfit("not a valid module: it has %d functions, and code for %d", m.functions-m.imported, n)
	}
	most := mostGrown*whole + 64<<10
	out := binary.AppendUvarint(make([]byte, 0, len(b)+len(b)/4), uint64(n+1))
	for f := range n {
		body, ok := m.body(c.bytes())
		if !ok || c.bad {
			return nil, unfit("not a valid module: the code of its function %d cannot be read, is nested deeper than %d blocks, or has more than %d locals; only WebAssembly 2.0 is run", m.imported+f, maxNested, maxLocals)
		}
		out = append(binary.AppendUvarint(out, uint64(len(body))), body...)
		if len(out) > most {
			return nil, unfit("the module has more loops in its code than can be watched over")
		}
	}
	if c.left() > 0 {
		return nil, unfit("not a valid module: its code section is longer than its code")
	}
	return out, nil
}

// function is what the checks call, the last of the code section: it fills the
// meter, leaves to Go by growing a table by nothing, and ends the call where the
// module is to stop.
func (m *meter) function() []byte {
	body := signed([]byte{0, 0x41}, meterFull)                            // no locals; i32.const
	body = binary.AppendUvarint(append(body, 0x24), uint64(m.left))       // global.set
	body = append(body, 0xD0, 0x70, 0x41, 0, 0xFC, 0x0F)                  // ref.null func, i32.const 0, table.grow
	body = binary.AppendUvarint(body, uint64(m.tables))                   // the table that is added
	body = binary.AppendUvarint(append(body, 0x1A, 0x23), uint64(m.stop)) // drop, global.get
	body = append(body, 0x04, 0x40, 0x00, 0x0B, 0x0B)                     // if, unreachable, end, end
	return append(binary.AppendUvarint(nil, uint64(len(body))), body...)
}
