package sandbox

import "encoding/binary"

// maxGrowth bounds the growth of a module by its checks. Ordinary modules grow by a tenth,
// one of empty loops eightfold.
const maxGrowth = 3

// code instruments all function bodies. whole is the size of the module.
func (m *meter) code(b []byte, whole int) ([]byte, error) {
	c := cursor{b: b}
	n := uint32(0)
	if len(b) > 0 {
		n = c.count()
	}
	if c.bad || n != m.functions-m.imported {
		return nil, unfit("not a valid module: it has %d functions, and code for %d", m.functions-m.imported, n)
	}
	m.sizes = make([]int, n)
	for at, f := c, uint32(0); f < n; f++ {
		m.sizes[f] = len(at.bytes())
	}
	most := maxGrowth*whole + 64<<10
	out := make([]byte, 0, len(b)+len(b)/4)
	for f := range n {
		if m.sizes[f] > maxBody {
			return nil, unfit("the function %d of the module has %d bytes of code; at most %d are allowed",
				m.imported+f, m.sizes[f], maxBody)
		}
		body, ok := m.body(m.imported+f, c.bytes())
		if !ok || c.bad {
			return nil, unfit("not a valid module: the code of its function %d cannot be read, is nested deeper than "+
				"%d blocks, or has more than %d locals; only WebAssembly 2.0 is supported", m.imported+f, maxNested,
				maxLocals)
		}
		if err := m.checkCost(); err != nil {
			return nil, err
		}
		out = append(binary.AppendUvarint(out, uint64(len(body))), body...)
		if len(out) > most {
			return nil, unfit("the module has more loops than the box can meter")
		}
	}
	if c.left() > 0 {
		return nil, unfit("not a valid module: its code section is longer than its code")
	}
	return out, nil
}
