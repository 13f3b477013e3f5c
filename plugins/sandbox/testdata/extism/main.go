// A plugin for the Extism ABI that calls the host functions directly.
package main

import (
	"encoding/json"
	"fmt"
	"unsafe"
)

//go:wasmimport extism:host/env input_length
func inputLength() uint64

//go:wasmimport extism:host/env input_load_u8
func inputLoad(at uint64) uint32

//go:wasmimport extism:host/env alloc
func alloc(n uint64) uint64

//go:wasmimport extism:host/env store_u8
func store(at uint64, b uint32)

//go:wasmimport extism:host/env load_u8
func load(at uint64) uint32

//go:wasmimport extism:host/env length
func length(at uint64) uint64

//go:wasmimport extism:host/env output_set
func outputSet(at, n uint64)

//go:wasmimport extism:host/env error_set
func errorSet(at uint64)

//go:wasmimport extism:host/env config_get
func configGet(at uint64) uint64

//go:wasmimport extism:host/env log_warn
func logWarn(at uint64)

func put(s string) (uint64, uint64) {
	at := alloc(uint64(len(s)))
	for i := range len(s) {
		store(at+uint64(i), uint32(s[i]))
	}
	return at, uint64(len(s))
}

func input() []byte {
	b := make([]byte, inputLength())
	for i := range b {
		b[i] = byte(inputLoad(uint64(i)))
	}
	return b
}

func config(name string) string {
	at, _ := put(name)
	at = configGet(at)
	b := make([]byte, length(at))
	for i := range b {
		b[i] = byte(load(at + uint64(i)))
	}
	return unsafe.String(unsafe.SliceData(b), len(b))
}

var calls int

//go:wasmexport echo
func echo() int32 {
	calls++
	at, _ := put("called")
	logWarn(at)
	var p map[string]any
	if err := json.Unmarshal(input(), &p); err != nil {
		at, _ := put(err.Error())
		errorSet(at)
		return 1
	}
	out, _ := json.Marshal(map[string]any{"tool": "echo", "parameters": p, "city": config("city"), "calls": calls})
	outputSet(put(string(out)))
	return 0
}

//go:wasmexport fail
func fail() int32 {
	at, _ := put(fmt.Sprint("no such place"))
	errorSet(at)
	return 1
}

func main() {}
