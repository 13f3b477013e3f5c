package sandbox

// What compiling a module may take. The runtime's compiler makes 100 to 300 bytes of
// each entry of a section, of each value at each call, block and branch, and up to
// 4 KB of each byte of a function, which it gives back when that is done; and its time
// grows with the square of several things.
const (
	// maxEntries is how many entries a section has. Programs of 64 MiB have some 60,000
	// functions.
	maxEntries = 200_000
	// maxTypes bounds those that differ: compilers write each once, and C++ has some
	// thousands.
	maxTypes = 10_000
	// maxBody is how large a function may be. The interpreter of a Python is one of
	// 200 KB.
	maxBody = 512 << 10
	// maxArity bounds parameters and results, as browsers do.
	maxArity = 1000
	// usualArity is how many values a call, a block or a branch passes on for nothing,
	// and maxValues how many those of a module pass on beyond that: 90 MB of them.
	// Compilers pass on more than one result where they are asked to, and few then.
	usualArity = 16
	maxValues  = 256 << 10
	// maxWork bounds the squares that reckon adds up: half a minute on a core of 2024.
	maxWork = 40_000_000_000
)

// addCost adds what compiling the function takes that was read. Measured on their own,
// a second is 40,000 locals in one loop, or 1,000 in loops 40 deep; or 6,000 pieces
// between branches; or 2,100 loops.
func (m *meter) addCost(locals uint64) {
	lives := locals * m.deepest
	m.work += lives*lives + 32*m.parts*m.parts + 300*m.loops*m.loops
}

// arity is how many parameters and results a function or a block has.
type arity struct{ in, out uint32 }

// readTypes reads the arities of the type section; ok is false where
// there are too many, or one is too large.
func (m *meter) readTypes(body []byte) (ok bool) {
	c := cursor{b: body}
	if length(body) > maxTypes {
		return false
	}
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

// readFunctions reads the types of the module's own functions; ok is false where
// there is no such type, which has made the runtime panic.
func (m *meter) readFunctions(body []byte) (ok bool) {
	c := cursor{b: body}
	for range length(body) {
		if c.at == 0 {
			c.count()
		}
		kind := c.number()
		c.bad = c.bad || kind >= uint32(len(m.types))
		m.functionTypes = append(m.functionTypes, kind)
	}
	return !c.bad && c.left() == 0
}

// arityOfType is the arity of a type that the code names.
func (m *meter) arityOfType(kind uint32) arity {
	if kind >= uint32(len(m.types)) {
		m.in.bad = true
		return arity{}
	}
	return m.types[kind]
}

// arityOf is the arity of a function.
func (m *meter) arityOf(index uint32) arity {
	if index >= uint32(len(m.functionTypes)) {
		return arity{}
	}
	return m.arityOfType(m.functionTypes[index])
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

// checkCost says why compiling what was read so far would take too long, or too much
// memory.
func (m *meter) checkCost() error {
	switch {
	case m.values > maxValues:
		return unfit("the module passes on too many values: its calls, blocks and branches have %d beyond %d each; "+
			"at most %d are allowed", m.values, usualArity, maxValues)
	case m.work > maxWork:
		return unfit("the module has functions with too many loops, branches, or locals within nested loops: " +
			"compiling it would take minutes")
	}
	return nil
}
