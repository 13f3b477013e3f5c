// Package sandbox runs plugins: WebAssembly modules that can reach only what they were
// granted. It bounds their time, memory and output, and survives whatever they do.
package sandbox

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"parley/plugins/manifest"
)

// Options are the options of a Host.
type Options struct {
	// Cache is the folder for compiled code; empty means no cache. Whoever can write there
	// decides what code runs, so only the box may.
	Cache string
	// Instances bounds the instances of all plugins together, idle ones included; 0 means
	// DefaultInstances.
	Instances int
	// Wait is how long a call waits for an instance; 0 means DefaultWait.
	Wait time.Duration
	Log  *slog.Logger // nil logs nothing

	config wazero.RuntimeConfig // nil is the runtime's default; tests set it
}

const (
	// DefaultInstances with 64 MiB each, the usual limit, are a gigabyte at worst, and in
	// practice a twentieth of that.
	DefaultInstances = 16
	// DefaultWait is as long as a user accepts to wait in addition to the time of the tool.
	DefaultWait = 3 * time.Second
)

// Host loads and calls modules. Many goroutines may use it.
type Host struct {
	runtime    wazero.Runtime
	cache      wazero.CompilationCache
	folder     string // of the cache; empty if there is none
	log        *slog.Logger
	wait       time.Duration
	pool       pool
	loading    sync.Mutex // the runtime compiles one module at a time
	kernels    *kernels
	contention contention
	imports    map[string]map[string]api.FunctionDefinition // functions that modules may import, by module and name

	resolver *net.Resolver // nil is the system's; tests set it
}

// New opens a host.
func New(ctx context.Context, o Options) (*Host, error) {
	h := &Host{log: o.Log, wait: o.Wait, folder: o.Cache}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.wait == 0 {
		h.wait = DefaultWait
	}
	if o.Instances == 0 {
		o.Instances = DefaultInstances
	}
	h.pool.slots = make(chan struct{}, o.Instances)
	config := o.config
	if config == nil {
		config = wazero.NewRuntimeConfig()
	}
	config = config.
		WithCoreFeatures(api.CoreFeaturesV2).
		WithMemoryLimitPages(manifest.MaxMemory >> 16).
		WithDebugInfoEnabled(false)
	if o.Cache != "" {
		cache, err := wazero.NewCompilationCacheWithDir(o.Cache)
		if err != nil {
			return nil, fmt.Errorf("open the cache of compiled plugins: %w", err)
		}
		h.cache = cache
		config = config.WithCompilationCache(cache)
	}
	h.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err := h.link(ctx, o.Instances); err != nil {
		_ = h.Close(ctx)
		return nil, err
	}
	return h, nil
}

// link adds the functions that modules may import to the runtime.
func (h *Host) link(ctx context.Context, instances int) error {
	wasi := h.runtime.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(wasi)
	// The runtime's own fd_renumber allocates a table as long as the number that a module
	// renumbers to: two billion are 16 GB. No plugin in use needs it.
	wasi.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(_ context.Context, s []uint64) { s[0] = notSupported }),
		[]api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, []api.ValueType{api.ValueTypeI32}).Export("fd_renumber")
	system, err := wasi.Instantiate(ctx)
	if err != nil {
		return fmt.Errorf("link WASI: %w", err)
	}
	if err := linkExtism(ctx, h.runtime); err != nil {
		return fmt.Errorf("link the Extism ABI: %w", err)
	}
	if h.kernels, err = h.newKernels(ctx, instances); err != nil {
		return fmt.Errorf("load the kernel of the Extism ABI: %w", err)
	}
	own, err := linkParley(ctx, h.runtime)
	if err != nil {
		return fmt.Errorf("link the functions of parley: %w", err)
	}
	h.imports = map[string]map[string]api.FunctionDefinition{
		system.Name(): system.ExportedFunctionDefinitions(),
		extismName:    h.kernels.code.ExportedFunctions(),
		own.Name():    own.ExportedFunctionDefinitions(),
	}
	return nil
}

// notSupported is ENOTSUP of WASI.
const notSupported = 58

// Close closes the host. No call may be running.
func (h *Host) Close(ctx context.Context) error {
	h.pool.drop(func(*instance) bool { return true })
	if h.kernels != nil {
		h.kernels.close()
	}
	err := h.runtime.Close(ctx)
	if h.cache != nil {
		if e := h.cache.Close(ctx); err == nil {
			err = e
		}
	}
	return err
}
