// A WASI command that tries what its parameters say, and outputs the results.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unsafe"
)

//go:wasmimport parley answer
func hostAnswer(to unsafe.Pointer, n uint32) uint32

//go:wasmimport parley http
func hostHTTP(request unsafe.Pointer, n uint32, body unsafe.Pointer, m uint32) int32

//go:wasmimport parley http_headers
func hostHeaders() int32

//go:wasmimport parley kv_get
func hostGet(key unsafe.Pointer, n uint32) int32

//go:wasmimport parley kv_set
func hostSet(key unsafe.Pointer, n uint32, value unsafe.Pointer, m uint32) int32

//go:wasmimport parley kv_delete
func hostDelete(key unsafe.Pointer, n uint32) int32

//go:wasmimport parley kv_keys
func hostKeys(prefix unsafe.Pointer, n uint32) int32

//go:wasmimport parley conversation
func hostConversation() int32

func at(s string) (unsafe.Pointer, uint32) {
	return unsafe.Pointer(unsafe.StringData(s)), uint32(len(s))
}

func answer() string {
	b := make([]byte, hostAnswer(nil, 0))
	hostAnswer(unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b)))
	return string(b)
}

func say(n int32) { fmt.Printf("%d %s\n", n, answer()) }

func main() {
	in, _ := io.ReadAll(os.Stdin)
	var p struct {
		Request json.RawMessage
		Body    string
		Do      [][]string
		Paths   []string
	}
	if err := json.Unmarshal(in, &p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	switch os.Args[1] {
	case "http":
		r, n := at(string(p.Request))
		b, m := at(p.Body)
		say(hostHTTP(r, n, b, m))
		hostHeaders()
		fmt.Print(answer())
	case "kv":
		for _, d := range p.Do {
			key, n := at(d[1])
			switch d[0] {
			case "get":
				say(hostGet(key, n))
			case "set":
				value, m := at(strings.Repeat(d[2], 1))
				say(hostSet(key, n, value, m))
			case "delete":
				say(hostDelete(key, n))
			case "keys":
				say(hostKeys(key, n))
			}
		}
	case "conversation":
		say(hostConversation())
	case "paths":
		for _, path := range p.Paths {
			everyCall(path)
		}
	case "files":
		files(p.Do)
	}
}

// files performs operations on files.
func files(do [][]string) {
	for _, d := range do {
		var err error
		out := ""
		switch d[0] {
		case "read":
			var b []byte
			b, err = os.ReadFile(d[1])
			out = string(b)
		case "write":
			err = os.WriteFile(d[1], []byte(d[2]), 0o644)
		case "append":
			var f *os.File
			if f, err = os.OpenFile(d[1], os.O_APPEND|os.O_WRONLY, 0); err == nil {
				_, err = f.WriteString(d[2])
				f.Close()
			}
		case "list":
			var names []string
			err = filepath.WalkDir(d[1], func(path string, _ os.DirEntry, err error) error {
				names = append(names, path)
				return err
			})
			out = strings.Join(names, " ")
		case "mkdir":
			err = os.Mkdir(d[1], 0o755)
		case "remove":
			err = os.Remove(d[1])
		case "rename":
			err = os.Rename(d[1], d[2])
		case "open":
			n := 0
			for ; n < 1000; n++ {
				if _, err = os.Open(d[1]); err != nil {
					break
				}
			}
			out = fmt.Sprint(n)
		case "truncate":
			err = os.Truncate(d[1], 1<<40)
		}
		fmt.Printf("%s %s: %q %v\n", d[0], d[1], out, err)
	}
}
