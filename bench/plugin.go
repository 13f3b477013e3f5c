package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"parley/plugins/manifest"
	"parley/plugins/sandbox"
)

// One tool as a module of the Extism ABI and as a WASI command; plugin/make builds both
// from plugin/order.rs.
//
//go:embed plugin/order.wasm
var orderReactor []byte

//go:embed plugin/order-command.wasm
var orderCommand []byte

const (
	// pluginCalls are timed, ours and plain wazero's interleaved; the first
	// warmPluginCalls do not count.
	pluginCalls     = 3000
	warmPluginCalls = 200
	commandCalls    = 500
	// pluginsInstalled is how many plugins a restart loads.
	pluginsInstalled = 50
	// steadyCalls are made to check for growing memory.
	steadyCalls = 10_000
	// parallelCalls run in parallel, for parallelTime.
	parallelCalls = 8
	parallelTime  = 2 * time.Second

	maxPluginMicroseconds = 150
	maxReadySeconds       = 2
)

// order returns the argument of the tool: a JSON object of 1 KB.
func order() json.RawMessage {
	type item struct {
		Name  string  `json:"name"`
		Count int     `json:"count"`
		Price float64 `json:"price"`
		Note  string  `json:"note"`
	}
	var items []item
	for n := range 12 {
		items = append(items, item{fmt.Sprintf("Soup of the day, number %d", n+1), n + 1, 4.5 + float64(n)/4,
			"no \"onions\""})
	}
	text, _ := json.Marshal(map[string]any{"table": 7, "items": items})
	return text
}

// orderManifest returns the manifest of the n-th copy of the tool.
func orderManifest(n int) manifest.Manifest {
	return manifest.Manifest{
		Name:        "order-" + strconv.Itoa(n),
		Version:     "1.0.0",
		Description: "Reckons up an order.",
		Reuse:       manifest.ReuseAny,
		Tools: []manifest.Tool{{
			Name:        "order",
			Description: "Reckons up an order.",
			Parameters:  json.RawMessage(`{"type":"object"}`),
			Timeout:     manifest.DefaultTimeout,
		}},
	}
}

// Plugin measures plugins: the cost of a call compared with plain wazero, how soon
// plugins are ready after a restart, and their memory.
func Plugin(ctx context.Context, o Options) (r Report, err error) {
	if err := o.check(); err != nil {
		return r, err
	}
	r = Report{Bench: "plugin", Machine: describe(o.Config)}
	cache, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return r, fmt.Errorf("a folder for compiled plugins: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cache)) }()
	h, err := sandbox.New(ctx, sandbox.Options{Cache: cache, Instances: 2 * parallelCalls})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, h.Close(context.WithoutCancel(ctx))) }()
	for _, part := range []func(context.Context, *sandbox.Host, Options, *Report) error{timePooled, timeCommand,
		timeParallel, watchMemory} {
		if err := part(ctx, h, o, &r); err != nil {
			return r, err
		}
	}
	return r, timeRestart(ctx, o, &r)
}

// timePooled times calls of a pooled instance of a module of the Extism ABI.
func timePooled(ctx context.Context, h *sandbox.Host, o Options, r *Report) error {
	o.announce("calling a plugin %d times, interleaved with plain wazero", pluginCalls)
	m, err := h.Load(ctx, orderManifest(0), orderReactor)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close(context.WithoutCancel(ctx)) }()
	hand, err := newPlainWazero(ctx, orderReactor)
	if err != nil {
		return err
	}
	defer hand.close(context.WithoutCancel(ctx))
	checked, err := sandbox.Instrument(orderReactor)
	if err != nil {
		return err
	}
	handChecked, err := newPlainWazero(ctx, checked)
	if err != nil {
		return err
	}
	defer handChecked.close(context.WithoutCancel(ctx))
	question := order()
	c := sandbox.Call{
		Tool:       "order",
		Parameters: question,
		Account:    "a",
		Chat:       "1",
	}
	var answer string
	byHand := func(h *plainWazero) func() error {
		return func() error {
			got, err := h.call(ctx, question)
			if err == nil && answer != "" && string(got) != answer {
				err = fmt.Errorf("with plain wazero the module returns %q, and as a plugin %q", got, answer)
			}
			return err
		}
	}
	took, ratio, err := interleaved(warmPluginCalls, pluginCalls, func() error {
		got, err := m.Call(ctx, c)
		answer = got.Content
		return err
	}, byHand(handChecked), byHand(hand))
	if err != nil {
		return err
	}
	note := fmt.Sprintf("a pooled instance that parses and writes JSON (%d bytes in, %d out); compared with the same "+
		"function on an instance of plain wazero, interleaved with ours", len(question), len(answer))
	r.paired("pooled_call", took[0], "µs", took[2], ratio[0], note)
	r.paired("pooled_call_checks", took[1], "µs", took[2], ratio[1],
		"plain wazero with the checks by which a plugin is stopped: their share of the above")
	r.against("pooled_call_limit", took[0], "µs", maxPluginMicroseconds,
		"the pooled call, compared with its limit")
	return nil
}

// interleaved times calls in turn, and returns their medians in microseconds, and the
// medians of the ratios of each to the last of the same round.
func interleaved(warm, rounds int, calls ...func() error) (us, ratio []float64, err error) {
	all, ratios := make([][]time.Duration, len(calls)), make([][]float64, len(calls))
	took := make([]time.Duration, len(calls))
	for n := range warm + rounds {
		for i := range calls {
			which := (i + n) % len(calls) // none is always first
			begun := time.Now()
			if err := calls[which](); err != nil {
				return nil, nil, err
			}
			took[which] = time.Since(begun)
		}
		for i := range calls {
			if n >= warm {
				all[i] = append(all[i], took[i])
				ratios[i] = append(ratios[i], float64(took[i])/float64(took[len(calls)-1]))
			}
		}
	}
	for i := range calls {
		us, ratio = append(us, median(all[i])/float64(time.Microsecond)), append(ratio, median(ratios[i]))
	}
	return us, ratio, nil
}

// timeCommand times a WASI command, which is instantiated for each call.
func timeCommand(ctx context.Context, h *sandbox.Host, o Options, r *Report) error {
	o.announce("running a command %d times, interleaved with plain wazero", commandCalls)
	m, err := h.Load(ctx, orderManifest(0), orderCommand)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close(context.WithoutCancel(ctx)) }()
	hand, err := newPlainCommand(ctx)
	if err != nil {
		return err
	}
	defer hand.close(context.WithoutCancel(ctx))
	question := order()
	took, ratio, err := interleaved(20, commandCalls, func() error {
		_, err := m.Call(ctx, sandbox.Call{Tool: "order", Parameters: question, Account: "a"})
		return err
	}, func() error { return hand.run(ctx, question) })
	if err != nil {
		return err
	}
	r.paired("command_call", took[0], "µs", took[1], ratio[0], "a WASI command, instantiated and run; compared with "+
		"the same in plain wazero, interleaved with ours")
	return nil
}

// timeParallel counts the calls of one caller, and of parallel callers.
func timeParallel(ctx context.Context, h *sandbox.Host, o Options, r *Report) error {
	o.announce("calling a plugin from one caller, then from %d in parallel", parallelCalls)
	m, err := h.Load(ctx, orderManifest(0), orderReactor)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close(context.WithoutCancel(ctx)) }()
	question := order()
	count := func(callers int) (float64, error) {
		var calls atomic.Int64
		var group sync.WaitGroup
		var failed atomic.Pointer[error]
		end := time.Now().Add(parallelTime)
		for n := range callers {
			group.Go(func() {
				for time.Now().Before(end) && failed.Load() == nil {
					if _, err := m.Call(ctx, sandbox.Call{
						Tool:       "order",
						Parameters: question,
						Account:    "a",
						Chat:       strconv.Itoa(n),
					}); err != nil {
						failed.Store(&err)
					}
					calls.Add(1)
				}
			})
		}
		group.Wait()
		if err := failed.Load(); err != nil {
			return 0, *err
		}
		return float64(calls.Load()) / parallelTime.Seconds(), nil
	}
	one, err := count(1)
	if err != nil {
		return err
	}
	many, err := count(parallelCalls)
	if err != nil {
		return err
	}
	cores := float64(min(runtime.NumCPU(), parallelCalls))
	r.figure("calls_alone", one, "calls/s", "one caller")
	r.against("calls_8_at_once", many, "calls/s", one*cores,
		fmt.Sprintf("eight callers; compared with one on each of %v cores", cores))
	return nil
}

// watchMemory compares the memory of the process before and after many calls.
func watchMemory(ctx context.Context, h *sandbox.Host, o Options, r *Report) error {
	o.announce("calling plugins %d times, and measuring memory", steadyCalls)
	pooled, err := h.Load(ctx, orderManifest(0), orderReactor)
	if err != nil {
		return err
	}
	defer func() { _ = pooled.Close(context.WithoutCancel(ctx)) }()
	fresh := orderManifest(1)
	fresh.Reuse = manifest.ReuseNone
	single, err := h.Load(ctx, fresh, orderReactor)
	if err != nil {
		return err
	}
	defer func() { _ = single.Close(context.WithoutCancel(ctx)) }()
	question := order()
	calls := func(n int) error {
		for i := range n {
			m := pooled
			if i%2 == 0 {
				m = single
			}
			if _, err := m.Call(ctx, sandbox.Call{
				Tool:       "order",
				Parameters: question,
				Account:    "a",
				Chat:       "1",
			}); err != nil {
				return err
			}
		}
		return nil
	}
	resident := func() float64 {
		debug.FreeOSMemory()
		return kilobytes("/proc/"+strconv.Itoa(self())+"/status", "VmRSS") / 1024
	}
	if err := calls(steadyCalls / 10); err != nil {
		return err
	}
	before := resident()
	if err := calls(steadyCalls); err != nil {
		return err
	}
	r.against("memory_after_10000", resident(), "MiB", before,
		"of the process, after 10,000 calls, half of them in new instances; compared with before")
	return nil
}

// timeRestart times the loading of 50 plugins: compiled, and from the cache of an earlier
// start.
func timeRestart(ctx context.Context, o Options, r *Report) (err error) {
	o.announce("loading %d plugins, and again as after a restart", pluginsInstalled)
	cache, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return fmt.Errorf("a folder for compiled plugins: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cache)) }()
	var took [2]time.Duration
	for i := range took {
		begun := time.Now()
		h, err := sandbox.New(ctx, sandbox.Options{Cache: cache})
		if err != nil {
			return err
		}
		for n := range pluginsInstalled {
			if _, err := h.Load(ctx, orderManifest(n), distinct(n)); err != nil {
				return errors.Join(err, h.Close(ctx))
			}
		}
		took[i] = time.Since(begun)
		if err := h.Close(ctx); err != nil {
			return err
		}
	}
	r.figure("ready_50_compiled", took[0].Seconds(), "s",
		fmt.Sprintf("50 different plugins of %d KB, compiled: at the first start", len(orderReactor)>>10))
	r.against("ready_50", took[1].Seconds(), "s", maxReadySeconds, "the same from the cache on the disk: at a restart")
	return nil
}

// distinct returns the n-th of similar modules: every other is a command, and each has a
// section of its own.
func distinct(n int) []byte {
	module := orderReactor
	if n%2 == 1 {
		module = orderCommand
	}
	name := "n" + strconv.Itoa(n)
	return append(bytes.Clone(module), append([]byte{0, byte(len(name) + 1), byte(len(name))}, name...)...)
}
