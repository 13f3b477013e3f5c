package sandbox

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// extism calls a function of the Extism ABI: parameters as its input, content as
// its output.
func (i *instance) extism(r *running) ([]byte, error) {
	k := &i.kernel
	k.reset()
	var ok bool
	if k.input, ok = k.put(r.call.Parameters); !ok {
		return nil, fault(TooMuch, "no memory left for its parameters")
	}
	k.inputLength = uint64(len(r.call.Parameters))
	if !i.ready && i.module.start != "" {
		if _, err := i.mod.ExportedFunction(i.module.start).Call(r); err != nil {
			return nil, err
		}
	}
	i.ready = true
	results, err := i.mod.ExportedFunction(r.call.Tool).Call(r)
	if err != nil {
		return nil, err
	}
	if k.failure != 0 {
		text := strings.ToValidUTF8(string(k.block(k.failure)), "�")
		return nil, fault(Failed, "%s", text[:min(len(text), maxLine)])
	}
	if len(results) > 0 && api.DecodeI32(results[0]) != 0 {
		return nil, fault(Failed, "it returned %d and set no error", api.DecodeI32(results[0]))
	}
	if k.outputLength > MaxContent {
		return nil, fault(TooMuch, "the answer has %d bytes; at most %d are allowed", k.outputLength, MaxContent)
	}
	content, ok := k.span(k.output, k.outputLength)
	if !ok {
		return nil, fault(Trapped, "it gave as its output memory that is not there")
	}
	return append([]byte(nil), content...), nil
}

// linkExtism offers the functions that Extism's libraries for plugins import.
// Offsets are those of the instance's kernel.
func linkExtism(ctx context.Context, to wazero.Runtime) error {
	b := to.NewHostModuleBuilder("extism:host/env")
	const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
	offer := func(name string, in, out []api.ValueType, f func(r *running, k *kernel, s []uint64)) {
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, s []uint64) {
			r := of(ctx)
			f(r, &r.in.kernel, s)
		}), in, out).Export(name)
	}
	type types = []api.ValueType
	offer("alloc", types{i64}, types{i64}, func(r *running, k *kernel, s []uint64) {
		if n := s[0]; n > 0 {
			if s[0] = k.alloc(n); s[0] == 0 {
				r.fail(fault(TooMuch, "no memory left for %d bytes", n))
			}
		}
	})
	offer("free", types{i64}, nil, func(_ *running, k *kernel, s []uint64) { k.release(s[0]) })
	offer("length", types{i64}, types{i64}, func(_ *running, k *kernel, s []uint64) { s[0] = k.blocks[s[0]] })
	offer("length_unsafe", types{i64}, types{i64}, func(_ *running, k *kernel, s []uint64) { s[0] = k.blocks[s[0]] })
	offer("load_u8", types{i64}, types{i32}, func(r *running, k *kernel, s []uint64) { s[0] = uint64(r.byteAt(k.arena, s[0])) })
	offer("load_u64", types{i64}, types{i64}, func(r *running, k *kernel, s []uint64) {
		v, ok := k.load64(s[0])
		if !ok {
			r.outside(s[0])
		}
		s[0] = v
	})
	offer("store_u8", types{i64, i32}, nil, func(r *running, k *kernel, s []uint64) {
		r.byteAt(k.arena, s[0])
		k.arena[s[0]] = byte(s[1])
	})
	offer("store_u64", types{i64, i64}, nil, func(r *running, k *kernel, s []uint64) {
		if !k.store64(s[0], s[1]) {
			r.outside(s[0])
		}
	})
	offer("input_offset", nil, types{i64}, func(_ *running, k *kernel, s []uint64) { s[0] = k.input })
	offer("input_length", nil, types{i64}, func(_ *running, k *kernel, s []uint64) { s[0] = k.inputLength })
	offer("input_set", types{i64, i64}, nil, func(_ *running, k *kernel, s []uint64) { k.input, k.inputLength = s[0], s[1] })
	offer("input_load_u8", types{i64}, types{i32}, func(r *running, k *kernel, s []uint64) {
		b, _ := k.span(k.input, k.inputLength)
		s[0] = uint64(r.byteAt(b, s[0]))
	})
	offer("input_load_u64", types{i64}, types{i64}, func(r *running, k *kernel, s []uint64) {
		v, ok := k.load64(k.input + s[0])
		if !ok || s[0] > k.inputLength {
			r.outside(s[0])
		}
		s[0] = v
	})
	offer("output_set", types{i64, i64}, nil, func(_ *running, k *kernel, s []uint64) { k.output, k.outputLength = s[0], s[1] })
	offer("output_offset", nil, types{i64}, func(_ *running, k *kernel, s []uint64) { s[0] = k.output })
	offer("output_length", nil, types{i64}, func(_ *running, k *kernel, s []uint64) { s[0] = k.outputLength })
	offer("error_set", types{i64}, nil, func(_ *running, k *kernel, s []uint64) { k.failure = s[0] })
	offer("error_get", nil, types{i64}, func(_ *running, k *kernel, s []uint64) { s[0] = k.failure })
	offer("reset", nil, nil, func(_ *running, k *kernel, _ []uint64) { k.reset() })
	offer("memory_bytes", nil, types{i64}, func(_ *running, k *kernel, s []uint64) { s[0] = uint64(len(k.arena)) })
	offer("config_get", types{i64}, types{i64}, func(r *running, k *kernel, s []uint64) {
		value, ok := r.setting(string(k.block(s[0])))
		s[0] = 0
		if ok {
			s[0] = r.put([]byte(value))
		}
	})
	offer("var_get", types{i64}, types{i64}, func(r *running, k *kernel, s []uint64) { s[0] = r.varGet(k, s[0]) })
	offer("var_set", types{i64, i64}, nil, func(r *running, k *kernel, s []uint64) { r.varSet(k, s[0], s[1]) })
	offer("http_request", types{i64, i64}, types{i64}, func(r *running, k *kernel, s []uint64) { s[0] = r.httpRequest(k, s[0], s[1]) })
	offer("http_status_code", nil, types{i32}, func(r *running, _ *kernel, s []uint64) { s[0] = uint64(r.status) })
	offer("http_headers", nil, types{i64}, func(r *running, _ *kernel, s []uint64) {
		if s[0] = 0; r.headers != nil {
			s[0] = r.put(jsonOf(r.headers))
		}
	})
	offer("get_log_level", nil, types{i32}, func(_ *running, _ *kernel, s []uint64) { s[0] = 0 })
	for _, level := range []string{"trace", "debug", "info", "warn", "error"} {
		offer("log_"+level, types{i64}, nil, func(r *running, k *kernel, s []uint64) {
			text := strings.ToValidUTF8(string(k.block(s[0])), "�")
			r.log.say(level, text[:min(len(text), maxLine)])
			k.release(s[0])
		})
	}
	_, err := b.Instantiate(ctx)
	return err
}

func (r *running) outside(at uint64) {
	r.fail(fault(Trapped, "out of bounds: nothing is at %d in the memory that it shares with the box", at))
}

func (r *running) byteAt(b []byte, at uint64) byte {
	if at >= uint64(len(b)) {
		r.outside(at)
	}
	return b[at]
}

// put makes a block of b for the plugin.
func (r *running) put(b []byte) uint64 {
	at, ok := r.in.kernel.put(b)
	if !ok {
		r.fail(fault(TooMuch, "no memory left for %d bytes", len(b)))
	}
	return at
}

// setting is what config_get knows: a setting or its default, and what a WASI
// command finds in its environment.
func (r *running) setting(name string) (string, bool) {
	switch name {
	case timeName:
		return r.call.Time.Format(time.RFC3339), true
	case callerName:
		return r.call.Caller, r.call.Caller != ""
	}
	if value, ok := r.call.Settings[name]; ok {
		return value, true
	}
	if s, ok := r.in.module.manifest.Setting(name); ok {
		return s.Default, s.Default != ""
	}
	if slices.Contains(r.call.Granted.Env, name) {
		return os.LookupEnv(name)
	}
	return "", false
}
