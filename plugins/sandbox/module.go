package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"parley/plugins/manifest"
)

// MaxModule bounds a module. Modules written in Go have 3 MB; one with a Python interpreter
// has 30 MB.
const MaxModule = 64 << 20

// Module is a loaded plugin.
type Module struct {
	host            *Host
	manifest        manifest.Manifest
	code            wazero.CompiledModule
	instrumentation instrumentation // what instrument added
	kernel          bool            // imports functions of the Extism ABI
	command         bool            // a WASI command; otherwise it uses the Extism ABI
	start           string          // function that initializes a module of the Extism ABI

	mu     sync.Mutex
	closed bool
	web    *web // for the HTTP permissions of the newest call
}

// Load compiles a module, or finds it in the cache, and checks that it imports only known
// functions and exports what its manifest lists. The error is an ErrUnfit if the module is
// to blame.
func (h *Host) Load(ctx context.Context, m manifest.Manifest, wasm []byte) (loaded *Module, err error) {
	// A module that makes the compiler panic is unfit.
	defer func() {
		if p := recover(); p != nil {
			h.log.Error("panic while a plugin was loaded", "plugin", m.Name, "panic", p, "stack", string(debug.Stack()))
			loaded, err = nil, unfit("the module cannot be compiled: the compiler failed")
		}
	}()
	if len(wasm) > MaxModule {
		return nil, unfit("the module has %d bytes; at most %d are allowed", len(wasm), MaxModule)
	}
	if _, _, err := manifest.Section(wasm, manifest.SectionName); err != nil {
		return nil, unfit("%v", err)
	}
	wasm, hooks, err := instrument(wasm)
	if err != nil {
		return nil, err
	}
	code, err := h.compile(withTickListener(ctx, hooks.tick), wasm)
	if err != nil {
		return nil, unfit("not a valid module: %v", err)
	}
	module := &Module{
		host:            h,
		manifest:        m,
		code:            code,
		instrumentation: hooks,
	}
	if err := module.verify(); err != nil {
		_ = code.Close(ctx)
		return nil, err
	}
	return module, nil
}

// compile compiles a module, or finds it in the cache. It empties a damaged cache, at the
// cost of compiling once more.
func (h *Host) compile(ctx context.Context, wasm []byte) (wazero.CompiledModule, error) {
	h.loading.Lock()
	defer h.loading.Unlock()
	code, err := h.runtime.CompileModule(ctx, wasm)
	if err == nil || h.folder == "" || !strings.Contains(err.Error(), "compilationcache: ") {
		return code, err
	}
	h.log.Warn("the cache of compiled plugins is damaged; emptying it", "err", err)
	files, globErr := filepath.Glob(filepath.Join(h.folder, "wazero-*", "*"))
	for _, f := range files {
		globErr = errors.Join(globErr, os.Remove(f))
	}
	if globErr != nil {
		return nil, fmt.Errorf("%w; and it cannot be cleared: %w", err, globErr)
	}
	return h.runtime.CompileModule(ctx, wasm)
}

// verify checks imports and exports.
func (m *Module) verify() error {
	for _, f := range m.code.ImportedFunctions() {
		from, name, _ := f.Import()
		if err := m.host.checkImport(from, name, f); err != nil {
			return err
		}
		m.kernel = m.kernel || from == extismName
	}
	exports := m.code.ExportedFunctions()
	if start := m.instrumentation.start; start != "" {
		if err := callable("the start function", exports[start], false); err != nil {
			return err
		}
	}
	var missing []string
	promised := append(m.toolNames(), m.manifest.Hooks...)
	for _, name := range promised {
		if exports[name] == nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		if exports["_start"] == nil {
			return unfit("the manifest lists %s, which the module does not export; it exports %s, and it is not "+
				"a WASI command, which exports _start", strings.Join(missing, ", "), exported(exports))
		}
		m.command = true
		return callable("the export _start", exports["_start"], false)
	}
	for _, name := range append(promised, m.Hooks()...) {
		if err := callable("the export "+name, exports[name], true); err != nil {
			return err
		}
	}
	for _, start := range []string{"_initialize", "__wasm_call_ctors"} {
		if f := exports[start]; f != nil {
			m.start = start
			return callable("the export "+start, f, false)
		}
	}
	return nil
}

// checkImport returns an error for an import that is unknown or has another type.
func (h *Host) checkImport(from, name string, f api.FunctionDefinition) error {
	module, shown := h.imports[from], importName(from, name)
	if module == nil {
		return unfit("the module imports %s; the host modules are wasi_snapshot_preview1, extism:host/env and "+
			"parley", shown)
	}
	has, ok := module[name]
	if !ok {
		return unfit("the module imports %s, which does not exist; docs/plugins/abi.md lists the functions", shown)
	}
	if !slices.Equal(has.ParamTypes(), f.ParamTypes()) || !slices.Equal(has.ResultTypes(), f.ResultTypes()) {
		return unfit("the module imports %s as %s, but its type is %s", shown, shape(f), shape(has))
	}
	return nil
}

// importName formats an import for people: it quotes names that could control a terminal,
// and cuts long ones.
func importName(from, name string) string { return readable(from) + "." + readable(name) }

func readable(name string) string {
	if quoted := strconv.Quote(name); len(name) > 200 || quoted != `"`+name+`"` {
		return fmt.Sprintf("%.200q", name)
	}
	return name
}

// callable returns an error if the box cannot call a function, which what describes. An
// imported function is refused: it would be called without the module whose memory it uses.
func callable(what string, f api.FunctionDefinition, result bool) error {
	if from, name, imported := f.Import(); imported {
		return unfit("%s is the imported function %s; it must be defined in the module", what,
			importName(from, name))
	}
	if len(f.ParamTypes()) == 0 &&
		(len(f.ResultTypes()) == 0 || result && slices.Equal(f.ResultTypes(), []api.ValueType{api.ValueTypeI32})) {
		return nil
	}
	allowed := "()"
	if result {
		allowed = "() -> i32, or ()"
	}
	return unfit("%s is %s; it must be %s without a result", what, shape(f), allowed)
}

func shape(f api.FunctionDefinition) string {
	list := func(types []api.ValueType) string {
		var names []string
		for _, t := range types {
			names = append(names, api.ValueTypeName(t))
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	return fmt.Sprintf("%s -> %s", list(f.ParamTypes()), list(f.ResultTypes()))
}

func exported(exports map[string]api.FunctionDefinition) string {
	var names []string
	for name := range exports {
		names = append(names, readable(name))
	}
	if len(names) == 0 {
		return "no functions"
	}
	slices.Sort(names)
	if len(names) > 20 {
		names = append(names[:20], "…")
	}
	return strings.Join(names, ", ")
}

// Manifest returns the manifest that the module was loaded with.
func (m *Module) Manifest() manifest.Manifest { return m.manifest }

// Hooks returns the hooks that the module exports, or those in the manifest of a WASI
// command.
func (m *Module) Hooks() []string {
	if m.command {
		return m.manifest.Hooks
	}
	var hooks []string
	for _, name := range []string{manifest.OnTurn, manifest.OnChatEnd} {
		if m.code.ExportedFunctions()[name] != nil {
			hooks = append(hooks, name)
		}
	}
	return hooks
}

func (m *Module) toolNames() []string {
	var names []string
	for _, t := range m.manifest.Tools {
		names = append(names, t.Name)
	}
	return names
}

// Hook reports whether the module has a hook.
func (m *Module) Hook(name string) bool { return slices.Contains(m.Hooks(), name) }

// Command reports whether the module is a WASI command.
func (m *Module) Command() bool { return m.command }

func (m *Module) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

func (m *Module) closedFault() *Fault {
	return fault(Gone, "%s was removed, or is being replaced", m.manifest.Name)
}

// Close closes the module. Running calls may end; new ones fail.
func (m *Module) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	if m.web != nil {
		m.web.close()
	}
	m.mu.Unlock()
	m.host.pool.drop(func(i *instance) bool { return i.module == m })
	return m.code.Close(ctx)
}
