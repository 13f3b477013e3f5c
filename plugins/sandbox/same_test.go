package sandbox

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// v128 returns a constant vector of 16 bytes.
func v128(first byte) []byte {
	b := code(0xFD, 0x0C)
	for n := range byte(16) {
		b = append(b, first+n)
	}
	return b
}

// every returns a module with an instruction of each kind, which combines their results.
func every() []byte {
	lanes := make([]byte, 16)
	for n := range lanes {
		lanes[n] = byte(31 - n)
	}
	add := 0x6A
	block := strings.Repeat("\x01", 300) // long enough to be metered by its size
	w := run(code(
		// shuffle, i16x8.abs, v128.store
		i32c(64), v128(3), v128(0x80), 0xFD, 0x0D, lanes, 0xFD, 0x80, 0x01, 0xFD, 0x0B, 4, 0,
		// load, v128.load8_lane, i32x4.extract_lane
		i32c(0), i32c(64), 0x28, 2, 0, add, i32c(64), v128(9), 0xFD, 0x54, 0, 3, 5, 0xFD, 0x1B, 2, add,
		i32c(64), 0xFD, 0x5C, 2, 4, 0xFD, 0x1B, 0, add, // v128.load32_zero
		// memory.copy, memory.fill
		i32c(128), i32c(64), i32c(16), 0xFC, 0x0A, 0, 0, i32c(144), i32c(7), i32c(9), 0xFC, 0x0B, 0,
		i32c(137), 0x2D, 0, 9, add, 0x3F, 0, add, i32c(1), 0x40, 0, add, // i32.load8_u, memory.size, memory.grow
		// saturating truncations
		0x43, 0, 0, 0xC0, 0x7F, 0xFC, 0, add, 0x44, 0, 0, 0, 0, 0, 0, 0x45, 0x40, 0xFC, 0x06, 0xA7, add,
		i64c(-1<<40), 0xC4, 0xA7, 0xC0, add, // i64.extend32_s, i32.wrap_i64, i32.extend8_s
		// ref.null, ref.is_null, ref.func, select
		0xD0, 0x70, 0xD1, add, 0xD2, 0, 0xD0, 0x70, i32c(1), 0x1C, 1, 0x70, 0xD1, add,
		0xD0, 0x70, i32c(2), 0xFC, 0x0F, 0, add, 0xFC, 0x10, 0, add, // table.grow, table.size
		// table.set, table.get, call_indirect
		i32c(1), 0xD2, 1, 0x26, 0, i32c(0), 0x25, 0, 0xD1, add, i32c(1), 0x11, 0, 0, add,
		i32c(5), 0x03, 1, 0x0B, add, // a loop with a parameter and a result
		times(40, 1, 0x20, 0, i32c(3), 0x6C, i32c(1), add, 0x21, 0, block), 0x20, 0, add,
		// br_table, global.get
		0x02, 0x40, 0x02, 0x40, 0x02, 0x40, i32c(1), 0x0E, 2, 0, 1, 2, 0x0B, 0x0B, 0x0B, 0x23, 0, add,
		0x02, 0x40, 0x0C, 0, times(3, 1), 0x0B, call(1), add, // unreachable code
	))
	w.global, w.table, w.element = []int64{-77}, []uint32{2, 9}, []int{0, 1}
	w.types = [][]byte{code(0x60, 0, 1, i32), code(0x60, 1, i32, 1, i32)}
	w.funcs = append(w.funcs, function{out: []byte{i32}, code: i32c(1000)})
	w.data = "a few bytes of data"
	return w.module()
}

// answer returns the result of a module's function, and the memory after the call.
func answer(t *testing.T, config wazero.RuntimeConfig, wasm []byte) (uint64, []byte) {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config)
	defer func() { _ = r.Close(ctx) }()
	m, err := r.Instantiate(ctx, wasm)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.ExportedFunction("run").Call(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := m.Memory().Read(0, m.Memory().Size())
	return got[0], slices.Clone(b)
}

// Checks do not change what a module computes.
func TestChecksDoNotChangeResults(t *testing.T) {
	plain := every()
	held, _, err := instrument(plain)
	if err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]wazero.RuntimeConfig{"compiled": wazero.NewRuntimeConfigCompiler(),
		"interpreted": wazero.NewRuntimeConfigInterpreter()} {
		want, before := answer(t, config, plain)
		got, after := answer(t, config, held)
		if got != want || !bytes.Equal(before, after) || want == 0 {
			t.Errorf("%s: %d, and without checks %d", name, int32(got), int32(want))
		}
	}
}

// Memory that is filled and copied in pieces is the same as after one operation, however
// source and destination overlap.
func TestMemoryMovedInPiecesIsTheSame(t *testing.T) {
	const p = meterPiece
	for _, c := range [][3]int64{
		{0, p / 2, 3 * p}, {p / 2, 0, 3 * p}, {8, 0, 3*p + 5}, {0, 8, 3*p + 5}, {7, 3 * p, p}, {2 * p, 2 * p, 2*p + 1},
		{p, 3 * p, p + 1}, {5, 9, 0}, {9, 5, p - 1}, {4*p - 1, 1, 1},
	} {
		w := run(code(times(p, 1, 0x20, 1, i32c(2), 0x74, 0x20, 1, 0x36, 2, 0), // each word has its number
			i32c(c[0]), i32c(0x5A), i32c(c[2]), 0xFC, 0x0B, 0, i32c(c[0]), i32c(c[1]), i32c(c[2]), 0xFC, 0x0A, 0, 0,
			i32c(1)))
		w.memory = []uint32{uint32(5 * p >> 16)}
		plain := w.module()
		held, _, err := instrument(plain)
		if err != nil {
			t.Fatal(err)
		}
		config := wazero.NewRuntimeConfigCompiler()
		_, want := answer(t, config, plain)
		if _, got := answer(t, config, held); !bytes.Equal(got, want) {
			t.Errorf("%v: the results differ", c)
		}
	}
}

// Checks do not change the output of a compiled program.
func TestChecksDoNotChangeAProgramsOutput(t *testing.T) {
	plain := goModule(t, "command", false)
	held, _, err := instrument(plain)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d with checks", len(plain), len(held))
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer func() { _ = r.Close(ctx) }()
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		t.Fatal(err)
	}
	var out [2]bytes.Buffer
	for n, wasm := range [][]byte{plain, held} {
		config := wazero.NewModuleConfig().WithName("").WithArgs("x",
			"echo").WithStdin(strings.NewReader(`{"place":"Zoo"}`)).WithStdout(&out[n]).WithStderr(&out[n])
		if _, err := r.InstantiateWithConfig(ctx, wasm, config); err != nil &&
			!strings.Contains(err.Error(), "exit_code(0)") {
			t.Fatal(err)
		}
	}
	if out[0].Len() == 0 || out[0].String() != out[1].String() {
		t.Errorf("%q, and without checks %q", out[1].String(), out[0].String())
	}
}
