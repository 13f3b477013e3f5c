package onnx

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// DefaultThreads is how many threads one call of a session uses when its
// options do not say. The models here gain little from a third.
const DefaultThreads = 2

// SessionOptions say how a model is loaded.
type SessionOptions struct {
	// Threads that work on one call: 0 means DefaultThreads; never more than
	// the machine has cores.
	Threads int
	// Inputs and Outputs name what Run is given and what it gives, in that
	// order. A session that is only used through Calls needs neither.
	Inputs, Outputs []string
	// Portable has ONNX Runtime optimize the model only as far as that does not depend
	// on the processor, and Prepare names a file in which it is kept then, in the
	// library's own format: loading that takes less, and gives the same numbers.
	// Prepared says that the model is such a one.
	Portable, Optimized bool
	SaveOptimized       string
}

func (o SessionOptions) threads() int {
	if o.Threads <= 0 {
		o.Threads = DefaultThreads
	}
	return min(o.Threads, runtime.NumCPU())
}

// Session is a loaded model. Any number of goroutines may run it at once.
type Session struct {
	name    string
	threads int
	session *ort.DynamicAdvancedSession
	close   func() error
}

// Load loads a model file, .onnx or .ort. The error names the file and the
// command that mends it.
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

// LoadBytes loads a model that lies in memory; name is what errors call it.
// The bytes are not used after it returns.
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

// build makes the C library's options. Spinning is off: a thread that spins
// while it waits takes the core from whoever else wants it, and on two cores
// with one busy neighbour that made calls two and a half times slower. The
// memory arena stays on: without it calls were two to five times slower.
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

// setOptimization sets what has to do with models that are kept prepared.
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

// Threads is how many threads one call uses: what to ask of an engine.Gate.
func (s *Session) Threads() int { return s.threads }

// Run runs the model once, on the values of SessionOptions.Inputs. An output
// that is nil is made by the library, copied once into a tensor of Go memory
// and put into outputs; the caller destroys it. One that is not nil must have
// exactly the shape that comes out, and is filled in place. For calls that are
// repeated with the same shapes, or that need no copy, see Call.
func (s *Session) Run(inputs, outputs []Value) error {
	if err := s.session.Run(inputs, outputs); err != nil {
		return fmt.Errorf("onnx: run %s: %w", s.name, err)
	}
	return nil
}

// RunUntil is Run for what may be given up: it breaks off when ctx ends, behind the
// operator that is being computed, and returns ctx's cause.
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

// Close gives the model's memory back. No call may be running.
func (s *Session) Close() error { return s.close() }

// Call is one prepared call of a session: inputs and outputs are bound to
// their names once and stay bound from run to run, in place and without a
// copy. It belongs to one goroutine; a session may have many.
type Call struct {
	session *Session
	binding *ort.IoBinding
}

// NewCall prepares a call, with nothing bound yet.
func (s *Session) NewCall() (*Call, error) {
	b, err := s.session.CreateIoBinding()
	if err != nil {
		return nil, fmt.Errorf("onnx: prepare a call of %s: %w", s.name, err)
	}
	return &Call{session: s, binding: b}, nil
}

// In binds an input, in place of what was bound to that name.
func (c *Call) In(name string, v Value) error {
	if err := c.binding.BindInput(name, v); err != nil {
		return fmt.Errorf("onnx: input %q of %s: %w", name, c.session.name, err)
	}
	return nil
}

// Out binds an output to a value of exactly the shape that will come out.
// Outputs that are not bound are not given.
func (c *Call) Out(name string, v Value) error {
	if err := c.binding.BindOutput(name, v); err != nil {
		return fmt.Errorf("onnx: output %q of %s: %w", name, c.session.name, err)
	}
	return nil
}

// Clear forgets all that is bound.
func (c *Call) Clear() {
	c.binding.ClearBoundInputs()
	c.ClearOutputs()
}

// ClearOutputs forgets the bound outputs.
func (c *Call) ClearOutputs() { c.binding.ClearBoundOutputs() }

// Run runs the model on what is bound. It allocates nothing in Go.
func (c *Call) Run() error {
	if err := c.session.session.RunWithBinding(c.binding); err != nil {
		return fmt.Errorf("onnx: run %s: %w", c.session.name, err)
	}
	return nil
}

// Close gives the binding back; the values stay whose they were.
func (c *Call) Close() error { return c.binding.Destroy() }
