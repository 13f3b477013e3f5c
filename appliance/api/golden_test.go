package api

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"parley/internal/golden"
)

// Programs rely on these paths and on who may use them.
func TestGoldenRoutes(t *testing.T) {
	var lines []string
	for _, rt := range New(Parts{}).routes() {
		lines = append(lines, fmt.Sprintf("%s %s: %v", rt.method, rt.path, rt.access))
	}
	golden.Names(t, "routes", lines)
}

// Programs rely on these fields of the answers, by route and status. Lines
// without a route have the fields of a type.
func TestGoldenAnswers(t *testing.T) {
	var lines []string
	for _, rt := range New(Parts{}).routes() {
		for _, a := range rt.about.Answers {
			words := []string{rt.method, rt.path + ":", strconv.Itoa(a.Status)}
			if a.Media != "" {
				words = append(words, a.Media)
			}
			if a.Value != nil {
				kind := reflect.TypeOf(a.Value)
				words = append(words, kind.String())
				lines = append(lines, kind.String()+": "+golden.Fields(kind))
			}
			lines = append(lines, strings.Join(words, " "))
		}
	}
	golden.Names(t, "answers", append(lines, "problem: "+golden.Fields(reflect.TypeFor[problem]()),
		"malformed: "+golden.Fields(reflect.TypeFor[malformed]())))
}

// Programs rely on the status and the code of errors. Codes of the table are
// listed with their status, others alone.
func TestGoldenErrors(t *testing.T) {
	var lines []string
	for _, k := range kinds {
		if k.status != 0 {
			lines = append(lines, strings.TrimSpace(fmt.Sprint(k.status, " ", k.code)))
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, "../certs/serve.go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			for _, e := range codesIn(n) {
				if word, ok := e.(*ast.BasicLit); ok && word.Kind == token.STRING {
					code, _ := strconv.Unquote(word.Value)
					lines = append(lines, code)
				}
			}
			return true
		})
	}
	golden.Names(t, "errors", lines)
}

// codesIn returns the expressions in n that are the code of an error: in a
// problem or an errToken, as "code" of a map, or assigned to Code.
func codesIn(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if kind, ok := n.Type.(*ast.Ident); ok && len(n.Elts) > 1 {
			switch kind.Name {
			case "problem":
				return n.Elts[:1]
			case "errToken":
				return n.Elts[1:2]
			}
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.BasicLit); ok && key.Value == `"code"` {
			return []ast.Expr{n.Value}
		}
	case *ast.AssignStmt:
		if to, ok := n.Lhs[0].(*ast.SelectorExpr); ok && to.Sel.Name == "Code" {
			return n.Rhs[:1]
		}
	}
	return nil
}

// The headings of the table of routes name the files of their handlers.
func TestHeadingsOfRoutesNameFiles(t *testing.T) {
	table, err := os.ReadFile("routes.go")
	if err != nil {
		t.Fatal(err)
	}
	headings := regexp.MustCompile(`(?m)^\t\t// [^:\n]+: (.+\.go)$`).FindAllSubmatch(table, -1)
	if len(headings) < 20 {
		t.Errorf("found %d headings", len(headings))
	}
	for _, h := range headings {
		for _, name := range strings.Split(string(h[1]), ", ") {
			if _, err := os.Stat(name); err != nil {
				t.Error(err)
			}
		}
	}
}
