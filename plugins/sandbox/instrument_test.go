package sandbox

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"parley/plugins/manifest"
)

// times returns a loop of n rounds that counts in a local.
func times(n int64, local int, body ...any) []byte {
	return code(i32c(n), 0x21, local, 0x03, 0x40, code(body...), 0x20, local, i32c(1), 0x6B, 0x22, local, 0x0D, 0, 0x0B)
}

// endless returns modules that run for longer than any limit, each in another way.
func endless() map[string]wat {
	fib := wat{memory: []uint32{1}, funcs: []function{
		{export: "run", out: []byte{i32}, code: code(call(1), zero)},
		// A function that calls itself twice, 60 deep: neither a loop nor a deep stack.
		{code: code(0x23, 0, 0x45, 0x04, 0x40, 0x0F, 0x0B, // if global 0 is 0, return
			0x23, 0, i32c(1), 0x6B, 0x24, 0, call(1), call(1), 0x23, 0, i32c(1), 0x6A, 0x24, 0)},
	}, global: []int64{60}}
	tree := wat{memory: []uint32{1}} // 50 functions, each of which calls the next twice
	for n := range 50 {
		tree.funcs = append(tree.funcs, function{code: code(call(n+1), call(n+1))})
	}
	tree.funcs[0] = function{export: "run", out: []byte{i32}, code: code(call(1), call(1), zero)}
	tree.funcs = append(tree.funcs, function{})
	wide := run(code(forever(0xFC, 0x0A, 0, 0), 0x00))
	wide.funcs[0].code = code(forever(i32c(0), i32c(7), i32c(64<<20-1<<16), 0xFC, 0x0B, 0), 0x00)
	wide.memory = []uint32{1023}
	straight := run(nil)
	straight.memory = []uint32{1023}
	for range 300 { // fills 64 MiB without a loop
		straight.funcs[0].code = append(straight.funcs[0].code,
			code(i32c(0), i32c(7), i32c(64<<20-1<<16), 0xFC, 0x0B, 0)...)
	}
	straight.funcs[0].code = append(straight.funcs[0].code, zero...)
	indirect := wat{
		memory:  []uint32{1},
		table:   []uint32{1},
		funcs:   []function{{export: "run", out: []byte{i32}, code: code(forever(i32c(0), 0x11, 1, 0), 0x00)}, {}},
		element: []int{1},
	}
	return map[string]wat{
		"a tight loop": run(code(forever(), 0x00)),
		"nested loops": run(code(times(1<<30, 0, times(1<<30, 1)), zero)),
		"a loop in a loop's function": {memory: []uint32{1}, funcs: []function{{
			export: "run",
			out:    []byte{i32},
			locals: 1,
			code:   code(times(1<<30, 0, call(1)), zero),
		}, {locals: 1, code: times(1<<20, 0)}}},
		"a loop of calls of a leaf": {memory: []uint32{1},
			funcs: []function{{export: "run", out: []byte{i32}, code: code(forever(call(1)), 0x00)},
				{code: code(0x01)}}},
		"a loop of indirect calls":      indirect,
		"recursion like a tree":         fib,
		"a tree of functions":           tree,
		"a loop by br_table":            run(code(0x03, 0x40, i32c(0), 0x0E, 2, 0, 0, 0, 0x0B, zero)),
		"a loop by br_if":               run(code(0x03, 0x40, i32c(1), 0x0D, 0, 0x0B, zero)),
		"a loop with a block around":    run(code(0x03, 0x40, 0x02, 0x40, 0x0C, 1, 0x0B, 0x0B, zero)),
		"a loop with a result":          run(code(0x03, i32, 0x0C, 0, 0x0B)),
		"filling all memory":            wide,
		"filling memory without a loop": straight,
		"a loop of random numbers": func() wat {
			w := run(code(forever(i32c(0), i32c(4<<20), call(0), 0x1A), 0x00), wasi("random_get", i32, i32))
			w.memory = []uint32{1000}
			return w
		}(),
	}
}

// A module that never ends is stopped in time, while the garbage collector, which stops the
// world, and other goroutines keep running.
func TestEndlessModulesAreStopped(t *testing.T) {
	for name, config := range map[string]wazero.RuntimeConfig{"compiled": wazero.NewRuntimeConfigCompiler(),
		"interpreted": wazero.NewRuntimeConfigInterpreter()} {
		if name == "interpreted" && underRace {
			continue // Go code reads the flag in those cases: a harmless race
		}
		h := host(t, Options{config: config})
		for what, w := range endless() {
			t.Run(name+"/"+what, func(t *testing.T) {
				m := load(t, h, strings.Replace(hostileManifest, "timeout: 300ms", "timeout: 100ms", 1), w.module())
				ended := make(chan error, 1)
				begun := time.Now()
				go func() {
					_, err := m.Call(context.Background(), Call{Tool: "run", Account: "a"})
					ended <- err
				}()
				most := time.Duration(0)
				for {
					before := time.Now()
					runtime.GC()
					time.Sleep(time.Millisecond)
					most = max(most, time.Since(before))
					select {
					case err := <-ended:
						if f := AsFault(err); err == nil || f.Kind != Late {
							t.Errorf("%v", err)
						}
						t.Logf("ended after %v; the collector waited %v at most", time.Since(begun), most)
						if took := time.Since(begun); took > 10*time.Second {
							t.Errorf("the call took %v", took)
						}
						return
					default:
					}
				}
			})
		}
	}
}

// If the caller cancels the call, the fault is Gone and not Late.
func TestACanceledCallIsGone(t *testing.T) {
	m := load(t, host(t, Options{}), hostileManifest, run(code(forever(), 0x00)).module())
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := m.Call(ctx, Call{Tool: "run", Account: "a"}); err == nil || AsFault(err).Kind != Gone {
		t.Errorf("%v", err)
	}
}

// A module can neither access the meter's global nor use its name.
func TestModulesCannotTouchTheMeter(t *testing.T) {
	h := host(t, Options{})
	m, err := manifest.Parse([]byte(hostileManifest))
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{
		"reads a global": code(0x23, 0, 0x1A, zero), "sets a global": code(i32c(0), 0x24, 1, zero),
		"calls the meter": code(call(1), zero), "grows the table": code(0xD0, 0x70, i32c(0), 0xFC, 0x0F, 0),
	} {
		if _, err := h.Load(t.Context(), m, run(body).module()); err == nil ||
			!strings.Contains(err.Error(), "function 0 cannot be read") {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := run(code(forever(), 0x00))
	w.funcs = append(w.funcs, function{export: "parley.stop"}, function{export: "parley.stop0"},
		function{export: "parley.start"})
	w.start = "parley.start"
	module := load(t, h, hostileManifest, w.module())
	if _, err := module.Call(t.Context(), Call{Tool: "run", Account: "a"}); err == nil || AsFault(err).Kind != Late {
		t.Errorf("%v", err)
	}
}

// Lists that claim four billion entries cost nothing.
func TestFalseLengthsCostNoMemory(t *testing.T) {
	good := run(code(forever(), 0x00)).module()
	lots := []byte{0xFF, 0xFF, 0xFF, 0xFF, 0x0F}
	for n := range len(good) {
		lie := append(append(append([]byte{}, good[:n]...), lots...), good[min(n+1, len(good)):]...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, _ = instrument(lie)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%d bytes were allocated", n)
		}
	}
	for name, text := range map[string]string{
		"elements":           "\x09\x0a\x01\x04\x41\x00\x0b\xff\xff\xff\xff\x0f",
		"elements of a type": "\x09\x08\x01\x05\x70\xff\xff\xff\xff\x0f",
		"parameters":         "\x01\x07\x01\x60\xff\xff\xff\xff\x0f",
		"functions":          "\x0a\x05\xff\xff\xff\xff\x0f", "data": "\x0b\x07\x01\x01\xff\xff\xff\xff\x0f",
	} {
		if _, _, err := instrument([]byte("\x00asm\x01\x00\x00\x00" + text)); err == nil {
			t.Errorf("%s: the module was accepted", name)
		}
	}
	locals := run(nil)
	locals.funcs[0].locals = maxLocals + 1
	deep := run(code(strings.Repeat("\x02\x40", maxNested+1), strings.Repeat("\x0B", maxNested+1), zero))
	for name, w := range map[string]wat{"locals": locals, "deep": deep} {
		if _, _, err := instrument(w.module()); err == nil {
			t.Errorf("%s: the module was accepted", name)
		}
	}
}

// Random bytes give an error or a module that is not much larger. A module that the runtime
// accepts, it also accepts with checks.
func FuzzRewrite(f *testing.F) {
	for _, w := range endless() {
		f.Add(w.module())
	}
	f.Add(counting())
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx,
		wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2).WithMemoryLimitPages(1024))
	f.Cleanup(func() { _ = r.Close(ctx) })
	f.Fuzz(func(t *testing.T, wasm []byte) {
		out, _, err := instrument(wasm)
		if err != nil {
			return
		}
		if len(out) > (maxGrowth+1)*len(wasm)+128<<10 {
			t.Errorf("%d bytes of %d", len(out), len(wasm))
		}
		plain, err := r.CompileModule(ctx, wasm)
		if err != nil {
			return
		}
		_ = plain.Close(ctx)
		held, err := r.CompileModule(ctx, out)
		if err != nil {
			t.Fatalf("with checks it is not valid any more: %v", err)
		}
		_ = held.Close(ctx)
	})
}
