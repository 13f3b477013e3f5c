package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pure is the package with the state machine of a conversation: it depends only on its
// arguments, does no I/O and never waits.
const pure = module + "appliance/chat/turn"

// waiting are packages of the standard library that do I/O or wait, with all packages below
// them. net/url and net/netip only parse.
func waiting(path string) bool {
	if path == "net/url" || path == "net/netip" {
		return false
	}
	for _, w := range []string{"context", "os", "net", "io", "sync", "syscall", "runtime", "log", "database",
		"math/rand", "crypto", module + "store"} {
		if path == w || strings.HasPrefix(path, w+"/") {
			return true
		}
	}
	return false
}

func TestWhatFollowsIsDecidedWithoutTheWorld(t *testing.T) {
	all := map[string]listed{}
	for _, p := range packages(t) {
		all[p.ImportPath] = p
	}
	if _, there := all[pure]; !there {
		t.Fatalf("there is no %s", pure)
	}
	next, seen := []string{pure}, map[string]bool{}
	for len(next) > 0 {
		p := all[next[0]]
		next = next[1:]
		seen[p.ImportPath] = true
		for _, path := range p.Imports {
			if waiting(path) {
				t.Errorf("%s imports %s, and %s needs it", p.ImportPath, path, pure)
			}
			if strings.HasPrefix(path, module) && !seen[path] {
				next = append(next, path)
			}
		}
	}
	p := all[pure]
	for _, name := range p.GoFiles {
		waitsForNothing(t, filepath.Join(p.Dir, name))
	}
}

// clocks are the functions of package time that read a clock or wait.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// waitsForNothing fails the test for every place in a file that reads a clock,
// starts a goroutine or uses a channel.
func waitsForNothing(t *testing.T, file string) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		what := ""
		switch n := n.(type) {
		case *ast.GoStmt:
			what = "starts a goroutine"
		case *ast.SendStmt, *ast.SelectStmt, *ast.ChanType:
			what = "uses a channel"
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
				what = "reads the clock, or waits for it"
			}
		}
		if what != "" {
			t.Errorf("%s %s", fset.Position(n.Pos()), what)
		}
		return true
	})
}
