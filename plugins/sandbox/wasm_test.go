package sandbox

import (
	"encoding/binary"
	"slices"
)

// wat is a module written by hand, like WebAssembly's text format in Go. Functions are ()
// -> () or () -> i32; imported ones have any type.
type wat struct {
	imports []imported
	memory  []uint32 // minimum and maximum of pages; none means no memory
	table   []uint32 // minimum and maximum of entries
	global  []int64  // variables of i32, with their initial values
	types   [][]byte // before those of functions
	element []int    // functions in the table, from 0 on
	funcs   []function
	start   string         // the function that runs when the module is instantiated
	data    string         // at address 0
	again   map[string]int // more exported names of functions, by index; imported functions come first
}

type imported struct {
	from, name string
	in         []byte // types of parameters
	out        []byte
	what       []byte // folders a memory, table, global or tag: its kind and type; nil is a function
}

type function struct {
	export string
	out    []byte
	locals int // folders i32
	code   []byte
}

// Types and instructions of https://www.w3.org/TR/wasm-core-2/#binary-format.
const (
	i32 = 0x7F
	i64 = 0x7E
)

func uleb(n uint64) []byte { return binary.AppendUvarint(nil, n) }

// sleb is a signed LEB128, as constants are written.
func sleb(n int64) []byte {
	var out []byte
	for {
		b := byte(n & 0x7F)
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

func vec(items ...[]byte) []byte { return append(uleb(uint64(len(items))), slices.Concat(items...)...) }
func text(s string) []byte       { return append(uleb(uint64(len(s))), s...) }
func code(parts ...any) []byte {
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			out = append(out, byte(p))
		case []byte:
			out = append(out, p...)
		case string:
			out = append(out, p...)
		}
	}
	return out
}

func i32c(n int64) []byte { return code(0x41, sleb(n)) }
func i64c(n int64) []byte { return code(0x42, sleb(n)) }
func call(n int) []byte   { return code(0x10, uleb(uint64(n))) }

// forever returns a loop around body, which leaves nothing on the stack.
func forever(body ...any) []byte { return code(0x03, 0x40, code(body...), 0x0C, 0, 0x0B) }

func limits(l []uint32) []byte {
	if len(l) == 1 {
		return code(0, uleb(uint64(l[0])))
	}
	return code(1, uleb(uint64(l[0])), uleb(uint64(l[1])))
}

func (w wat) module() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, items [][]byte) {
		if len(items) > 0 {
			body := vec(items...)
			out = append(append(append(out, id), uleb(uint64(len(body)))...), body...)
		}
	}
	var types, imports, funcs, tables, memories, globals, exports, elements, codes, datas [][]byte
	typeOf := func(in, outs []byte) []byte {
		types = append(types, code(0x60, append(uleb(uint64(len(in))), in...),
			append(uleb(uint64(len(outs))), outs...)))
		return uleb(uint64(len(types) - 1))
	}
	types = append(types, w.types...)
	first := 0
	for _, i := range w.imports {
		if i.what != nil {
			imports = append(imports, code(text(i.from), text(i.name), i.what))
			continue
		}
		first++
		imports = append(imports, code(text(i.from), text(i.name), 0, typeOf(i.in, i.out)))
	}
	start := []byte(nil)
	for name, n := range w.again {
		exports = append(exports, code(text(name), 0, uleb(uint64(n))))
		if name == w.start {
			start = uleb(uint64(n))
		}
	}
	for n, f := range w.funcs {
		index := uleb(uint64(first + n))
		funcs = append(funcs, typeOf(nil, f.out))
		if f.export != "" {
			exports = append(exports, code(text(f.export), 0, index))
		}
		if f.export == w.start && w.start != "" {
			start = index
		}
		var locals [][]byte
		if f.locals > 0 {
			locals = append(locals, code(uleb(uint64(f.locals)), i32))
		}
		body := code(vec(locals...), f.code, 0x0B)
		codes = append(codes, append(uleb(uint64(len(body))), body...))
	}
	if w.memory != nil {
		memories = append(memories, limits(w.memory))
		exports = append(exports, code(text("memory"), 2, 0))
	}
	if w.table != nil {
		tables = append(tables, code(0x70, limits(w.table)))
	}
	if w.data != "" {
		datas = append(datas, code(0, i32c(0), 0x0B, text(w.data)))
	}
	for _, n := range w.global {
		globals = append(globals, code(i32, 1, i32c(n), 0x0B))
	}
	if w.element != nil {
		var all [][]byte
		for _, f := range w.element {
			all = append(all, uleb(uint64(f)))
		}
		elements = append(elements, code(0, i32c(0), 0x0B, vec(all...)))
	}
	section(1, types)
	section(2, imports)
	section(3, funcs)
	section(4, tables)
	section(5, memories)
	section(6, globals)
	section(7, exports)
	if start != nil {
		out = append(append(append(out, 8), uleb(uint64(len(start)))...), start...)
	}
	section(9, elements)
	section(10, codes)
	section(11, datas)
	return out
}

// run returns a module of the Extism ABI with one tool of this code.
func run(code []byte, imports ...imported) wat {
	return wat{imports: imports, memory: []uint32{1}, funcs: []function{{
		export: "run",
		out:    []byte{i32},
		locals: 2,
		code:   code,
	}}}
}

// command returns a WASI command of this code.
func command(code []byte, imports ...imported) wat {
	return wat{imports: imports, memory: []uint32{1}, funcs: []function{{export: "_start", locals: 2, code: code}}}
}

func wasi(name string, in ...byte) imported {
	return importOf("wasi_snapshot_preview1", name, in, []byte{i32})
}

func extismImport(name string, in, out []byte) imported {
	return importOf("extism:host/env", name, in, out)
}

// importOf returns an imported function.
func importOf(from, name string, in, out []byte) imported {
	return imported{
		from: from,
		name: name,
		in:   in,
		out:  out,
	}
}

// Functions of the box that several tests import.
var (
	boxHTTP  = importOf("parley", "http", []byte{i32, i32, i32, i32}, []byte{i32})
	procExit = importOf("wasi_snapshot_preview1", "proc_exit", []byte{i32}, nil)
)
