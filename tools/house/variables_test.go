package house

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mayChange lists the package-level variables that are exempt from the rule, each
// with the reason.
var mayChange = map[string]string{
	"appliance/engine/llama.loaded": "libllama has one set of backends and one log callback a process",
	"appliance/engine/onnx.process": "ONNX Runtime and its Go binding have one environment a process",
}

// unchanging lists the types whose methods have pointer receivers and change
// nothing that a caller can observe.
var unchanging = []string{
	"encoding/base64.Encoding",
	"golang.org/x/text/encoding/charmap.Charmap",
	"net/http.Client",
	"regexp.Regexp",
	"strings.Replacer",
}

// TestNoPackageVariableChangesAfterStart checks that package-level variables are
// constants in all but name: nothing assigns to them, changes an element or a field
// of them, takes their address, or calls a method on them that could change them.
// State belongs to a value that appliance.Run makes. Compiled patterns, and results
// that sync.OnceValue computes at their first use, are as good as constants.
func TestNoPackageVariableChangesAfterStart(t *testing.T) {
	checked, exports := compiled(t, "./...")
	unused := maps.Clone(mayChange)
	variables := 0
	for _, p := range checked {
		var files []string
		for _, name := range p.CompiledGoFiles {
			if !filepath.IsAbs(name) { // else cgo has generated the file
				name = filepath.Join(p.Dir, name)
			}
			files = append(files, name)
		}
		changes, n := changedVariables(t, p.ImportPath, files, exports)
		variables += n
		for _, c := range changes {
			name := strings.TrimPrefix(c.variable, module)
			if mayChange[name] != "" {
				delete(unused, name)
			} else {
				t.Errorf("%s: %s is a package-level variable that %s", c.at, name, c.how)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		t.Errorf("mayChange exempts %s, which nothing changes", name)
	}
	if variables < 300 {
		t.Errorf("found only %d package-level variables", variables)
	}
}

// Every way in which testdata/changed changes a variable is found, and nothing else.
func TestChangedVariablesAreFound(t *testing.T) {
	_, exports := compiled(t, "regexp", "strings", "sync", "sync/atomic")
	changes, _ := changedVariables(t, "changed", []string{filepath.Join("testdata", "changed", "changed.go")}, exports)
	var got []string
	for _, c := range changes {
		got = append(got, strings.TrimPrefix(c.variable, "changed."))
	}
	slices.Sort(got)
	want := strings.Fields("added addressed array assigned cleared closure copied counted deleted element field " +
		"grown half holder initial list locked pairs pointer queue ranged received sliced through")
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("found  %v\nwant   %v", got, want)
	}
}

// built is a package as go list reports it, compiled.
type built struct {
	ImportPath      string
	Dir             string
	Export          string // file with the export data
	CompiledGoFiles []string
	DepOnly         bool
}

// compiled builds the packages that match the patterns. It returns them, and the
// files with the export data of all packages that they import.
func compiled(t *testing.T, patterns ...string) (matched []built, exports map[string]string) {
	t.Helper()
	exports = map[string]string{}
	for _, p := range goList[built](t, append([]string{"-compiled", "-export", "-deps",
		"-json=ImportPath,Dir,Export,CompiledGoFiles,DepOnly"}, patterns...)...) {
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			matched = append(matched, p)
		}
	}
	return matched, exports
}

// change is a place in the source that changes a package-level variable.
type change struct {
	variable string // with the path of its package
	how      string
	at       token.Position
}

// changedVariables type-checks a package and returns the changes of its own
// package-level variables and of those that it imports, and the number of its own.
func changedVariables(t *testing.T, path string, files []string, exports map[string]string) (changes []change, n int) {
	t.Helper()
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range files {
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})}
	info := &types.Info{
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Types:      map[ast.Expr]types.TypeAndValue{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	pkg, err := conf.Check(path, fset, parsed, info)
	if err != nil {
		t.Fatal(err)
	}
	s := search{info: info, fset: fset}
	for _, name := range pkg.Scope().Names() {
		v, ok := pkg.Scope().Lookup(name).(*types.Var)
		if !ok || strings.HasPrefix(name, "_C") { // of cgo
			continue
		}
		n++
		if holdsState(v.Type()) {
			s.add(v, v.Pos(), "holds state: a channel, or a value of sync or sync/atomic")
		}
	}
	for _, f := range parsed {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				ast.Inspect(fn.Body, s.visit)
			}
		}
	}
	return s.changes, n
}

// holdsState reports whether a variable of the type can only be used by changing it.
func holdsState(t types.Type) bool {
	switch t := t.(type) {
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil && (p.Path() == "sync" || p.Path() == "sync/atomic") {
			return true
		}
		return holdsState(t.Underlying())
	case *types.Pointer:
		n, ok := t.Elem().(*types.Named)
		return ok && n.Obj().Pkg() != nil && strings.HasPrefix(n.Obj().Pkg().Path(), "sync") && holdsState(n)
	case *types.Chan:
		return true
	case *types.Array:
		return holdsState(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if holdsState(f.Type()) {
				return true
			}
		}
	}
	return false
}

// search collects the changes in the syntax of one package.
type search struct {
	info    *types.Info
	fset    *token.FileSet
	changes []change
}

func (s *search) add(v *types.Var, at token.Pos, how string) {
	s.changes = append(s.changes, change{v.Pkg().Path() + "." + v.Name(), how, s.fset.Position(at)})
}

func (s *search) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, to := range n.Lhs {
			s.changed(to, "is assigned to")
		}
	case *ast.IncDecStmt:
		s.changed(n.X, "is assigned to")
	case *ast.RangeStmt:
		s.changed(n.Key, "is assigned to")
		s.changed(n.Value, "is assigned to")
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			s.changed(n.X, "has its address taken")
		}
	case *ast.CallExpr:
		s.call(n)
	}
	return true
}

// call looks at a call: of a builtin function that changes its first argument, or of
// a method with a pointer receiver.
func (s *search) call(n *ast.CallExpr) {
	switch fn := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		if _, builtin := s.info.Uses[fn].(*types.Builtin); builtin &&
			slices.Contains([]string{"delete", "clear", "copy"}, fn.Name) {
			s.changed(n.Args[0], "is changed by "+fn.Name)
		}
	case *ast.SelectorExpr:
		method := s.info.Selections[fn]
		if method == nil || method.Kind() != types.MethodVal {
			return
		}
		receiver := method.Obj().(*types.Func).Signature().Recv().Type()
		if p, ok := receiver.(*types.Pointer); ok && !slices.Contains(unchanging, p.Elem().String()) {
			s.changed(fn.X, "has the method "+fn.Sel.Name+" called, which may change it")
		}
	}
}

// changed notes the package-level variable at the root of an expression, if there is
// one.
func (s *search) changed(e ast.Expr, how string) {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.SelectorExpr:
			if v, ok := s.info.Uses[x.Sel].(*types.Var); ok && !v.IsField() { // of another package
				e = x.Sel
			} else {
				e = x.X
			}
		case *ast.Ident:
			if v, ok := s.info.Uses[x].(*types.Var); ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				s.add(v, x.Pos(), how)
			}
			return
		default:
			return
		}
	}
}
