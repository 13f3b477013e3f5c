package sandbox

import (
	"context"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/plugins/manifest"
)

// cacheDir is the folder in which the tests cache compiled modules.
var cacheDir string

func TestMain(m *testing.M) {
	var err error
	if cacheDir, err = os.MkdirTemp("", "parley-sandbox-"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(cacheDir)
		os.Exit(code)
	}))
}

const hostileManifest = `
name: hostile
version: 1.0.0
description: Means no good.
reuse: any
tools: [{name: run, description: Run., timeout: 300ms}]
`

// zero returns 0 from a tool.
var zero = i32c(0)

// Each module does something forbidden. The call ends in time with an error that names it,
// the plugin is to blame, the instance is discarded, and another plugin still answers.
func TestHostileModulesHarmOnlyThemselves(t *testing.T) {
	h := host(t, Options{Instances: 4})
	good := load(t, h, strings.Replace(hostileManifest, "hostile", "good", 1), run(zero).module())
	iovec := "\x10\x00\x00\x00\x00\x80\x00\x00" // 32 KiB from 16 on
	write := func(fd int64) []byte {
		return code(i32c(fd), i32c(0), i32c(1), i32c(8), call(0), 0x1A)
	}
	withData := func(w wat, data string) wat { w.data = data; return w }
	for _, c := range []struct {
		name   string
		module wat
		kind   Kind
		says   string
	}{
		{"an endless loop", run(code(forever(), 0x00)), Late, "300ms"},
		{"an endless loop that works", run(code(forever(0x20, 0, i32c(1), 0x6A, 0x21, 0), 0x00)), Late, "300ms"},
		{"an endless recursion", run(call(0)), Trapped, "stack overflow"},
		{"a hang in _start", command(forever()), Late, "300ms"},
		{"a hang before anything is called",
			wat{memory: []uint32{1}, start: "begin",
				funcs: []function{{export: "begin", code: forever()}, {export: "run", out: []byte{i32}, code: zero}}},
			Late, "300ms"},
		{"a hang in _initialize", wat{memory: []uint32{1},
			funcs: []function{{export: "_initialize", code: forever()}, {export: "run", out: []byte{i32}, code: zero}}},
			Late, "300ms"},
		{"a memory bomb", run(code(forever(i32c(16), 0x40, 0, 0x41, 0x7F, 0x46, 0x04, 0x40, 0x00, 0x0B), 0x00)),
			Trapped, "unreachable"},
		{"more memory from the start than it may have", func() wat {
			w := run(zero)
			w.memory = []uint32{1025}
			return w
		}(), TooMuch, "64MiB"},
		{"a table bomb", func() wat {
			w := run(code(forever(0xD0, 0x70, i32c(1<<16), 0xFC, 0x0F, 0, 0x41, 0x7F, 0x46, 0x04, 0x40, 0x00, 0x0B),
				0x00))
			w.table = []uint32{1}
			return w
		}(), Trapped, "unreachable"},
		{"a gigabyte of output", withData(command(forever(write(1)), wasi("fd_write", i32, i32, i32, i32)), iovec),
			TooMuch, "65536"},
		{"a gigabyte of log", withData(command(forever(write(2)), wasi("fd_write", i32, i32, i32, i32)), iovec), Late,
			"300ms"},
		{"reading out of bounds", run(code(i32c(-4), 0x28, 2, 0)), Trapped, "out of bounds memory access"},
		{"writing out of bounds", run(code(i32c(1<<20), i32c(1), 0x36, 2, 0, zero)), Trapped,
			"out of bounds memory access"},
		{"filling out of bounds", run(code(i32c(0), i32c(1), i32c(-1), 0xFC, 0x0B, 0, zero)), Trapped,
			"out of bounds memory access"},
		{"calling what is in no table", func() wat {
			w := run(code(i32c(7), 0x11, 0, 0))
			w.table = []uint32{1}
			return w
		}(), Trapped, "invalid table access"},
		{"dividing by zero", run(code(i32c(1), i32c(0), 0x6D)), Trapped, "divide by zero"},
		{"a block of a terabyte", run(code(i64c(1<<40), call(0), 0xA7),
			extismImport("alloc", []byte{i64}, []byte{i64})), TooMuch, "no memory left"},
		{"blocks without end", run(code(forever(i64c(1<<24), call(0), 0x1A), 0x00),
			extismImport("alloc", []byte{i64}, []byte{i64})), TooMuch, "no memory left"},
		{"giving back what is nobody's", run(code(i64c(77), call(0), i32c(3)), extismImport("free", []byte{i64}, nil)),
			Failed, "returned 3"},
		{"a log entry that is not there",
			run(code(i64c(1<<40), call(0), i32c(1)), extismImport("log_info", []byte{i64}, nil)), Failed, "returned 1"},
		{"a request without a grant",
			run(code(i64c(0), i64c(0), call(0), 0xA7), extismImport("http_request", []byte{i64, i64}, []byte{i64})),
			Refused, "not granted"},
		{"a request out of bounds", run(code(i32c(1), i32c(-1), i32c(0), i32c(0), call(0)), boxHTTP),
			Trapped, "out of bounds"},
		{"an answer out of bounds",
			run(code(i32c(0), i32c(0), i32c(0), i32c(0), call(0), 0x1A, i32c(-1), i32c(9), call(1)),
				boxHTTP, importOf("parley", "answer", []byte{i32, i32}, []byte{i32})), Trapped, "out of bounds"},
		{"sleeping for years",
			withData(command(code(i32c(0), i32c(64), i32c(1), i32c(128), call(0), 0x1A),
				wasi("poll_oneoff", i32, i32, i32, i32)),
				strings.Repeat("\x00", 24)+"\xff\xff\xff\xff\xff\xff\xff\x0f"), Late, "300ms"},
		{"waiting for input for years",
			withData(command(code(forever(i32c(0), i32c(64), i32c(1), i32c(128), call(0), 0x1A)),
				wasi("poll_oneoff", i32, i32, i32, i32)),
				strings.Repeat("\x00", 8)+"\x01"), Late, "300ms"},
		{"a file number of two milliards", command(code(i32c(1), i32c(1<<31-1), call(0), call(1)),
			wasi("fd_renumber", i32, i32), procExit), Failed, "58"},
		{"exiting from a tool", run(code(i32c(7), call(0), zero), procExit), Failed, "code 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if underRace && c.name == "an endless recursion" {
				t.Skip("the race detector takes half a minute for a stack of 50 MB")
			}
			yaml := hostileManifest
			if c.kind != Late {
				yaml = strings.Replace(yaml, "300ms", "20s", 1) // on a busy machine
			}
			m := load(t, h, yaml, c.module.module())
			kept := 0
			call := Call{
				Tool:    "run",
				Account: "a",
				Chat:    "1",
				Log:     func(l Line) { kept += len(l.Text) },
			}
			begun := time.Now()
			r, err := m.Call(t.Context(), call)
			f := AsFault(err)
			if err == nil || f.Kind != c.kind || !strings.Contains(f.Message, c.says) || !f.Blames() {
				t.Errorf("%+v: %s: %v; want %s with %q", r, f.Kind, err, c.kind, c.says)
			}
			if strings.Contains(err.Error(), "wasm stack trace") || strings.Contains(err.Error(), "goroutine") {
				t.Errorf("the error shows what is inside: %v", err)
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("the call took %v", took)
			}
			if r.Memory > manifest.DefaultMemory || kept > maxLog+maxLine {
				t.Errorf("had %d bytes of memory, and %d of its log were kept", r.Memory, kept)
			}
			if n := len(h.pool.slots); n > 1 { // the one of the good plugin
				t.Errorf("%d instances are left", n)
			}
			if _, err := good.Call(t.Context(), Call{Tool: "run", Account: "a"}); err != nil {
				t.Errorf("the other plugin: %v", err)
			}
		})
	}
}

// A plugin that gets many calls at once uses all instances and no more. Calls that wait too
// long fail as busy, and the others are answered.
func TestInstancesAreBounded(t *testing.T) {
	h := host(t, Options{Instances: 3, Wait: 100 * time.Millisecond})
	bomb := load(t, h, hostileManifest, run(code(forever(), 0x00)).module())
	before := runtime.NumGoroutine()
	var calls sync.WaitGroup
	kinds := make(chan Kind, 200)
	for range 200 {
		calls.Go(func() {
			_, err := bomb.Call(context.Background(), Call{Tool: "run", Account: "a"})
			kinds <- AsFault(err).Kind
			if n := len(h.pool.slots); n > 3 {
				t.Errorf("%d instances", n)
			}
		})
	}
	calls.Wait()
	close(kinds)
	count := map[Kind]int{}
	for k := range kinds {
		count[k]++
	}
	if count[Late]+count[Busy] != 200 || count[Late] < 3 || count[Busy] < 100 {
		t.Errorf("%v", count)
	}
	if n := len(h.pool.slots); n != 0 {
		t.Errorf("%d instances are left", n)
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// A module that cannot run is refused when it is loaded, with the reason.
func TestUnfitModulesAreRefusedWithAReason(t *testing.T) {
	h := host(t, Options{})
	whole := run(zero, extismImport("input_length", nil, []byte{i64})).module()
	tools := func(names ...string) string {
		text := "name: x\nversion: 1.0.0\ndescription: x\ntools:\n"
		for _, n := range names {
			text += "  - {name: " + n + ", description: x}\n"
		}
		return text
	}
	type moduleCase struct {
		name, manifest string
		wasm           []byte
		says           string
	}
	for _, c := range []moduleCase{
		{"nothing", tools("run"), nil, "does not begin with"},
		{"a text", tools("run"), []byte("#!/bin/sh"), "does not begin with"},
		{"a component", tools("run"), []byte("\x00asm\x0d\x00\x01\x00"), "only core modules"},
		{"a tool that is not there", tools("run", "other", "third"), whole,
			"other, third, which the module does not export; it exports run"},
		{"a tool with parameters", tools("x"),
			wat{imports: []imported{}, memory: []uint32{1},
				funcs: []function{{export: "x", out: []byte{i32, i32}, code: code(zero, zero)}}}.module(),
			"() -> (i32, i32)"},
		{"an unknown module", tools("run"), run(zero, importOf("env", "abort", nil, nil)).module(),
			"imports env.abort"},
		{"an unknown function", tools("run"), run(zero, importOf("parley", "root_shell", nil, nil)).module(),
			"imports parley.root_shell"},
		{"a function of another shape", tools("run"),
			run(zero, extismImport("alloc", []byte{i32}, []byte{i32})).module(),
			"as (i32) -> (i32), but its type is (i64) -> (i64)"},
		{"a large table", tools("run"), func() []byte {
			w := run(zero)
			w.table = []uint32{1 << 24}
			return w.module()
		}(), "entries"},
		{"a large memory", tools("run"), func() []byte {
			w := run(zero)
			w.memory = []uint32{65536}
			return w.module()
		}(), "memory"},
		{"code that is none", tools("run"), run(code(0xFE, 0xFE)).module(), "not a valid module"},
		{"code that leaves nothing", tools("run"), run(nil).module(), "not a valid module"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := manifest.Parse([]byte(c.manifest))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Load(t.Context(), m, c.wasm); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q in it", err, c.says)
			}
		})
	}
	m, err := manifest.Parse([]byte(tools("run")))
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if module, err := h.Load(t.Context(), m, whole[:n]); err == nil {
			t.Errorf("a module truncated to %d of %d bytes was loaded", n, len(whole))
			_ = module.Close(t.Context())
		}
	}
}

// Random modules are loaded or refused, and end when they run.
func FuzzLoad(f *testing.F) {
	h := host(f, Options{Instances: 4})
	m, err := manifest.Parse([]byte(hostileManifest))
	if err != nil {
		f.Fatal(err)
	}
	m.Tools[0].Timeout = 50 * time.Millisecond
	f.Add(run(zero, extismImport("alloc", []byte{i64}, []byte{i64})).module())
	f.Add(command(forever(), wasi("fd_write", i32, i32, i32, i32)).module())
	f.Add(wat{
		table:  []uint32{3, 9},
		memory: []uint32{1, 2},
		data:   "x",
		start:  "run",
		funcs:  []function{{export: "run", code: nil}},
	}.module())
	f.Fuzz(func(t *testing.T, wasm []byte) {
		module, err := h.Load(context.Background(), m, wasm)
		if err != nil {
			return
		}
		_, _ = module.Call(context.Background(), Call{Tool: "run", Account: "a"})
		_ = module.Close(context.Background())
		if n := len(h.pool.slots); n != 0 {
			t.Errorf("%d instances are left", n)
		}
	})
}

// Accesses outside of the memory that box and plugin share behave as in Extism's own host:
// reads return 0, writes have no effect, and nothing is output.
func TestAccessOutsideOfSharedMemoryHasNoEffect(t *testing.T) {
	h := host(t, Options{})
	for name, w := range map[string]wat{
		"an output that is not there": run(code(i64c(0), i64c(1<<40), call(0), zero),
			extismImport("output_set", []byte{i64, i64}, nil)),
		"an output outside": run(code(i64c(1<<40), i64c(100), call(0), zero),
			extismImport("output_set", []byte{i64, i64}, nil)),
		"an output that wraps around": run(code(i64c(-1), i64c(2), call(0), zero),
			extismImport("output_set", []byte{i64, i64}, nil)),
		"reading outside of the shared memory": run(code(i64c(1<<40), call(0)),
			extismImport("load_u8", []byte{i64}, []byte{i32})),
		"writing outside of the shared memory": run(code(i64c(-8), i64c(1), call(0), zero),
			extismImport("store_u64", []byte{i64, i64}, nil)),
		"reading outside of the input": run(code(i64c(-9), call(0), 0xA7),
			extismImport("input_load_u64", []byte{i64}, []byte{i64})),
		"writing the state of the box": run(code(i64c(64), i64c(-1), call(0), zero),
			extismImport("store_u64", []byte{i64, i64}, nil)),
	} {
		r, err := load(t, h, hostileManifest, w.module()).Call(t.Context(), Call{Tool: "run", Account: "a"})
		if err != nil || r.Content != "" {
			t.Errorf("%s: %q, %v", name, r.Content, err)
		}
	}
}
