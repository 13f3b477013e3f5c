package onnx

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Yardstick calls ONNX Runtime's C library with nothing in between, as a
// program in C would: function pointers from its table, values made
// beforehand, what one call gives handed to the next. It shares no code with
// the engines, so that what they cost beyond the library can be measured.
type Yardstick struct {
	api  *[yardstickAPISize]uintptr
	env  uintptr
	info uintptr // memory of the CPU
}

// Places in OrtApi, the C library's table of functions. They are part of its
// stable interface: functions are only ever added at the end.
const (
	apiGetErrorMessage      = 2
	apiCreateEnv            = 3
	apiCreateSession        = 7
	apiRun                  = 9
	apiCreateSessionOptions = 10
	apiSetLogSeverity       = 22
	apiSetIntraOpThreads    = 24
	apiSetInterOpThreads    = 25
	apiCreateTensor         = 49 // CreateTensorWithDataAsOrtValue
	apiTensorData           = 51
	apiTensorElements       = 64
	apiTensorInfo           = 65
	apiCreateCPUMemoryInfo  = 69
	apiReleaseEnv           = 92
	apiReleaseStatus        = 93
	apiReleaseMemoryInfo    = 94
	apiReleaseSession       = 95
	apiReleaseValue         = 96
	apiReleaseTensorInfo    = 99
	apiReleaseOptions       = 100
	apiAddConfigEntry       = 130
	yardstickAPISize        = 131

	yardstickAPIVersion = 16 // any library since has all of these
)

// Codes of onnxruntime_c_api.h.
const (
	cFloat, cInt64, cBool = 1, 7, 9
	cArenaAllocator       = 1
	cLogFatal             = 4
)

// OpenYardstick opens the library, which is the one that a Runtime of the same
// path uses.
func OpenYardstick(libraryPath string) (*Yardstick, error) {
	if err := readable(libraryPath); err != nil {
		return nil, err
	}
	library, err := purego.Dlopen(libraryPath, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, damaged(libraryPath, err)
	}
	var base func() *[2]uintptr // GetApi, GetVersionString
	symbol, err := purego.Dlsym(library, "OrtGetApiBase")
	if err != nil {
		return nil, damaged(libraryPath, err)
	}
	purego.RegisterFunc(&base, symbol)
	var table func(version uint32) *[yardstickAPISize]uintptr
	purego.RegisterFunc(&table, base()[0])
	y := &Yardstick{api: table(yardstickAPIVersion)}
	if y.api == nil {
		return nil, damaged(libraryPath, fmt.Errorf("it lacks version %d of the interface", yardstickAPIVersion))
	}
	return y, errors.Join(
		y.call(apiCreateEnv, cLogFatal, address(cString("yardstick")), address(&y.env)),
		y.call(apiCreateCPUMemoryInfo, cArenaAllocator, 0, address(&y.info)))
}

// Close gives back what the yardstick itself holds; close graphs before.
func (y *Yardstick) Close() error {
	y.free(apiReleaseMemoryInfo, y.info)
	y.free(apiReleaseEnv, y.env)
	return nil
}

// call calls a function that returns a status.
//
//go:uintptrescapes
func (y *Yardstick) call(function int, args ...uintptr) error {
	status, _, _ := purego.SyscallN(y.api[function], args...)
	if status == 0 {
		return nil
	}
	message, _, _ := purego.SyscallN(y.api[apiGetErrorMessage], status)
	err := fmt.Errorf("onnx: yardstick: %s", goString(message))
	y.free(apiReleaseStatus, status)
	return err
}

// free calls one of the functions that release what they are given.
func (y *Yardstick) free(function int, handle uintptr) {
	if handle != 0 {
		purego.SyscallN(y.api[function], handle)
	}
}

// Graph is a model that a Yardstick loaded.
type Graph struct {
	y       *Yardstick
	session uintptr
}

// Load loads a model with the options that the engines' sessions have.
func (y *Yardstick) Load(path string, threads int) (_ *Graph, err error) {
	if err := readable(path); err != nil {
		return nil, err
	}
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
		y.call(apiSetIntraOpThreads, options, uintptr(SessionOptions{Threads: threads}.threads())),
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
func (y *Yardstick) input(in Input) (uintptr, error) {
	switch data := in.Data.(type) {
	case []float32:
		return tensorOf(y, data, cFloat, in.Shape)
	case []int64:
		return tensorOf(y, data, cInt64, in.Shape)
	case []bool:
		return tensorOf(y, data, cBool, in.Shape)
	}
	return 0, fmt.Errorf("onnx: yardstick: input %q is a %T; []float32, []int64 and []bool are known", in.Name, in.Data)
}

func tensorOf[T float32 | int64 | bool](y *Yardstick, data []T, element uintptr, shape []int64) (v uintptr, err error) {
	want := int64(1)
	for _, n := range shape {
		want *= n
	}
	if want != int64(len(data)) {
		return 0, fmt.Errorf("onnx: yardstick: %d values for the shape %v", len(data), shape)
	}
	err = y.call(apiCreateTensor, y.info, address(unsafe.SliceData(data)),
		uintptr(len(data))*unsafe.Sizeof(*new(T)), address(unsafe.SliceData(shape)), uintptr(len(shape)), element, address(&v))
	return v, err
}

// floats is what a tensor holds, in place.
func (y *Yardstick) floats(v uintptr) ([]float32, error) {
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

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

func cString(s string) *byte { return unsafe.SliceData(append([]byte(s), 0)) }

func cStrings(names []string) []*byte {
	var c []*byte
	for _, s := range names {
		c = append(c, cString(s))
	}
	return c
}

// goString copies the C string at an address that C gave.
func goString(at uintptr) string {
	p := *(*unsafe.Pointer)(unsafe.Pointer(&at))
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
