package sandbox

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// The ids of the sections of a module; 0 is a custom section. See
// https://www.w3.org/TR/wasm-core-2/#sections.
const (
	typeSection      = 1
	importSection    = 2
	functionSection  = 3
	tableSection     = 4
	memorySection    = 5
	globalSection    = 6
	exportSection    = 7
	startSection     = 8
	elementSection   = 9
	codeSection      = 10
	dataSection      = 11
	dataCountSection = 12
)

// inOrder lists the sections in the order that the specification requires.
var inOrder = []byte{
	typeSection, importSection, functionSection, tableSection, memorySection, globalSection,
	exportSection, startSection, elementSection, dataCountSection, codeSection, dataSection,
}

type section struct {
	id   byte
	body []byte
}

// instrumentation describes what instrument has added to a module.
type instrumentation struct {
	stop  string // global that stops the module when it is not 0
	start string // exported start function; empty if there is none
	tick  uint32 // index of the function at which the box yields the core
}

// instrument adds checks to a module, so that it can be stopped anywhere and returns to Go
// often enough for other goroutines to run. It exports the module's start function, which
// is called when the module can already be stopped. It does not validate the rest of the
// module; the runtime does.
func instrument(wasm []byte) ([]byte, instrumentation, error) {
	m, ok := split(wasm)
	if !ok {
		return nil, instrumentation{},
			unfit("not a valid module: its sections are truncated, out of order or repeated")
	}
	if err := m.boundTables(); err != nil {
		return nil, instrumentation{}, err
	}
	meter, names, err := m.measure()
	if err != nil {
		return nil, instrumentation{}, err
	}
	code, err := meter.code(m.find(codeSection), len(wasm))
	if err != nil {
		return nil, instrumentation{}, err
	}
	types := (&cursor{b: m.find(typeSection)}).count()
	start := m.find(startSection)
	m.add(typeSection, []byte{0x60, 0, 0})                   // () -> ()
	m.add(typeSection, []byte{0x60, 3, 0x7F, 0x7F, 0x7F, 0}) // (i32, i32, i32) -> ()
	own := meter.addedFunctions()
	for _, f := range own {
		m.add(functionSection, binary.AppendUvarint(nil, uint64(types+f.kind)))
		code = append(binary.AppendUvarint(code, uint64(len(f.body))), f.body...)
	}
	count := uint64(meter.functions-meter.imported) + uint64(len(own))
	m.set(codeSection, append(binary.AppendUvarint(make([]byte, 0, len(code)+5), count), code...))
	m.add(tableSection, []byte{0x70, 1, 0, 0}) // an empty table of functions
	m.add(globalSection, constant(meterFull))
	m.add(globalSection, constant(0))
	m.add(globalSection, constant(checksPerTick))
	m.add(exportSection, export(names.stop, 3, meter.stop))
	if names.start != "" {
		m.add(exportSection, export(names.start, 0, (&cursor{b: start}).number()))
		m.sections = slices.DeleteFunc(m.sections, func(s section) bool { return s.id == startSection })
	}
	return m.join(), names, nil
}

// Instrument returns the module as it is compiled, for measuring the cost of the checks.
func Instrument(wasm []byte) ([]byte, error) {
	held, _, err := instrument(wasm)
	return held, err
}

// module is a binary module, split into sections.
type module struct {
	head     []byte
	sections []section
}

func split(wasm []byte) (*module, bool) {
	if len(wasm) < 8 {
		return nil, false
	}
	p, c, last := &module{head: wasm[:8]}, cursor{b: wasm, at: 8}, -1
	for c.left() > 0 && !c.bad {
		s := section{id: c.byte(), body: c.bytes()}
		if s.id == 0 && string((&cursor{b: s.body}).bytes()) == "name" {
			continue // the runtime needs 12 times its size for messages that nobody sees
		}
		if s.id != 0 {
			at := slices.Index(inOrder, s.id)
			c.bad = c.bad || at <= last
			last = at
		}
		p.sections = append(p.sections, s)
	}
	return p, !c.bad
}

// find returns the body of a section; empty if there is none.
func (p *module) find(id byte) []byte {
	for _, s := range p.sections {
		if s.id == id {
			return s.body
		}
	}
	return nil
}

// set replaces the body of a section, or inserts the section where it belongs.
func (p *module) set(id byte, body []byte) {
	at := len(p.sections)
	for n, s := range p.sections {
		if s.id == id {
			p.sections[n].body = body
			return
		}
		if s.id != 0 && slices.Index(inOrder, s.id) > slices.Index(inOrder, id) {
			at = n
			break
		}
	}
	p.sections = slices.Insert(p.sections, at, section{id, body})
}

// add appends an entry to a section that is a list.
func (p *module) add(id byte, entry []byte) {
	c := cursor{b: p.find(id)}
	n := uint64(0)
	if len(c.b) > 0 {
		n = uint64(c.number())
	}
	body := binary.AppendUvarint(make([]byte, 0, len(c.b)+len(entry)+1), n+1)
	p.set(id, append(append(body, c.b[c.at:]...), entry...))
}

func (p *module) join() []byte {
	size := len(p.head)
	for _, s := range p.sections {
		size += len(s.body) + 6
	}
	out := append(make([]byte, 0, size), p.head...)
	for _, s := range p.sections {
		out = binary.AppendUvarint(append(out, s.id), uint64(len(s.body)))
		out = append(out, s.body...)
	}
	return out
}

// measure counts the entries of the module's sections, so that additions get the next
// indices.
func (p *module) measure() (*meter, instrumentation, error) {
	m, malformed := &meter{}, unfit("not a valid module: one of its lists is malformed, or has a wrong length")
	for _, s := range p.sections {
		// These sections are lists. For a false length the runtime would allocate as many
		// entries.
		c := cursor{b: s.body}
		if s.id != 0 && s.id != startSection && s.id != dataCountSection {
			if n := c.count(); n > maxEntries {
				return nil, instrumentation{},
					unfit("section %d of the module has %d entries; at most %d are allowed", s.id, n, maxEntries)
			}
		}
		if c.bad || !s.lists() {
			return nil, instrumentation{}, malformed
		}
	}
	if !m.readTypes(p.find(typeSection)) {
		return nil, instrumentation{},
			unfit("the module has more than %d types, or one with more than %d parameters or results", maxTypes,
				maxArity)
	}
	if err := m.countImports(p.find(importSection)); err != nil {
		return nil, instrumentation{}, err
	}
	if !m.readFunctions(p.find(functionSection)) {
		return nil, instrumentation{}, malformed
	}
	m.functions = m.imported + length(p.find(functionSection))
	m.tables = length(p.find(tableSection))
	m.globals = length(p.find(globalSection))
	m.left, m.stop, m.turn, m.checkFunction = m.globals, m.globals+1, m.globals+2, m.functions
	taken := map[string]bool{}
	c := cursor{b: p.find(exportSection)}
	for range length(c.b) {
		if len(taken) == 0 {
			c.count()
		}
		taken[string(c.bytes())] = true
		c.byte()
		c.number()
	}
	names := instrumentation{stop: unusedName("parley.stop", taken), tick: m.tickFunction()}
	if start := (cursor{b: p.find(startSection)}); len(start.b) > 0 {
		c.bad = c.bad || start.number() >= m.functions || start.bad
		names.start = unusedName("parley.start", taken)
	}
	if c.bad {
		return nil, instrumentation{}, malformed
	}
	return m, names, nil
}

func length(body []byte) uint32 {
	if len(body) == 0 {
		return 0
	}
	return (&cursor{b: body}).count()
}

// notFunctions are the kinds of imports that are refused. They are state that modules would
// share: with the memory of the Extism kernel, for one, a module could overwrite what the
// box reads there.
var notFunctions = map[byte]string{1: "table", 2: "memory", 3: "global"}

// countImports counts the imported functions, whose indices precede those of the module's
// functions.
func (m *meter) countImports(body []byte) error {
	c := cursor{b: body}
	for range length(body) {
		if c.at == 0 {
			c.count()
		}
		from, name, kind := string(c.bytes()), string(c.bytes()), c.byte()
		if what := notFunctions[kind]; what != "" && !c.bad {
			return unfit("the module imports the %s %s; it may import functions only, and must define its %s itself",
				what, importName(from, name), what)
		}
		of := c.number()
		m.functionTypes = append(m.functionTypes, of)
		c.bad = c.bad || kind != 0 || of >= uint32(len(m.types))
		m.imported++
		m.leaf = append(m.leaf, from == extismName && leafImports[name])
	}
	if c.bad || c.left() > 0 {
		return unfit(
			"not a valid module: its import section has a wrong length, or imports of an unknown kind")
	}
	return nil
}

// unusedName returns a name that the module does not export.
func unusedName(name string, taken map[string]bool) string {
	for n := 0; taken[name]; n++ {
		name += strconv.Itoa(n)
	}
	return name
}

func export(name string, kind byte, index uint32) []byte {
	out := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	return binary.AppendUvarint(append(out, kind), uint64(index))
}

// constant encodes a mutable i32 global.
func constant(n uint32) []byte {
	out := []byte{0x7F, 1, 0x41}
	return append(signed(out, n), 0x0B)
}

// signed appends n, below 2^20, as an operand of i32.const.
func signed(out []byte, n uint32) []byte {
	return append(out, byte(n)|0x80, byte(n>>7)|0x80, byte(n>>14))
}
