package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"parley/plugins/manifest"
)

// A module may import functions only. The error names the other import. With the memory of
// the Extism kernel a module could write what the box reads.
func TestOnlyFunctionsMayBeImported(t *testing.T) {
	h := host(t, Options{})
	m, err := manifest.Parse([]byte(hostileManifest))
	if err != nil {
		t.Fatal(err)
	}
	memory, table, global, tag := code(2, 0, 0), code(1, 0x70, 0, 0), code(3, i32, 1), code(4, 0, 0)
	for _, c := range []struct {
		from, name string
		what       []byte
		says       string
	}{
		{extismName, "memory", memory, "imports the memory extism:host/env.memory"},
		{extismName, "memory", code(2, 1, uleb(1024), uleb(1024)), "imports the memory extism:host/env.memory"},
		{"parley", "memory", memory, "imports the memory parley.memory"},
		{"wasi_snapshot_preview1", "memory", memory, "imports the memory wasi_snapshot_preview1.memory"},
		{"box", "alloc", memory, "imports the memory box.alloc"},
		{"env", "", memory, "imports the memory env."},
		{extismName, "__indirect_function_table", table, "imports the table extism:host/env.__indirect_function_table"},
		{extismName, "__stack_pointer", global, "imports the global extism:host/env.__stack_pointer"},
		{"\x1b[2J", "\nx", global, `imports the global "\x1b[2J"."\nx"`},
		{extismName, "tag", tag, "not a valid module"},
	} {
		w := run(zero, extismImport("alloc", []byte{i64}, []byte{i64}),
			imported{from: c.from, name: c.name, what: c.what})
		if c.what[0] == 2 {
			w.memory = nil
		}
		module, err := h.Load(t.Context(), m, w.module())
		if _, ok := err.(ErrUnfit); !ok || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v; want %q in it", c.from, c.name, err, c.says)
		}
		if err == nil {
			_ = module.Close(t.Context())
		}
		if _, err := Instrument(w.module()); err == nil {
			t.Errorf("%s %s: instrument accepted it", c.from, c.name)
		}
	}
}

// kernelMemory returns a module that imports the memory of the Extism kernel, and writes
// there that its output begins before the memory.
func kernelMemory() []byte {
	store := []byte{0x37, 3, 0} // i64.store
	body := code(i32c(stateOutput), i64c(-4096), store, i32c(stateOutputLength), i64c(8), store, zero)
	memory := imported{from: extismName, name: "memory", what: code(2, 1, uleb(1024), uleb(1024))}
	w := run(body, extismImport("output_length", nil, []byte{i64}), memory)
	w.funcs = append(w.funcs, function{export: manifest.OnChatEnd, out: []byte{i32}, code: body})
	w.memory = nil
	return w.module()
}

// Tests of other packages install testdata/hostile/kernel-memory.wasm. It is the module
// that is refused here.
func TestTheStoredHostileModuleIsTheRefusedOne(t *testing.T) {
	wasm, err := os.ReadFile("testdata/hostile/kernel-memory.wasm")
	if err != nil || !bytes.Equal(wasm, kernelMemory()) {
		t.Errorf("%d bytes, want %x; %v", len(wasm), kernelMemory(), err)
	}
	const words = "imports the memory extism:host/env.memory"
	if _, _, err := instrument(wasm); err == nil || !strings.Contains(err.Error(), words) {
		t.Error(err)
	}
}

// The box calls only functions that the module defines. A re-exported host function would
// run outside of WebAssembly.
func TestOnlyFunctionsOfTheModuleAreCalled(t *testing.T) {
	h := host(t, Options{Instances: 2})
	m, err := manifest.Parse([]byte(hostileManifest))
	if err != nil {
		t.Fatal(err)
	}
	passedOn := func(i imported, export string) wat {
		w := run(zero, i)
		w.again = map[string]int{export: 0}
		if export == "run" || export == "_start" { // in place of the tool
			w.funcs = nil
		}
		return w
	}
	beside := func(name string, out ...byte) wat {
		w := run(zero)
		w.funcs = append(w.funcs, function{export: name, out: out, code: code(bytes.Repeat(zero, len(out)))})
		return w
	}
	started := func(w wat, name string) wat { w.start = name; return w }
	talk, reset := importOf("parley", "conversation", nil, []byte{i32}), importOf(extismName, "reset", nil, nil)
	for name, c := range map[string]struct {
		module wat
		says   string
	}{
		"a tool":                      {passedOn(talk, "run"), "export run is the imported function parley"},
		"_start":                      {passedOn(reset, "_start"), "export _start is the imported function extism"},
		"_initialize":                 {passedOn(talk, "_initialize"), "export _initialize is the imported"},
		"an _initialize with results": {beside("_initialize", i32, i32), "export _initialize is () -> (i32, i32)"},
		"a start function": {started(passedOn(boxHTTP, "x"), "x"),
			"start function is the imported function"},
		"a start function with results": {started(beside("begin", i32), "begin"), "start function is () -> (i32)"},
	} {
		t.Run(name, func(t *testing.T) {
			module, err := h.Load(t.Context(), m, c.module.module())
			if err == nil {
				t.Error("the module was loaded")
				_, err = module.Call(t.Context(), Call{Tool: "run", Account: "a"})
				_ = module.Close(t.Context())
			}
			if !strings.Contains(fmt.Sprint(err), c.says) {
				t.Errorf("%v; want %q in it", err, c.says)
			}
		})
	}
}

// Memories that WebAssembly 2.0 does not have are refused.
func TestOddMemoriesAreRefused(t *testing.T) {
	h := host(t, Options{})
	m, err := manifest.Parse([]byte(hostileManifest))
	if err != nil {
		t.Fatal(err)
	}
	for name, section := range map[string][]byte{
		"two": code(2, 0, 1, 0, 1), "shared": code(1, 3, 1, 1), "of 64 bits": code(1, 4, 1),
		"with a page size":             code(1, 8, 1, 0),
		"the least more than the most": code(1, 1, 2, 1), "more than there is": code(1, 0, uleb(1<<32-1)),
	} {
		w := run(zero)
		w.memory = nil
		p, _ := split(w.module())
		p.set(memorySection, section)
		if module, err := h.Load(t.Context(), m, p.join()); err == nil {
			t.Errorf("%s: the module was loaded", name)
			_ = module.Close(t.Context())
		}
	}
}

// A host call that names the same bytes a million times is ended like a loop, and costs the
// box no memory.
func TestALongHostCallIsStopped(t *testing.T) {
	h := host(t, Options{})
	const many = 1 << 19
	for name, c := range map[string]struct {
		fd   int64
		kind Kind
	}{"to standard error": {2, Late}, "to the answer": {1, TooMuch}} {
		t.Run(name, func(t *testing.T) {
			write := wasi("fd_write", i32, i32, i32, i32)
			w := command(code(i32c(c.fd), i32c(0), i32c(many), i32c(8*many), call(0), 0x1A), write)
			// 56 MiB from address 0
			w.memory, w.data = []uint32{1000}, strings.Repeat("\x00\x00\x00\x00\x00\x00\x80\x03", many)
			ended := make(chan error, 1)
			module := load(t, h, hostileManifest, w.module())
			go func() {
				_, err := module.Call(context.Background(), Call{Tool: "run", Account: "a", Log: func(Line) {}})
				ended <- err
			}()
			select {
			case err := <-ended:
				if AsFault(err).Kind != c.kind {
					t.Error(err)
				}
			case <-time.After(2 * time.Minute):
				t.Fatal("the call does not end") // and so does the process of the test
			}
		})
	}
}

// heap returns the size of the Go heap in bytes.
func heap() int64 {
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	return int64(now.HeapAlloc)
}

// The table of blocks counts towards the plugin's memory, and is released after the call
// that made it large.
func TestTheTableOfBlocksCountsAsMemory(t *testing.T) {
	if underRace {
		t.Skip("it measures memory, in the run without the race detector")
	}
	h := host(t, Options{})
	alloc := extismImport("alloc", []byte{i64}, []byte{i64})
	yaml := strings.Replace(hostileManifest, "300ms", "20s", 1)
	c := Call{Tool: "run", Account: "a"}
	bomb := load(t, h, yaml, run(code(forever(i64c(1), call(0), 0x1A), 0x00), alloc).module())
	before := heap()
	i := bomb.newInstance(c)
	h.pool.slots <- struct{}{}
	if _, err := i.call(t.Context(), c, time.Minute); AsFault(err).Kind != TooMuch {
		t.Error(err)
	}
	blocks, held := int64(len(i.kernel.blocks)), heap()-before
	t.Logf("%d blocks of 1 byte take %d bytes each in the table", blocks, held/blocks)
	if charged := blocks * blockCost; held > charged || blocks*(16+blockCost) > manifest.DefaultMemory {
		t.Errorf("%d blocks: their table has %d KB, and %d KB were charged", blocks, held>>10, charged>>10)
	}
	i.close()
	if kept := heap() - before; kept > 4<<20 {
		t.Errorf("%d KB are still in use after the instance was closed", kept>>10)
	}

	again := load(t, h, yaml, run(code(times(100_000, 0, i64c(1), call(0), 0x1A), zero), alloc).module())
	for range 12 { // more than fit together
		r, err := again.Call(t.Context(), c)
		if err != nil || r.Memory < 100_000*blockCost {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if kept := heap() - before; kept > 4<<20 {
		t.Errorf("an idle instance uses %d KB", kept>>10)
	}
}

// The state that the kernel shares with the box is checked against the size of the kernel's
// memory.
func TestTheStateOfTheKernelIsNotTrusted(t *testing.T) {
	h := host(t, Options{})
	m := load(t, h, hostileManifest, counting())
	for name, state := range map[string][6]uint64{ // end, input and its length, output and its length, failure
		"an output before the memory":  {200, 0, 0, 1<<64 - 4096, 8, 0},
		"an output in the state":       {200, 0, 0, 64, 8, 0},
		"an output that wraps around":  {200, 0, 0, 144, 1<<64 - 8, 0},
		"an output beyond the blocks":  {1 << 63, 0, 0, 4096, 8, 0},
		"an output beyond the memory":  {1<<64 - 1, 0, 0, kernelSize, 8, 0},
		"all bits":                     {1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 0},
		"an error that is no block":    {200, 0, 0, 0, 0, 1<<64 - 1},
		"an error in the state":        {200, 0, 0, 0, 0, 64},
		"an end before the beginning":  {0, 0, 0, 0, 8, 0},
		"an end in the last few bytes": {kernelSize - 1, 0, 0, kernelSize - 4, 8, 0},
	} {
		i := m.newInstance(Call{})
		h.pool.slots <- struct{}{}
		if _, err := i.call(t.Context(), Call{Tool: "run"}, time.Minute); err != nil {
			t.Fatal(err)
		}
		for n, v := range state {
			i.kernel.set(stateEnd+8*n, v)
		}
		if said, err := i.output(0); err == nil || said != "" {
			t.Errorf("%s: %q, %v", name, said, err)
		}
		m.release(i, true)
		if r, err := m.Call(t.Context(), Call{Tool: "run"}); err != nil || r.Content != "2" {
			t.Errorf("%s: the next call: %q, %v", name, r.Content, err)
		}
		h.pool.drop(func(*instance) bool { return true })
	}
}

// pathOpen returns a module that opens, for writing, a path of n bytes at address 1024 in
// the first folder, and exits with the error number.
func pathOpen(n int64) wat {
	where, rights := code(i32c(3), i32c(0), i32c(1024), i32c(n)), code(i64c(-1), i64c(-1))
	return command(code(where, i32c(0), rights, i32c(0), i32c(0), call(0), call(1)),
		wasi("path_open", i32, i32, i32, i32, i32, i64, i64, i32, i32), procExit)
}

// A path of megabytes is refused before it is split.
func TestALongPathIsRefused(t *testing.T) {
	const long = 32 << 20
	w := pathOpen(long)
	w.memory, w.data = []uint32{1000}, strings.Repeat("\x00", 1024)+strings.Repeat("a/", long/2)
	m := load(t, host(t, Options{}), strings.Replace(hostileManifest, "300ms", "20s", 1), w.module())
	granted := manifest.Permissions{Files: []manifest.File{{Path: t.TempDir(), As: "/x", Mode: manifest.Write}}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := m.Call(t.Context(), Call{Tool: "run", Account: "a", Granted: granted})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "code 37") { // ENAMETOOLONG
		t.Error(err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 6*long {
		t.Errorf("%d MB were allocated", n>>20)
	}
}

// A request with megabytes of headers is refused before it is parsed.
func TestALargeRequestIsRefused(t *testing.T) {
	var headers strings.Builder
	for n := range 1 << 17 {
		fmt.Fprintf(&headers, `"%x":"",`, n)
	}
	text := `{"url":"https://example.test","headers":{` + headers.String() + `"x":""}}`
	w := run(code(i32c(0), i32c(int64(len(text))), i32c(0), i32c(0), call(0)), boxHTTP)
	w.memory, w.data = []uint32{100}, text
	m := load(t, host(t, Options{}), hostileManifest+"permissions: {http: [{host: example.test}]}\n", w.module())
	asked := false
	carry := carrier(func(*http.Request) (*http.Response, error) { asked = true; return nil, errors.New("no") })
	c := Call{
		Tool:      "run",
		Account:   "a",
		Granted:   m.Manifest().Permissions,
		Transport: carry,
	}
	_, err := m.Call(t.Context(), c)
	if err == nil || asked {
		t.Errorf("the request was made; %v", err)
	}
}

// Variables with empty names and values count too.
func TestEmptyVariablesCountAsMemory(t *testing.T) {
	if underRace {
		t.Skip("it measures memory, in the run without the race detector")
	}
	i := &instance{}
	n, err := 0, error(nil)
	for ; err == nil && n <= maxVars/varCost; n++ {
		err = i.setVar(fmt.Sprint(n), nil)
	}
	if AsFault(err).Kind != TooMuch || n > maxVars/varCost {
		t.Errorf("%d variables: %v", n, err)
	}
}

// carrier is an http.RoundTripper.
type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// talker is a conversation that panics.
type talker struct{}

func (talker) Transcript(context.Context, bool) (json.RawMessage, error) {
	panic("of the conversation")
}

// logging returns a module that writes text without a line break to standard error.
func logging() []byte {
	w := command(code(i32c(2), i32c(0), i32c(1), i32c(32), call(0), 0x1A), wasi("fd_write", i32, i32, i32, i32))
	w.data = "\x08\x00\x00\x00\x04\x00\x00\x00oops"
	return w.module()
}

// If the box panics in a call, only that call fails: its instance is released, so more
// calls succeed than there are instances, and the cause is in the box's log.
func TestAPanicOfTheBoxIsAFault(t *testing.T) {
	h := host(t, Options{Instances: 2, Wait: 50 * time.Millisecond})
	talk := importOf("parley", "conversation", nil, []byte{i32})
	seeing := manifest.Permissions{Conversation: manifest.Transcript}
	for name, c := range map[string]struct {
		wasm []byte
		call Call
	}{
		"in a host function": {run(call(0), talk).module(), Call{Conversation: talker{}, Granted: seeing}},
		"in the log":         {logging(), Call{Log: func(Line) { panic("of the log") }}},
	} {
		t.Run(name, func(t *testing.T) {
			m := load(t, h, hostileManifest, c.wasm)
			c.call.Tool, c.call.Account = "run", "a"
			for range 5 {
				_, err := m.Call(t.Context(), c.call)
				if f := AsFault(err); err == nil || f.Kind != Trapped || !f.Blames() ||
					strings.Contains(f.Message, "goroutine") {
					t.Fatalf("%s: %v", f.Kind, err)
				}
			}
			if n := len(h.pool.slots); n != 0 {
				t.Errorf("%d instances are left", n)
			}
		})
	}
}

// Types that do not exist are refused: the runtime panics when a function of such a type is
// called.
func TestMissingTypesAreRefused(t *testing.T) {
	h := host(t, Options{})
	m, err := manifest.Parse([]byte(hostileManifest))
	if err != nil {
		t.Fatal(err)
	}
	second := wat{memory: []uint32{1},
		funcs: []function{{export: "run", out: []byte{i32}, code: code(call(1), zero)}, {}}}
	indirect := run(code(zero, 0x11, 9, 0))
	indirect.table = []uint32{1}
	for name, c := range map[string]struct {
		module  wat
		section byte
		is      []byte
	}{
		"of a function":          {second, functionSection, code(2, 0, 9)},
		"of an imported one":     {run(zero), importSection, code(1, text("parley"), text("http"), 0, 9)},
		"of a block":             {run(code(0x02, 9, 0x0B, zero)), 0, nil},
		"of an indirect call":    {indirect, 0, nil},
		"of more than there are": {second, functionSection, code(2, 0, 1, 1)},
	} {
		p, _ := split(c.module.module())
		if c.is != nil {
			p.set(c.section, c.is)
		}
		if _, err := h.Load(t.Context(), m, p.join()); err == nil ||
			!strings.Contains(err.Error(), "not a valid module") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// broken is a runtime whose compiler panics.
type broken struct{ wazero.Runtime }

func (broken) CompileModule(context.Context, []byte) (wazero.CompiledModule, error) {
	panic("of the compiler")
}

// A module that makes the compiler panic is refused, after a restart too.
func TestAModuleThatPanicsTheCompilerIsRefused(t *testing.T) {
	h := host(t, Options{})
	whole := h.runtime
	h.runtime = broken{whole}
	defer func() { h.runtime = whole }()
	m, err := manifest.Parse([]byte(hostileManifest))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := h.Load(t.Context(), m, counting())
		if !errors.As(err, new(ErrUnfit)) || strings.Contains(err.Error(), "of the compiler") {
			t.Error(err)
		}
	}
}

// Control characters of a plugin do not reach the operator's terminal.
func TestControlCharactersAreNotShown(t *testing.T) {
	w := command(saying(i32c(1), call(1)), wasi("fd_write", i32, i32, i32, i32), procExit)
	w.data = said("\x1b[2J\x1b]0;gone\x07 \xc2\x9b1m\r\tno\xff\n")
	var log []string
	m := load(t, host(t, Options{}), hostileManifest, w.module())
	_, err := m.Call(t.Context(), Call{Tool: "run", Account: "a", Log: func(l Line) { log = append(log, l.Text) }})
	const want = "�[2J�]0;gone� �1m�\tno�"
	if err == nil || err.Error() != want || len(log) != 1 || log[0] != want {
		t.Errorf("%q, %q", err, log)
	}
}
