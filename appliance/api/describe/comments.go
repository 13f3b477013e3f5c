package describe

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Comments are taken from the source: the comments of types and fields, and the
// constants of string types.
type Comments struct {
	types  map[string]string            // the first sentence of a type's comment
	fields map[string]map[string]string // the comment of a type's field
	values map[string][]string          // the values of a string type
	lists  map[string][]ast.Expr        // the values of a type, as a function lists them
	named  map[string]string            // the values of constants
}

// ReadComments parses the Go files of all sources except tests.
func ReadComments(sources ...fs.FS) (Comments, error) {
	w := Comments{map[string]string{}, map[string]map[string]string{}, map[string][]string{}, map[string][]ast.Expr{},
		map[string]string{}}
	for _, source := range sources {
		names, err := fs.Glob(source, "*.go")
		if err != nil {
			return w, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := fs.ReadFile(source, name)
			if err != nil {
				return w, err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text,
				parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return w, fmt.Errorf("reading what the sources say: %w", err)
			}
			for _, d := range file.Decls {
				w.readDeclaration(d)
			}
		}
	}
	w.resolveLists()
	return w, nil
}

func (w Comments) readDeclaration(d ast.Decl) {
	if list, ok := d.(*ast.FuncDecl); ok {
		w.readList(list)
		return
	}
	group, ok := d.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range group.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			w.readType(spec, group.Doc.Text())
		case *ast.ValueSpec:
			w.readConstants(group.Tok, spec)
		}
	}
}

func (w Comments) readType(spec *ast.TypeSpec, comment string) {
	name := spec.Name.Name
	w.types[name] = sentence(name, comment)
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	w.fields[name] = map[string]string{}
	for _, f := range st.Fields.List {
		text := f.Comment.Text()
		if text == "" {
			text = first(f.Doc.Text())
		}
		for _, n := range f.Names {
			w.fields[name][n.Name] = capital(strings.Join(strings.Fields(text), " "))
		}
	}
}

func (w Comments) readConstants(kind token.Token, spec *ast.ValueSpec) {
	of, ok := spec.Type.(*ast.Ident)
	if !ok || kind != token.CONST {
		return
	}
	for i, v := range spec.Values {
		if s, ok := w.value(v); ok && !slices.Contains(w.values[of.Name], s) {
			w.values[of.Name] = append(w.values[of.Name], s)
			w.named[spec.Names[i].Name] = s
		}
	}
}

// readList parses a function that lists all values of a type, such as
// ModelProviders() []ModelProvider. Its name is the plural of the type's.
func (w Comments) readList(f *ast.FuncDecl) {
	if f.Recv != nil || f.Body == nil || len(f.Body.List) != 1 {
		return
	}
	made, ok := f.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(made.Results) != 1 {
		return
	}
	list, ok := made.Results[0].(*ast.CompositeLit)
	if !ok {
		return
	}
	if of, ok := list.Type.(*ast.ArrayType); ok {
		if name, ok := of.Elt.(*ast.Ident); ok && (f.Name.Name == name.Name+"s" || f.Name.Name == name.Name+"es") {
			w.lists[name.Name] = list.Elts
		}
	}
}

// resolveLists replaces the constants of a type by its list, because not every
// value has a constant.
func (w Comments) resolveLists() {
	for of, list := range w.lists {
		var all []string
		for _, e := range list {
			if s, ok := w.value(e); ok {
				all = append(all, s)
			}
		}
		if len(all) == len(list) && len(all) > 0 {
			w.values[of] = all
		}
	}
}

// value returns the value of a literal or a constant.
func (w Comments) value(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		s, ok := w.named[e.Name]
		return s, ok
	}
	return "", false
}

// sentence returns the first sentence of a type's comment, without the name of
// the type that it begins with.
func sentence(name, comment string) string {
	text := first(comment)
	for _, verb := range []string{" is ", " are ", " "} {
		if rest, ok := strings.CutPrefix(text, name+verb); ok {
			return capital(rest)
		}
	}
	return capital(text)
}

// first returns the first sentence of a comment.
func first(comment string) string { return new(doc.Package).Synopsis(comment) }

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
