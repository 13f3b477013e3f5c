package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Every goroutine of a chat runs in its group, which ends the chat after a panic: nothing
// else in these packages starts a goroutine.
func TestAllThatWorksForAChatIsRunByItsGroup(t *testing.T) {
	const chat, group = module + "appliance/chat", "group.go"
	for _, p := range packages(t) {
		if p.ImportPath != chat && !strings.HasPrefix(p.ImportPath, chat+"/") &&
			p.ImportPath != module+"appliance/recording" {
			continue
		}
		for _, name := range p.GoFiles {
			if p.ImportPath == chat && name == group {
				continue
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s starts a goroutine by itself; let the chat's group run it", fset.Position(n.Pos()))
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok &&
						(x.Name == "errgroup" || x.Name == "sync" && n.Sel.Name == "WaitGroup") {
						t.Errorf("%s has a group of its own; let the chat's group run it", fset.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
}
