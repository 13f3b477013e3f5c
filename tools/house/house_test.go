package house

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// listed is what go list says of a package.
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
	cmd := exec.Command("go", "list", "-json", module+"...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 5 {
		t.Fatalf("go list found %d packages only", len(all))
	}
	return all
}

func TestPackagesKnowOnlyWhomTheyMay(t *testing.T) {
	for _, p := range packages(t) {
		who := strings.TrimPrefix(p.ImportPath, module)
		if _, known := allowed(who, ""); !known {
			t.Errorf("%s has no rule: say in tools/house whom it may know", who)
		}
		for _, path := range p.Imports {
			whom, ours := strings.CutPrefix(path, module)
			if ok, _ := allowed(who, whom); ours && !ok {
				t.Errorf("%s imports %s, which it may not know", who, whom)
			}
		}
	}
}

// Measuring is a program of its own: what is installed holds none of it.
func TestOnlyTheBenchKnowsTheBench(t *testing.T) {
	for who, want := range map[string]bool{
		"cmd/parley-bench": true,
		"cmd/parley":       false,
		"appliance":        false,
		"appliance/api":    false,
	} {
		if ok, known := allowed(who, "bench"); ok != want || !known {
			t.Errorf("%s may import bench: %v (a rule: %v); want %v", who, ok, known, want)
		}
	}
	cmd := exec.Command("go", "list", "-deps", module+"cmd/parley")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if n := strings.Count(string(out), module+"bench"); n > 0 || !strings.Contains(string(out), module+"appliance\n") {
		t.Errorf("parley is made of %d packages of the bench", n)
	}
}

// A package does nothing by being imported, and keeps its hands off the
// process's log.
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
