package yardstick

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// Graph is a model that the library loaded.
type Graph struct {
	y       *ONNX
	session uintptr
}

// Load loads a model with the options that the engines' sessions have.
func (y *ONNX) Load(path string, threads int) (_ *Graph, err error) {
	var options uintptr
	if err := y.call(apiCreateSessionOptions, address(&options)); err != nil {
		return nil, err
	}
	defer y.free(apiReleaseOptions, options)
	g := &Graph{y: y}
	for _, key := range []string{"session.intra_op.allow_spinning", "session.inter_op.allow_spinning"} {
		err = errors.Join(err, y.call(apiAddConfigEntry, options, address(cString(key)), address(cString("0"))))
	}
	return g, errors.Join(err,
		y.call(apiSetLogSeverity, options, cLogFatal),
		y.call(apiSetIntraOpThreads, options, uintptr(min(threads, runtime.NumCPU()))),
		y.call(apiSetInterOpThreads, options, 1),
		y.call(apiCreateSession, y.env, address(cString(path)), options, address(&g.session)))
}

// Close gives the model's memory back.
func (g *Graph) Close() error {
	g.y.free(apiReleaseSession, g.session)
	g.session = 0
	return nil
}

// Input is a value for a graph: Data is a []float32, []int64 or []bool that
// fills Shape; no shape is a scalar.
type Input struct {
	Name  string
	Shape []int64
	Data  any
}

// Prepare makes a call with these inputs, to be made again and again; release
// gives them back. What comes out is thrown away.
func (g *Graph) Prepare(outputs []string, inputs ...Input) (run func() error, release func(), err error) {
	var names []string
	var values []uintptr
	release = func() {
		for _, v := range values {
			g.y.free(apiReleaseValue, v)
		}
		values = nil
	}
	for _, in := range inputs {
		v, err := g.y.input(in)
		if err != nil {
			release()
			return nil, nil, err
		}
		names, values = append(names, in.Name), append(values, v)
	}
	in, out, made := cStrings(names), cStrings(outputs), make([]uintptr, len(outputs))
	run = func() error {
		clear(made)
		err := g.run(in, values, out, made)
		runtime.KeepAlive(inputs)
		for _, v := range made {
			g.y.free(apiReleaseValue, v)
		}
		return err
	}
	return run, release, nil
}

// run is OrtApi.Run: made is filled with what comes out, where it is zero.
func (g *Graph) run(inNames []*byte, in []uintptr, outNames []*byte, made []uintptr) error {
	return g.y.call(apiRun, g.session, 0,
		address(&inNames[0]), address(&in[0]), uintptr(len(in)),
		address(&outNames[0]), uintptr(len(made)), address(&made[0]))
}

// input makes a value of what Go holds; Input.Data must outlive it.
func (y *ONNX) input(in Input) (uintptr, error) {
	switch data := in.Data.(type) {
	case []float32:
		return tensorOf(y, data, cFloat, in.Shape)
	case []int64:
		return tensorOf(y, data, cInt64, in.Shape)
	case []bool:
		return tensorOf(y, data, cBool, in.Shape)
	}
	return 0, fmt.Errorf("yardstick: input %q is a %T; []float32, []int64 and []bool are known", in.Name, in.Data)
}

func tensorOf[T float32 | int64 | bool](y *ONNX, data []T, element uintptr, shape []int64) (v uintptr, err error) {
	want := int64(1)
	for _, n := range shape {
		want *= n
	}
	if want != int64(len(data)) {
		return 0, fmt.Errorf("yardstick: %d values for the shape %v", len(data), shape)
	}
	err = y.call(apiCreateTensor, y.info, address(unsafe.SliceData(data)),
		uintptr(len(data))*unsafe.Sizeof(*new(T)), address(unsafe.SliceData(shape)), uintptr(len(shape)), element,
		address(&v))
	return v, err
}

// floats is what a tensor holds, in place.
func (y *ONNX) floats(v uintptr) ([]float32, error) {
	var data *float32
	var info uintptr
	var n int
	err := errors.Join(
		y.call(apiTensorData, v, address(&data)),
		y.call(apiTensorInfo, v, address(&info)))
	if err != nil {
		return nil, err
	}
	defer y.free(apiReleaseTensorInfo, info)
	err = y.call(apiTensorElements, info, address(&n))
	return unsafe.Slice(data, n), err
}
