package sandbox

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// extismName is the module from which plugins import the Extism ABI.
const extismName = "extism:host/env"

// extism calls a function of the Extism ABI: the parameters are its input, the content is
// its output.
func (i *instance) extism(r *callContext) (string, error) {
	if k := i.kernel; k != nil && !k.setInput(r.call.Parameters) {
		return "", fault(TooMuch, "no memory left for its parameters")
	}
	if !i.initialized && i.module.start != "" {
		if _, err := i.enter(r, i.module.start); err != nil {
			return "", err
		}
	}
	i.initialized = true
	code, err := i.enter(r, r.call.Tool)
	if err != nil {
		return "", err
	}
	return i.output(code)
}

// output returns the output or the error that a function has set.
func (i *instance) output(code int32) (string, error) {
	k := i.kernel
	if k != nil && k.get(stateFailure) != 0 {
		if text := printable(k.block(k.get(stateFailure))); text != "" {
			return "", fault(Failed, "%s", text)
		}
		return "", fault(Failed, "it set an error without a text")
	}
	if code != 0 {
		return "", fault(Failed, "it returned %d and set no error", code)
	}
	if k == nil {
		return "", nil
	}
	output, ok := k.output()
	switch {
	case !ok:
		return "", fault(Trapped, "out of bounds: its output is not in the memory that it shares with the box")
	case len(output) > MaxContent:
		return "", fault(TooMuch, "the answer has %d bytes; at most %d are allowed", len(output), MaxContent)
	}
	return string(output), nil
}

// linkExtism provides the host functions behind the kernel.
func linkExtism(ctx context.Context, to wazero.Runtime) error {
	b := to.NewHostModuleBuilder("box")
	const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
	offer := func(name string, in, out []api.ValueType, f func(r *callContext, k *kernel, s []uint64)) {
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, s []uint64) {
			r := callOf(ctx)
			f(r, r.instance.kernel, s)
		}), in, out).Export(name)
	}
	type types = []api.ValueType
	offer("alloc", types{i64}, types{i64}, func(r *callContext, k *kernel, s []uint64) {
		if n := s[0]; n > 0 {
			if s[0] = k.alloc(n); s[0] == 0 {
				r.fail(fault(TooMuch, "no memory left for %d bytes", n))
			}
		}
	})
	offer("free", types{i64}, nil, func(_ *callContext, k *kernel, s []uint64) { k.release(s[0]) })
	offer("length", types{i64}, types{i64}, func(_ *callContext, k *kernel, s []uint64) { s[0] = k.blocks[s[0]] })
	offer("length_unsafe", types{i64}, types{i64}, func(_ *callContext, k *kernel, s []uint64) {
		s[0] = k.blocks[s[0]]
	})
	offer("reset", nil, nil, func(_ *callContext, k *kernel, _ []uint64) { k.reset() })
	offer("memory_bytes", nil, types{i64}, func(_ *callContext, k *kernel, s []uint64) { s[0] = k.end })
	offer("config_get", types{i64}, types{i64}, func(r *callContext, k *kernel, s []uint64) {
		value, ok := r.setting(string(k.block(s[0])))
		s[0] = 0
		if ok {
			s[0] = r.put([]byte(value))
		}
	})
	offer("var_get", types{i64}, types{i64}, func(r *callContext, k *kernel, s []uint64) { s[0] = r.varGet(k, s[0]) })
	offer("var_set", types{i64, i64}, nil, func(r *callContext, k *kernel, s []uint64) { r.varSet(k, s[0], s[1]) })
	offer("http_request", types{i64, i64}, types{i64}, func(r *callContext, k *kernel, s []uint64) {
		s[0] = r.httpRequest(k, s[0], s[1])
	})
	offer("http_status_code", nil, types{i32}, func(r *callContext, _ *kernel, s []uint64) { s[0] = uint64(r.status) })
	offer("http_headers", nil, types{i64}, func(r *callContext, _ *kernel, s []uint64) {
		if s[0] = 0; r.headers != nil {
			s[0] = r.put(jsonOf(r.headers))
		}
	})
	offer("get_log_level", nil, types{i32}, func(_ *callContext, _ *kernel, s []uint64) { s[0] = 0 })
	for _, level := range []string{"trace", "debug", "info", "warn", "error"} {
		offer("log_"+level, types{i64}, nil, func(r *callContext, k *kernel, s []uint64) {
			r.log.log(level, printable(k.block(s[0])))
			k.release(s[0])
		})
	}
	_, err := b.Instantiate(ctx)
	return err
}

// put copies b into a block for the plugin.
func (r *callContext) put(b []byte) uint64 {
	at, ok := r.instance.kernel.put(b)
	if !ok {
		r.fail(fault(TooMuch, "no memory left for %d bytes", len(b)))
	}
	return at
}

// setting returns the value for config_get: a setting or its default, or a variable that a
// WASI command would find in its environment.
func (r *callContext) setting(name string) (string, bool) {
	switch name {
	case timeName:
		return r.call.Time.Format(time.RFC3339), true
	case callerName:
		return r.call.Caller, r.call.Caller != ""
	}
	if value, ok := r.call.Settings[name]; ok {
		return value, true
	}
	if s, ok := r.instance.module.manifest.Setting(name); ok {
		return s.Default, s.Default != ""
	}
	if slices.Contains(r.call.Granted.Env, name) {
		return os.LookupEnv(name)
	}
	return "", false
}
