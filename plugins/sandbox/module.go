package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"parley/plugins/manifest"
)

// MaxModule bounds a module. Go's have 3 MB, one with a Python in it 30.
const MaxModule = 64 << 20

// Module is a plugin that was loaded.
type Module struct {
	host     *Host
	manifest manifest.Manifest
	code     wazero.CompiledModule
	hooks    hooks  // what was put into it to hold it
	kernel   bool   // it imports functions of the Extism ABI
	command  bool   // a WASI command; otherwise the Extism ABI
	start    string // the function that makes ready a module of the Extism ABI

	mu     sync.Mutex
	closed bool
	web    *web // for what was granted last
}

// Load compiles a module, or finds it in the cache, and checks that it imports
// nothing unknown and has what its manifest says. Errors are ErrUnfit where the
// module is to blame.
func (h *Host) Load(ctx context.Context, m manifest.Manifest, wasm []byte) (*Module, error) {
	if len(wasm) > MaxModule {
		return nil, unfit("the module has %d bytes; at most %d are allowed", len(wasm), MaxModule)
	}
	if _, _, err := manifest.Section(wasm); err != nil {
		return nil, unfit("%v", err)
	}
	wasm, hooks, err := stoppable(wasm)
	if err != nil {
		return nil, err
	}
	code, err := h.compile(paced(ctx, hooks.pace), wasm)
	if err != nil {
		return nil, unfit("not a valid module: %v", err)
	}
	module := &Module{host: h, manifest: m, code: code, hooks: hooks}
	if err := module.verify(); err != nil {
		_ = code.Close(ctx)
		return nil, err
	}
	return module, nil
}

// compile compiles a module, or finds its code in the cache. A cache that is
// damaged is emptied: all that it costs is to compile once more.
func (h *Host) compile(ctx context.Context, wasm []byte) (wazero.CompiledModule, error) {
	h.loading.Lock()
	defer h.loading.Unlock()
	code, err := h.runtime.CompileModule(ctx, wasm)
	if err == nil || h.folder == "" || !strings.Contains(err.Error(), "compilationcache: ") {
		return code, err
	}
	h.log.Warn("the cache of compiled plugins is damaged, and is made anew", "err", err)
	files, globErr := filepath.Glob(filepath.Join(h.folder, "wazero-*", "*"))
	for _, f := range files {
		globErr = errors.Join(globErr, os.Remove(f))
	}
	if globErr != nil {
		return nil, fmt.Errorf("%w; and it cannot be emptied: %w", err, globErr)
	}
	return h.runtime.CompileModule(ctx, wasm)
}

// verify checks imports and exports.
func (m *Module) verify() error {
	for _, f := range m.code.ImportedFunctions() {
		from, name, _ := f.Import()
		if err := m.host.offers(from, name, f); err != nil {
			return err
		}
		m.kernel = m.kernel || from == extismName
	}
	exports := m.code.ExportedFunctions()
	var missing []string
	for _, t := range m.manifest.Tools {
		if exports[t.Name] == nil {
			missing = append(missing, t.Name)
		}
	}
	for _, hook := range m.manifest.Hooks {
		if exports[hook] == nil {
			missing = append(missing, hook)
		}
	}
	if len(missing) > 0 {
		if exports["_start"] == nil {
			return unfit("the manifest has %s, which the module does not export; it exports %s, and is no WASI command either, which exports _start", strings.Join(missing, ", "), exported(exports))
		}
		m.command = true
		return signature(exports["_start"], false)
	}
	for _, t := range m.manifest.Tools {
		if err := signature(exports[t.Name], true); err != nil {
			return err
		}
	}
	for _, hook := range m.Hooks() {
		if err := signature(exports[hook], true); err != nil {
			return err
		}
	}
	for _, start := range []string{"_initialize", "__wasm_call_ctors"} {
		if f := exports[start]; f != nil && len(f.ParamTypes()) == 0 {
			m.start = start
			break
		}
	}
	return nil
}

// offers says what is wrong with an import.
func (h *Host) offers(from, name string, f api.FunctionDefinition) error {
	module := h.offered[from]
	if module == nil {
		return unfit("the module imports %s.%s; there are wasi_snapshot_preview1, extism:host/env and parley", from, name)
	}
	has, ok := module[name]
	if !ok {
		return unfit("the module imports %s.%s, which there is not; docs/plugins/abi.md lists what there is", from, name)
	}
	if !slices.Equal(has.ParamTypes(), f.ParamTypes()) || !slices.Equal(has.ResultTypes(), f.ResultTypes()) {
		return unfit("the module imports %s.%s as %s, and it is %s", from, name, shape(f), shape(has))
	}
	return nil
}

// signature says what is wrong with the shape of a function that is called.
func signature(f api.FunctionDefinition, result bool) error {
	if len(f.ParamTypes()) == 0 && (len(f.ResultTypes()) == 0 || result && slices.Equal(f.ResultTypes(), []api.ValueType{api.ValueTypeI32})) {
		return nil
	}
	return unfit("the export %s is %s; it has to be () -> i32, or () without a result", f.ExportNames()[0], shape(f))
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
		names = append(names, name)
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

// Manifest is what the module was loaded with.
func (m *Module) Manifest() manifest.Manifest { return m.manifest }

// Hooks are those that the module has: what it exports under their names, or
// what the manifest of a WASI command says.
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

// Hook tells whether the module has a hook.
func (m *Module) Hook(name string) bool { return slices.Contains(m.Hooks(), name) }

// Command tells whether the module is a WASI command.
func (m *Module) Command() bool { return m.command }

func (m *Module) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

func (m *Module) gone() *Fault {
	return fault(Gone, "%s was removed, or is being replaced", m.manifest.Name)
}

// Close ends the module. Calls that run may end; none begins any more.
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
