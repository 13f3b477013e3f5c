package onnx

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// DefaultThreads is how many threads one call of a session uses by default. The models here gain
// little from a third.
const DefaultThreads = 2

// SessionOptions control how a model is loaded.
type SessionOptions struct {
	// Threads is the number of threads per call: 0 means DefaultThreads. It is limited to the
	// number of cores.
	Threads int
	// Inputs and Outputs name the values of Run, in order. A session that is only used through
	// Calls needs neither.
	Inputs, Outputs []string
	// Portable makes ONNX Runtime apply only optimizations that do not depend on the processor.
	// SaveOptimized names a file for the optimized model, in the library's own format, which loads
	// faster and gives the same numbers. Optimized says that the model is such a file.
	Portable, Optimized bool
	SaveOptimized       string
}

func (o SessionOptions) threads() int {
	if o.Threads <= 0 {
		o.Threads = DefaultThreads
	}
	return min(o.Threads, runtime.NumCPU())
}

// Session is a loaded model. It is safe for concurrent use.
type Session struct {
	name    string
	threads int
	session *ort.DynamicAdvancedSession
	close   func() error
}

// Load loads a model file, .onnx or .ort. An error names the file and the command that repairs it.
func (r *Runtime) Load(path string, o SessionOptions) (*Session, error) {
	if err := checkReadable(path); err != nil {
		return nil, err
	}
	s, err := load(path, o, func(so *ort.SessionOptions) (*ort.DynamicAdvancedSession, error) {
		return ort.NewDynamicAdvancedSession(path, o.Inputs, o.Outputs, so)
	})
	if err != nil {
		return nil, loadError(path, err)
	}
	return s, nil
}

// LoadBytes loads a model from memory; name is used in errors. The bytes are not used after
// LoadBytes returns.
func (r *Runtime) LoadBytes(name string, model []byte, o SessionOptions) (*Session, error) {
	s, err := load(name, o, func(so *ort.SessionOptions) (*ort.DynamicAdvancedSession, error) {
		return ort.NewDynamicAdvancedSessionWithONNXData(model, o.Inputs, o.Outputs, so)
	})
	if err != nil {
		return nil, loadError(name, err)
	}
	return s, nil
}

func load(name string, o SessionOptions,
	open func(*ort.SessionOptions) (*ort.DynamicAdvancedSession, error)) (_ *Session, err error) {
	if err := retain(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, release())
		}
	}()
	so, err := o.build()
	if err != nil {
		return nil, err
	}
	defer so.Destroy()
	session, err := open(so)
	if err != nil {
		return nil, err
	}
	s := &Session{name: name, threads: o.threads(), session: session}
	s.close = sync.OnceValue(func() error { return errors.Join(session.Destroy(), release()) })
	return s, nil
}

// build returns the C library's options. Spinning is off: a thread that spins while it waits blocks
// a core for others, and on two cores with one busy neighbour that made calls two and a half times
// slower. The memory arena is on: without it calls were two to five times slower.
func (o SessionOptions) build() (_ *ort.SessionOptions, err error) {
	so, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		so.SetIntraOpNumThreads(o.threads()),
		so.SetInterOpNumThreads(1),
		so.SetCpuMemArena(true),
		so.SetLogSeverityLevel(ort.LoggingLevelFatal), // errors are returned
		so.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"),
		so.AddSessionConfigEntry("session.inter_op.allow_spinning", "0"),
		so.AddSessionConfigEntry("session.use_env_allocators", "1"),
	)
	if err = errors.Join(err, o.setOptimization(so)); err != nil {
		return nil, errors.Join(err, so.Destroy())
	}
	return so, nil
}

// setOptimization sets the options for optimized models.
func (o SessionOptions) setOptimization(so *ort.SessionOptions) error {
	if o.Optimized {
		return errors.Join(
			so.AddSessionConfigEntry("session.load_model_format", "ORT"),
			so.SetGraphOptimizationLevel(ort.GraphOptimizationLevelDisableAll),
		)
	}
	if !o.Portable {
		return nil
	}
	err := so.SetGraphOptimizationLevel(ort.GraphOptimizationLevelEnableExtended)
	if o.SaveOptimized != "" {
		err = errors.Join(err, so.SetOptimizedModelFilePath(o.SaveOptimized),
			so.AddSessionConfigEntry("session.save_model_format", "ORT"))
	}
	return err
}

// Threads returns how many threads one call uses, which is what to request from an engine.Gate.
func (s *Session) Threads() int { return s.threads }

// Run runs the model once on the values of SessionOptions.Inputs. An output that is nil is made by
// the library, copied once into a tensor of Go memory and stored in outputs; the caller destroys
// it. An output that is not nil must have exactly the resulting shape and is filled in place. For
// repeated calls with the same shapes, or calls without a copy, see Call.
func (s *Session) Run(inputs, outputs []Value) error {
	if err := s.session.Run(inputs, outputs); err != nil {
		return fmt.Errorf("onnx: run %s: %w", s.name, err)
	}
	return nil
}

// RunUntil is like Run but stops when ctx ends, after the current operator, and returns the cause
// of ctx.
func (s *Session) RunUntil(ctx context.Context, inputs, outputs []Value) (err error) {
	options, err := ort.NewRunOptions()
	if err != nil {
		return fmt.Errorf("onnx: run %s: %w", s.name, err)
	}
	broken := make(chan error, 1)
	keep := context.AfterFunc(ctx, func() { broken <- options.Terminate() })
	defer func() {
		if !keep() {
			err = errors.Join(context.Cause(ctx), <-broken)
		}
		err = errors.Join(err, options.Destroy())
	}()
	if err := s.session.RunWithOptions(inputs, outputs, options); err != nil {
		return fmt.Errorf("onnx: run %s: %w", s.name, err)
	}
	return nil
}

// Close releases the memory of the model. No call may be running.
func (s *Session) Close() error { return s.close() }

// Call is a prepared call of a session: inputs and outputs are bound to their names once and stay
// bound from run to run, in place and without a copy. One goroutine uses it; a session may have
// many.
type Call struct {
	session *Session
	binding *ort.IoBinding
}

// NewCall returns a Call with nothing bound yet.
func (s *Session) NewCall() (*Call, error) {
	b, err := s.session.CreateIoBinding()
	if err != nil {
		return nil, fmt.Errorf("onnx: prepare a call of %s: %w", s.name, err)
	}
	return &Call{session: s, binding: b}, nil
}

// In binds an input and replaces an earlier binding.
func (c *Call) In(name string, v Value) error {
	if err := c.binding.BindInput(name, v); err != nil {
		return fmt.Errorf("onnx: input %q of %s: %w", name, c.session.name, err)
	}
	return nil
}

// Out binds an output to a value of exactly the resulting shape. Outputs that are not bound are not
// computed.
func (c *Call) Out(name string, v Value) error {
	if err := c.binding.BindOutput(name, v); err != nil {
		return fmt.Errorf("onnx: output %q of %s: %w", name, c.session.name, err)
	}
	return nil
}

// Clear removes all bindings.
func (c *Call) Clear() {
	c.binding.ClearBoundInputs()
	c.ClearOutputs()
}

// ClearOutputs removes the output bindings.
func (c *Call) ClearOutputs() { c.binding.ClearBoundOutputs() }

// Run runs the model on the bound values. It allocates nothing in Go.
func (c *Call) Run() error {
	if err := c.session.session.RunWithBinding(c.binding); err != nil {
		return fmt.Errorf("onnx: run %s: %w", c.session.name, err)
	}
	return nil
}

// Close releases the binding, not the bound values.
func (c *Call) Close() error { return c.binding.Destroy() }
