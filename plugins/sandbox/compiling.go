package sandbox

// What the runtime's compiler needs is no more than what a module of MaxModule bytes
// suggests only where these hold: it makes 100 to 300 bytes of each entry of a
// section, of each value at each call, block and branch, and its time grows with the
// square of the values that live through nested loops.
const (
	// maxEntries is how many entries a section has. Programs of 64 MiB have some 60,000
	// functions.
	maxEntries = 200_000
	// maxArity bounds parameters and results, as browsers do.
	maxArity = 1000
	// usualArity is how many values a call, a block or a branch passes on for nothing,
	// and maxValues how many those of a module pass on beyond that: 90 MB of them.
	// Compilers pass on more than one result where they are asked to, and few then.
	usualArity = 16
	maxValues  = 256 << 10
	// maxWork bounds the squares of a function's locals times its loops within loops,
	// all together: 100 s on a core of 2024. A function of 3,000 locals and loops five
	// deep, which compilers write that do not optimize, takes a two-hundredth.
	maxWork = 40_000_000_000
)

// arity is how many parameters and results a function or a block has.
type arity struct{ in, out uint32 }

// types reads the arities of the type section; ok is false where one is too large.
func (m *meter) readTypes(body []byte) (ok bool) {
	c := cursor{b: body}
	for range length(body) {
		if c.at == 0 {
			c.count()
		}
		c.byte()
		var of [2]uint32
		for i := range of {
			of[i] = c.count()
			c.skip(int64(of[i]))
		}
		if of[0] > maxArity || of[1] > maxArity {
			return false
		}
		m.types = append(m.types, arity{of[0], of[1]})
	}
	return !c.bad
}

// readFunctions reads the types of the module's own functions.
func (m *meter) readFunctions(body []byte) {
	c := cursor{b: body}
	for range length(body) {
		if c.at == 0 {
			c.count()
		}
		m.kinds = append(m.kinds, c.number())
	}
}

// typed is the arity of a type; one that there is not is left to the runtime to
// refuse.
func (m *meter) typed(kind uint32) arity {
	if kind >= uint32(len(m.types)) {
		return arity{}
	}
	return m.types[kind]
}

// function is the arity of a function.
func (m *meter) function(index uint32) arity {
	if index >= uint32(len(m.kinds)) {
		return arity{}
	}
	return m.typed(m.kinds[index])
}

// pass counts values that are passed on.
func (m *meter) pass(n uint32) {
	if n > usualArity {
		m.values += uint64(n - usualArity)
	}
}

// branch counts what a branch out of depth blocks passes on.
func (m *meter) branch(depth uint32) {
	if at := len(m.nested) - 1 - int(depth); at >= 0 {
		m.pass(m.nested[at].label)
	}
}

// costly says why compiling what was read so far would take too long, or too much
// memory.
func (m *meter) costly() error {
	switch {
	case m.values > maxValues:
		return unfit("the module passes on too many values: its calls, blocks and branches have %d beyond %d each; at most %d are allowed", m.values, usualArity, maxValues)
	case m.work > maxWork:
		return unfit("the module has too many locals in functions whose loops are nested: compiling it would take minutes")
	}
	return nil
}
