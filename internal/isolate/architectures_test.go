package isolate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// elsewhere names the call by which the C library of arm64, which has no older one, does what
// it does with a call of amd64.
var elsewhere = map[string]string{
	"SYS_EPOLL_WAIT": "SYS_EPOLL_PWAIT",
	"SYS_TIME":       "SYS_CLOCK_GETTIME",
	"SYS_GETRLIMIT":  "SYS_PRLIMIT64",
	"SYS_STAT":       "SYS_NEWFSTATAT",
	"SYS_LSTAT":      "SYS_NEWFSTATAT",
	"SYS_ACCESS":     "SYS_FACCESSAT",
	"SYS_READLINK":   "SYS_READLINKAT",
	"SYS_POLL":       "SYS_PPOLL",
	"SYS_ARCH_PRCTL": "", // arm64 keeps the thread's storage in a register that it may write
}

// callsNamed returns the system calls that a file names.
func callsNamed(t *testing.T, file string) map[string]bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "SYS_") {
			found[s.Sel.Name] = true
		}
		return true
	})
	if len(found) == 0 {
		t.Fatalf("%s names no system call", file)
	}
	return found
}

// This compares names, on any machine. make arm64 runs isolated processes with arm64's filter.
func TestArm64MayDoWhatAmd64MayDo(t *testing.T) {
	common, here := callsNamed(t, "allowed.go"), callsNamed(t, "filter_arm64.go")
	for _, call := range slices.Sorted(maps.Keys(callsNamed(t, "filter_amd64.go"))) {
		same, known := elsewhere[call]
		switch {
		case !known:
			t.Errorf("%s is allowed on amd64 only: name its equivalent on arm64 in this test, and allow it there", call)
		case same != "" && !common[same] && !here[same]:
			t.Errorf("%s is allowed on amd64, but its equivalent %s is not on arm64", call, same)
		}
	}
}
