package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"parley/plugins/manifest"
)

// instance is a module with memory of its own. One goroutine uses it at a time.
type instance struct {
	module  *Module
	of      owner
	mod     api.Module
	memory  *memory
	used    atomic.Int64 // bytes of memory, the kernel's arena among them
	kernel  kernel
	vars    map[string][]byte
	ready   bool // its runtime was initialized
	running *running
	stdin   bytes.Reader
	stdout  bytes.Buffer
	stderr  lines
}

// owner is who may use an instance.
type owner struct{ account, chat string }

// running is the context of a call in an instance. Host functions get it.
type running struct {
	context.Context
	stop context.CancelCauseFunc
	in   *instance
	call Call
	log  lines
}

// of is the call that a host function is called in.
func of(ctx context.Context) *running {
	if r, ok := ctx.(*running); ok {
		return r
	}
	r, _ := ctx.Value(runningKey{}).(*running)
	return r
}

type runningKey struct{}

func (r *running) Value(key any) any {
	if key == (runningKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// fail ends the call with f, from a host function.
func (r *running) fail(f *Fault) { r.stop(f); panic(f) }

func (m *Module) instantiate(c Call) (i *instance, err error) {
	i = &instance{module: m, of: owner{c.Account, c.Chat}, vars: map[string][]byte{}}
	limit := c.Granted.Memory
	if limit == 0 {
		limit = manifest.DefaultMemory
	}
	if i.memory, err = reserve(limit, &i.used); err != nil {
		return nil, fmt.Errorf("no memory for %s: %w", m.manifest.Name, err)
	}
	i.kernel.room = func(more int) bool {
		if i.used.Add(int64(more)) > limit {
			i.used.Add(-int64(more))
			return false
		}
		return true
	}
	ctx := experimental.WithMemoryAllocator(context.Background(), experimental.MemoryAllocatorFunc(func(_, _ uint64) experimental.LinearMemory { return i.memory }))
	defer func() {
		if recover() != nil { // the runtime's, when the least memory is not there
			err = fault(TooMuch, "%s wants more memory than the %s that it may have", m.manifest.Name, manifest.Size(limit))
		}
		if err != nil {
			i.memory.release()
			i = nil
		}
	}()
	i.mod, err = m.host.runtime.InstantiateModule(ctx, m.code, i.config(c))
	if err != nil {
		err = fault(Trapped, "%s cannot be instantiated: %s", m.manifest.Name, firstLine(err))
	}
	return i, err
}

// config is how an instance sees the world.
func (i *instance) config(c Call) wazero.ModuleConfig {
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions().
		WithSysWalltime().WithSysNanotime().WithRandSource(rand.Reader).
		WithNanosleep(i.sleep).WithOsyield(func() {}).
		WithStdin(&i.stdin).WithStdout(&i.stdout).WithStderr(&i.stderr)
	if !i.module.command {
		return config
	}
	config = config.WithArgs(i.module.manifest.Name, c.Tool)
	for _, s := range i.module.manifest.Settings {
		value, ok := c.Settings[s.Name]
		if !ok {
			value = s.Default
		}
		if ok || value != "" {
			config = config.WithEnv("SETTING_"+strings.ToUpper(s.Name), value)
		}
	}
	return config
}

// sleep lets a call sleep until its time is up.
func (i *instance) sleep(ns int64) {
	if i.running == nil || ns <= 0 {
		return
	}
	t := time.NewTimer(time.Duration(ns))
	defer t.Stop()
	select {
	case <-t.C:
	case <-i.running.Done():
	}
}

// call runs c, for limit at most.
func (i *instance) call(ctx context.Context, c Call, limit time.Duration) ([]byte, error) {
	timed, done := context.WithTimeout(ctx, limit)
	defer done()
	stoppable, stop := context.WithCancelCause(timed)
	defer stop(nil)
	r := &running{Context: stoppable, stop: stop, in: i, call: c}
	r.log = lines{tell: c.Log, level: "info"}
	i.stderr = lines{tell: c.Log, level: "info"}
	i.running = r
	defer func() { i.running = nil }()
	run := i.extism
	if i.module.command {
		run = i.command
	}
	content, err := run(r)
	i.stderr.flush()
	if err == nil {
		err = r.over(limit)
	} else {
		err = r.because(err, limit)
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// over is the fault of a call that came back after it had been ended.
func (r *running) over(limit time.Duration) error {
	if r.Err() == nil {
		return nil
	}
	return r.because(r.Err(), limit)
}

// because is what err, of a call in the runtime, means.
func (r *running) because(err error, limit time.Duration) error {
	var f *Fault
	switch {
	case errors.As(err, &f):
		return f
	case r.Err() != nil && errors.As(context.Cause(r), &f):
		return f
	case errors.Is(r.Err(), context.DeadlineExceeded):
		return fault(Late, "it took longer than %v", limit)
	case r.Err() != nil:
		return fault(Gone, "the caller gave up")
	}
	if exit, ok := errors.AsType[*sys.ExitError](err); ok {
		return fault(Failed, "it exited with code %d", exit.ExitCode())
	}
	return fault(Trapped, "%s", firstLine(err))
}

// close gives back all that the instance has.
func (i *instance) close() {
	_ = i.mod.Close(context.Background())
	i.memory.release()
	<-i.module.host.slots
}
