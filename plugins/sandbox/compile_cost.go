package sandbox

// Limits on the cost of compiling a module. The runtime's compiler allocates 100 to 300
// bytes for each entry of a section and for each value at a call, block or branch, and up
// to 4 KB for each byte of a function until it is compiled. Its time grows with the square
// of several quantities.
const (
	// maxEntries bounds the entries of a section. Programs of 64 MiB have about 60,000
	// functions.
	maxEntries = 200_000
	// maxTypes bounds the types. Compilers write each type once; C++ has some thousands.
	maxTypes = 10_000
	// maxBody bounds the size of a function. The interpreter loop of Python has 200 KB.
	maxBody = 512 << 10
	// maxArity bounds parameters and results, as browsers do.
	maxArity = 1000
	// usualArity is how many values a call, a block or a branch passes for free, and
	// maxValues bounds the values of a module beyond that: 90 MB of compiler memory.
	// Compilers pass more than one result only if asked to, and then few.
	usualArity = 16
	maxValues  = 256 << 10
	// maxWork bounds the sum of the squares of addCost: half a minute on a core of 2024.
	maxWork = 40_000_000_000
)

// addCost adds the cost of compiling the function that was read. Each of these takes a
// second: 40,000 locals in one loop; 1,000 locals in loops 40 deep; 6,000 pieces between
// branches; 2,100 loops.
func (m *meter) addCost(locals uint64) {
	lives := locals * m.deepest
	m.work += lives*lives + 32*m.parts*m.parts + 300*m.loops*m.loops
}

// arity is the number of parameters and results of a function or a block.
type arity struct{ in, out uint32 }

// readTypes reads the arities of the type section. ok is false if there are too many types,
// or one is too large.
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

// readFunctions reads the types of the module's functions. ok is false if a type does not
// exist, which has made the runtime panic.
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

// arityOfType returns the arity of a type.
func (m *meter) arityOfType(kind uint32) arity {
	if kind >= uint32(len(m.types)) {
		m.in.bad = true
		return arity{}
	}
	return m.types[kind]
}

// arityOf returns the arity of a function.
func (m *meter) arityOf(index uint32) arity {
	if index >= uint32(len(m.functionTypes)) {
		return arity{}
	}
	return m.arityOfType(m.functionTypes[index])
}

// pass counts values that are passed.
func (m *meter) pass(n uint32) {
	if n > usualArity {
		m.values += uint64(n - usualArity)
	}
}

// branch counts the values that a branch out of depth blocks passes.
func (m *meter) branch(depth uint32) {
	if at := len(m.nested) - 1 - int(depth); at >= 0 {
		m.pass(m.nested[at].label)
	}
}

// checkCost returns an error if compiling what was read so far would take too much time or
// memory.
func (m *meter) checkCost() error {
	switch {
	case m.values > maxValues:
		return unfit("the module passes too many values: its calls, blocks and branches pass %d beyond %d each; "+
			"at most %d are allowed", m.values, usualArity, maxValues)
	case m.work > maxWork:
		return unfit("the module has functions with too many loops, branches, or locals within nested loops: " +
			"compiling it would take minutes")
	}
	return nil
}
