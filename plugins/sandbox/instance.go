package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"parley/plugins/manifest"
)

// instance is a running module with its own memory. One goroutine uses it at a time.
type instance struct {
	module      *Module
	owner       owner
	granted     manifest.Permissions // permissions that it was made with
	idleTimer   *time.Timer          // closes it when it was idle too long
	mod         api.Module
	halt        api.MutableGlobal // set to 1 to stop the module
	memory      *memory
	limit       int64        // of its memory, in bytes
	used        atomic.Int64 // bytes of memory, those of the kernel included
	kernel      *kernel      // nil if the module does not import it
	calls       map[string]api.Function
	vars        map[string][]byte // of the Extism ABI, if the plugin has no storage
	files       *folders
	initialized bool // the language runtime was initialized
	current     *callContext
	stdin       bytes.Reader
	stdout      output
	stderr      lines
}

// owner is the account and chat that may use an instance.
type owner struct{ account, chat string }

// callContext is the context of a call in an instance. Host functions get it.
type callContext struct {
	context.Context
	cancel   context.CancelFunc
	fault    *Fault // why the box has ended the call, other than a timeout
	instance *instance
	call     Call
	log      lines
	throttle throttle

	answer   []byte            // result of the last host function
	requests int               // number of HTTP requests
	status   int               // of the last response
	headers  map[string]string // of the last response
}

// callOf returns the call that a host function runs in.
func callOf(ctx context.Context) *callContext {
	if r, ok := ctx.(*callContext); ok {
		return r
	}
	r, _ := ctx.Value(callContextKey{}).(*callContext)
	return r
}

type callContextKey struct{}

func (r *callContext) Value(key any) any {
	if key == (callContextKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// stop ends the call with f, at the next check in the code.
func (r *callContext) stop(f *Fault) {
	r.fault = f
	r.cancel()
}

// fail ends the call with f at once, from a host function.
func (r *callContext) fail(f *Fault) { r.stop(f); panic(f) }

// newInstance returns an instance for c, which is not open yet.
func (m *Module) newInstance(c Call) *instance {
	i := &instance{
		module:  m,
		owner:   m.ownerOf(c),
		granted: c.Granted,
		limit:   c.Granted.Memory,
		calls:   map[string]api.Function{},
	}
	i.stdout.in = i
	if i.limit == 0 {
		i.limit = manifest.DefaultMemory
	}
	return i
}

// allocate reserves more bytes of the memory limit, or returns some.
func (i *instance) allocate(more int) bool {
	if i.used.Add(int64(more)) > i.limit {
		i.used.Add(-int64(more))
		return false
	}
	return true
}

// open gives the instance its memory and folders, and instantiates the module, which may
// already run code of the module.
func (i *instance) open(r *callContext) (err error) {
	name := i.module.manifest.Name
	if i.memory, err = reserve(i.limit, &i.used); err != nil {
		return fault(Busy, "no memory for %s: %v", name, err)
	}
	if i.module.kernel {
		if i.kernel, err = i.module.host.kernels.acquire(); err != nil {
			return fault(Busy, "no memory for %s: %v", name, err)
		}
		i.kernel.allocate = i.allocate
	}
	config, err := i.config(r.call)
	if err != nil {
		return err
	}
	ctx := experimental.WithMemoryAllocator(r,
		experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory {
			return i.memory
		}))
	ctx = experimental.WithImportResolver(ctx, func(name string) api.Module {
		if name == extismName && i.kernel != nil {
			return i.kernel.mod
		}
		return nil
	})
	i.mod, err = i.module.host.runtime.InstantiateModule(ctx, i.module.code, config)
	switch {
	case err != nil && i.module.isClosed():
		return i.module.closedFault()
	case err != nil && r.Err() == nil && !errors.As(err, new(*Fault)):
		return r.trapped(name+" cannot be started: ", err)
	case err == nil:
		i.halt, _ = i.mod.ExportedGlobal(i.module.instrumentation.stop).(api.MutableGlobal)
	}
	return err
}

// The variables, or settings, with the time and the caller's id.
const (
	timeName   = "PARLEY_TIME"
	callerName = "PARLEY_CALLER"
)

// config returns the environment of the instance.
func (i *instance) config(c Call) (wazero.ModuleConfig, error) {
	files, seen, err := openFolders(c.Granted.Files)
	if err != nil {
		return nil, err
	}
	i.files = files
	i.files.ended = func() bool { return i.current != nil && i.current.Err() != nil }
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions().
		WithSysWalltime().WithSysNanotime().WithRandSource(rand.Reader).
		WithNanosleep(i.sleep).WithOsyield(func() {}).
		WithStdin(&i.stdin).WithStdout(&i.stdout).WithStderr(&i.stderr).WithFSConfig(seen)
	if !i.module.command {
		config = config.WithStdout(&i.stderr) // stdout is not the answer
	}
	for _, name := range c.Granted.Env {
		if value, ok := os.LookupEnv(name); ok {
			config = config.WithEnv(name, value)
		}
	}
	if !i.module.command {
		return config, nil
	}
	config = config.WithArgs(i.module.manifest.Name, c.Tool).WithEnv(timeName,
		c.Time.Format(time.RFC3339)).WithEnv(callerName, c.Caller)
	for _, s := range i.module.manifest.Settings {
		value, ok := c.Settings[s.Name]
		if !ok {
			value = s.Default
		}
		if ok || value != "" {
			config = config.WithEnv("SETTING_"+strings.ToUpper(s.Name), value)
		}
	}
	return config, nil
}

// sleep sleeps until the call's time is up.
func (i *instance) sleep(ns int64) {
	if i.current == nil || ns <= 0 {
		return
	}
	t := time.NewTimer(time.Duration(ns))
	defer t.Stop()
	select {
	case <-t.C:
	case <-i.current.Done():
	}
}

// call runs c, for limit at most. Code of modules runs nowhere else, and call recovers from
// panics.
func (i *instance) call(ctx context.Context, c Call, limit time.Duration) (content string, err error) {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := &callContext{
		Context:  timed,
		cancel:   cancel,
		instance: i,
		call:     c,
		throttle: throttle{begun: time.Now()},
	}
	r.log = lines{emit: c.Log, level: "info", ended: r.Err}
	i.stderr = r.log
	i.current = r
	defer func() {
		if p := recover(); p != nil {
			content, err = "", r.panicked(p)
		}
		i.current = nil
		r.throttle.end()
	}()
	content, err = i.run(r)
	i.stderr.flush()
	if err == nil {
		err = r.endedFault(limit)
	} else {
		err = r.faultOf(err, limit)
	}
	if err != nil {
		return "", err
	}
	return content, nil
}

// enter calls a function of the module that has no parameters.
func (i *instance) enter(r *callContext, name string) (code int32, err error) {
	f := i.calls[name] // the runtime allocates a stack for each function
	if f == nil {
		f = i.mod.ExportedFunction(name)
		i.calls[name] = f
	}
	var result [1]uint64
	err = f.CallWithStack(r, result[:])
	return api.DecodeI32(result[0]), err
}

// endedFault returns the fault of a call that returned after it was stopped.
func (r *callContext) endedFault(limit time.Duration) error {
	if r.Err() == nil {
		return nil
	}
	return r.faultOf(r.Err(), limit)
}

// faultOf returns the fault for an error of the runtime.
func (r *callContext) faultOf(err error, limit time.Duration) error {
	var f *Fault
	switch {
	case errors.As(err, &f):
		return f
	case r.fault != nil:
		return r.fault
	case errors.Is(r.Err(), context.DeadlineExceeded):
		return fault(Late, "it took longer than %v", limit)
	case r.Err() != nil:
		return fault(Gone, "the caller canceled the call")
	}
	if exit, ok := errors.AsType[*sys.ExitError](err); ok {
		return r.instance.exited(exit.ExitCode())
	}
	return r.trapped("", err)
}

// trapped returns the fault for an error of the runtime, with the prefix before.
func (r *callContext) trapped(before string, err error) error {
	if strings.Contains(err.Error(), recoveredSuffix+"\n") {
		return r.boxFailed(err.Error())
	}
	return r.instance.trapped(before, err)
}

// panicked returns the fault of a call in which the box panicked with p.
func (r *callContext) panicked(p any) error {
	i := r.instance
	if i.mod == nil && i.memory != nil && i.memory.refused { // the runtime reports this by a panic
		return fault(TooMuch, "%s needs more memory than the %s that it may use",
			i.module.manifest.Name, manifest.Size(i.limit))
	}
	return r.boxFailed(fmt.Sprintf("%v\n%s", p, debug.Stack()))
}

// boxFailed logs what failed in the box; plugin and model do not learn it. It counts as the
// plugin's fault, since nothing else was running.
func (r *callContext) boxFailed(why string) error {
	m := r.instance.module
	m.host.log.Error("panic in the call of a plugin", "plugin", m.manifest.Name, "tool", r.call.Tool, "why",
		why)
	return fault(Trapped, "internal error of the box while it ran %s", m.manifest.Name)
}

// close releases all resources of the instance.
func (i *instance) close() {
	defer func() { <-i.module.host.pool.slots }()
	if i.mod != nil {
		_ = i.mod.Close(context.Background())
	}
	if i.kernel != nil {
		i.module.host.kernels.release(i.kernel)
	}
	if i.memory != nil {
		i.memory.release()
	}
	if i.files != nil {
		i.files.close()
	}
}
