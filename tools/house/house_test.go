package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed is the output of go list for a package.
type listed struct {
	ImportPath  string
	Dir         string
	GoFiles     []string
	CgoFiles    []string
	Imports     []string
	TestImports []string
}

const module = "parley/"

func packages(t *testing.T) []listed {
	t.Helper()
	all := goList[listed](t, "-json", module+"...")
	if len(all) < 5 {
		t.Fatalf("go list found %d packages only", len(all))
	}
	return all
}

// goList runs go list in the repository with arguments that make it print JSON, and
// returns the values that it prints.
func goList[T any](t *testing.T, args ...string) (all []T) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p T
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	unused := map[string]bool{} // "importer imported"
	for _, r := range imports {
		for _, imported := range strings.Fields(r.imported) {
			if imported != "*" {
				unused[r.importer+" imports "+imported] = true
			}
		}
	}
	for _, p := range packages(t) {
		importer := strings.TrimPrefix(p.ImportPath, module)
		if _, ok := permitted(importer); !ok {
			t.Errorf("%s has no row in tools/house/house.go", importer)
		}
		for _, path := range p.Imports {
			imported, ours := strings.CutPrefix(path, module)
			delete(unused, importer+" imports "+imported)
			if ours && !allowed(importer, imported) {
				t.Errorf("%s imports %s: tools/house/house.go does not allow it", importer, imported)
			}
		}
	}
	for _, permission := range slices.Sorted(maps.Keys(unused)) {
		t.Errorf("tools/house/house.go allows that %s, which it does not", permission)
	}
}

// The installed program has no package of parley-bench.
func TestOnlyTheBenchImportsTheBench(t *testing.T) {
	for who, want := range map[string]bool{
		"cmd/parley-bench": true,
		"cmd/parley":       false,
		"appliance":        false,
		"appliance/api":    false,
	} {
		if ok := allowed(who, "bench"); ok != want {
			t.Errorf("%s may import bench: %v, want %v", who, ok, want)
		}
	}
	cmd := exec.Command("go", "list", "-deps", module+"cmd/parley")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if n := strings.Count(string(out), module+"bench"); n > 0 || !strings.Contains(string(out), module+"appliance\n") {
		t.Errorf("parley is made of %d packages of the bench", n)
	}
}

// A package does nothing when it is imported, and does not use the global logger.
func TestNoPackageWorksAtImportOrLogsGlobally(t *testing.T) {
	fset := token.NewFileSet()
	for _, p := range packages(t) {
		for _, name := range append(p.GoFiles, p.CgoFiles...) {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s has an init function", fset.Position(fn.Pos()))
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "slog" &&
					(s.Sel.Name == "Default" || s.Sel.Name == "SetDefault") {
					t.Errorf("%s uses the global logger", fset.Position(n.Pos()))
				}
				return true
			})
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range packages(t) {
		documented := false
		for _, name := range append(p.GoFiles, p.CgoFiles...) {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil,
				parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			text := f.Doc.Text()
			documented = documented || strings.HasPrefix(text, "Package ") || strings.HasPrefix(text, "Command ")
		}
		if !documented && len(p.GoFiles)+len(p.CgoFiles) > 0 {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}
