package sandbox

import (
	"bytes"
	"strings"
	"testing"
)

// passing returns a module with a function of n results, whose tool calls that function and
// then runs follow. Type 1 also has n parameters.
func passing(n int, follow string) wat {
	all := bytes.Repeat([]byte{i32}, n)
	list := append(uleb(uint64(n)), all...)
	return wat{memory: []uint32{1}, types: [][]byte{code(0x60, 0, list), code(0x60, list, list)}, funcs: []function{
		{export: "run", out: []byte{i32}, code: code(call(1), follow, 0x00)}, {out: all, code: call(1)}}}
}

// looping returns a module whose tool reads n locals in m nested loops.
func looping(n, m int) wat {
	var gets []byte
	for i := range n {
		gets = append(gets, code(0x20, uleb(uint64(i)), 0x1A)...)
	}
	w := run(code(strings.Repeat("\x03\x40", m), gets, strings.Repeat("\x41\x00\x0D\x00\x0B", m), zero))
	w.funcs[0].locals = n
	return w
}

// A small module that would take gigabytes or hours to compile is refused before it is
// compiled. A similar module that compiles quickly runs.
func TestModulesThatAreCostlyToCompileAreRefused(t *testing.T) {
	const tooMany, minutes = "too many values", "compiling it would take minutes"
	indirect := passing(1000, strings.Repeat("\x41\x00\x11\x00\x00", 1000))
	indirect.table = []uint32{1}
	types, globals := run(zero), run(zero)
	types.types, globals.global = make([][]byte, maxTypes+1), make([]int64, maxEntries+1)
	for i := range types.types {
		types.types[i] = code(0x60, 0, 0)
	}
	many := strings.Repeat
	for name, c := range map[string]struct {
		module wat
		says   string
	}{
		"calls":                   {passing(1000, many("\x10\x01", 1000)), tooMany},
		"blocks":                  {passing(1000, many("\x02\x01\x0B", 1000)), tooMany},
		"loops":                   {passing(1000, many("\x03\x01\x0B", 1000)), tooMany},
		"conditions":              {passing(1000, many("\x41\x00\x04\x01\x0B", 1000)), tooMany},
		"branches":                {passing(1000, "\x02\x01"+many("\x41\x00\x0D\x00", 1000)+"\x0B"), tooMany},
		"branches out of a loop":  {passing(1000, "\x03\x01"+many("\x41\x00\x0D\x00", 1000)+"\x0B"), tooMany},
		"a branch to many places": {passing(1000, "\x02\x01\x41\x00\x0E\xE8\x07"+many("\x00", 1001)+"\x0B"), tooMany},
		"calls that are indirect": {indirect, tooMany},
		"many parameters":         {passing(maxArity+1, ""), "more than 1000 parameters or results"},
		"loops within loops":      {looping(4000, 60), minutes},
		"many locals in a few":    {looping(40_000, 8), minutes},
		"many branches":           {run(code(0x02, 0x40, many("\x20\x00\x0D\x00", 40_000), 0x0B, zero)), minutes},
		"many loops":              {run(code(many("\x03\x40\x0B", 20_000), zero)), minutes},
		"a large function":        {run(code(many("\x01", maxBody), zero)), "at most 524288"},
		"many types":              {types, "more than 10000 types"},
		"many globals":            {globals, "section 6 of the module has"},
		"ten of each":             {passing(10, many("\x10\x01\x02\x01\x0B", 1000)), ""},
		"loops as they are":       {looping(300, 10), ""},
	} {
		_, _, err := instrument(c.module.module())
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v; want %q", name, err, c.says)
		}
	}
}
