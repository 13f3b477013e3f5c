// Package yardstick does what the engines do with their C libraries' calls
// alone, as a program in C would, so that parley-bench can say what the engines
// cost beyond them. It shares no code with them, but for what a model is given.
package yardstick

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// ONNX is ONNX Runtime's C library with nothing in between: function pointers
// from its table, values made beforehand, what one call gives handed to the
// next.
type ONNX struct {
	api  *[onnxAPISize]uintptr
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
	onnxAPISize             = 131

	onnxAPIVersion = 16 // any library since has all of these
)

// Codes of onnxruntime_c_api.h.
const (
	cFloat, cInt64, cBool = 1, 7, 9
	cArenaAllocator       = 1
	cLogFatal             = 4
)

// OpenONNX opens the library; one that an engine has opened already is not
// loaded a second time.
func OpenONNX(libraryPath string) (*ONNX, error) {
	library, err := purego.Dlopen(libraryPath, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("yardstick: %s does not load: %w", libraryPath, err)
	}
	var base func() *[2]uintptr // GetApi, GetVersionString
	symbol, err := purego.Dlsym(library, "OrtGetApiBase")
	if err != nil {
		return nil, fmt.Errorf("yardstick: %s does not load: %w", libraryPath, err)
	}
	purego.RegisterFunc(&base, symbol)
	var table func(version uint32) *[onnxAPISize]uintptr
	purego.RegisterFunc(&table, base()[0])
	y := &ONNX{api: table(onnxAPIVersion)}
	if y.api == nil {
		return nil, fmt.Errorf("yardstick: %s lacks version %d of the interface", libraryPath, onnxAPIVersion)
	}
	return y, errors.Join(
		y.call(apiCreateEnv, cLogFatal, address(cString("yardstick")), address(&y.env)),
		y.call(apiCreateCPUMemoryInfo, cArenaAllocator, 0, address(&y.info)))
}

// Close gives back what the library itself holds here; close graphs before.
func (y *ONNX) Close() error {
	y.free(apiReleaseMemoryInfo, y.info)
	y.free(apiReleaseEnv, y.env)
	return nil
}

// call calls a function that returns a status.
//
//go:uintptrescapes
func (y *ONNX) call(function int, args ...uintptr) error {
	status, _, _ := purego.SyscallN(y.api[function], args...)
	if status == 0 {
		return nil
	}
	message, _, _ := purego.SyscallN(y.api[apiGetErrorMessage], status)
	err := fmt.Errorf("yardstick: ONNX Runtime: %s", goString(message))
	y.free(apiReleaseStatus, status)
	return err
}

// free calls one of the functions that release what they are given.
func (y *ONNX) free(function int, handle uintptr) {
	if handle != 0 {
		purego.SyscallN(y.api[function], handle)
	}
}

// address is where p points to, for C. What is pinned lies on the heap: a stack
// may be moved while C writes, and then what it wrote is lost.
func address[T any](p *T) uintptr {
	var pin runtime.Pinner
	pin.Pin(p)
	pin.Unpin()
	return uintptr(unsafe.Pointer(p))
}

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
