package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// What the code uses of the machine stands in tools/setup.table, so that a
// machine on which nobody has been before gets all of it.

var root = filepath.Join("..", "..")

func table(t *testing.T) []want {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "tools", "setup.table"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := readTable(string(text))
	if err != nil {
		t.Fatalf("tools/setup.table: %v", err)
	}
	return rows
}

// files calls visit with every file of the repository that we wrote.
func files(t *testing.T, visit func(name string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root &&
			(strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci" || d.Name() == "node_modules" ||
				name == filepath.Join(root, "bin")) {
			return fs.SkipDir
		}
		// A link leads to a file that is read where it is.
		if !d.Type().IsRegular() || filepath.Dir(name) == filepath.Join(root, "tools", "house") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		short, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(short), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatGoCodeUsesOfTheMachineStandsInTheTable(t *testing.T) {
	rows, paths, commands := table(t), 0, 0
	files(t, func(name string, text []byte) {
		if path.Ext(name) != ".go" {
			return
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, used := range literals(f) {
			if (isPath(used) || isLibrary(used)) && !has(rows, used) {
				t.Errorf("%s names %s, which is not in tools/setup.table", name, used)
			} else if isPath(used) {
				paths++
			}
		}
		for _, module := range pkgConfig(f) {
			if !has(rows, module+".pc") {
				t.Errorf("%s is compiled with %s of pkg-config, which is not in tools/setup.table", name, module)
			}
		}
		for _, command := range commandsOf(fset, f) {
			commands++
			if command == "" {
				t.Errorf("%s runs a command whose name is not written there: say which in a comment on that line, as "+
					"in // runs: git", name)
			} else if !isPath(command) && !has(rows, command) {
				t.Errorf("%s runs %s, which is not in tools/setup.table", name, command)
			}
		}
	})
	if paths < 10 || commands < 10 {
		t.Errorf("found %d paths and %d commands only", paths, commands)
	}
}

// literals are the texts in the code.
func literals(f *ast.File) []string {
	var all []string
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				all = append(all, text)
			}
		}
		return true
	})
	return all
}

// commandsOf are the commands that f runs or looks for. A call that does not
// have the name says it in a comment on its line; the name of one that does not
// say it is empty. What starts the program itself once more counts as "itself".
func commandsOf(fset *token.FileSet, f *ast.File) []string {
	said := map[int]string{} // by line
	for _, group := range f.Comments {
		for _, c := range group.List {
			if _, names, ok := strings.Cut(c.Text, "runs: "); ok {
				said[fset.Position(c.Pos()).Line] = names
			}
		}
	}
	var all []string
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		s, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); !ok || x.Name != "exec" && x.Name != "os" && x.Name != "syscall" {
			return true
		}
		at, runs := map[string]int{"Command": 0, "CommandContext": 1, "LookPath": 0, "StartProcess": 0, "ForkExec": 0,
			"Exec": 0}[s.Sel.Name]
		if !runs || at >= len(call.Args) {
			return true
		}
		line := fset.Position(call.Pos()).Line
		switch name := types.ExprString(call.Args[at]); {
		case said[line] != "":
			all = append(all, strings.Fields(strings.ReplaceAll(said[line], ",", " "))...)
		case name == "os.Args[0]":
			all = append(all, "itself")
		default:
			name, _ = strconv.Unquote(name)
			all = append(all, name)
		}
		return true
	})
	return all
}

// pkgConfig are the modules that f asks pkg-config for.
func pkgConfig(f *ast.File) []string {
	var all []string
	for _, c := range f.Comments {
		for _, m := range regexp.MustCompile(`#cgo .*pkg-config: *(.+)`).FindAllStringSubmatch(c.Text(), -1) {
			all = append(all, strings.Fields(m[1])...)
		}
	}
	return all
}

func TestWhatScriptsUseOfTheMachineStandsInTheTable(t *testing.T) {
	rows := table(t)
	// commands by script; functions, which scripts lend each other
	used, ours := map[string][]string{}, map[string]bool{}
	files(t, func(name string, text []byte) {
		shell := string(text)
		switch {
		case name == "Makefile":
			shell = recipes(shell)
		case !strings.HasPrefix(shell, "#!/usr/bin/env bash") && !strings.HasPrefix(shell, "#!/bin/sh"):
			if strings.HasPrefix(shell, "#!") {
				t.Errorf("%s is no script of bash or sh: this test does not read it", name)
			}
			return
		}
		f, err := syntax.NewParser().Parse(strings.NewReader(shell), name)
		if err != nil {
			t.Fatal(err)
		}
		for command := range commandsOfScript(f, ours) {
			used[name] = append(used[name], command)
		}
		for _, file := range outsidePath.FindAllStringSubmatch(shell, -1) {
			if isPath(file[1]) && file[1] != "/usr/bin/env" && !has(rows, file[1]) {
				t.Errorf("%s names %s, which is not in tools/setup.table", name, file[1])
			}
		}
	})
	commands := 0
	for name, all := range used {
		for _, command := range all {
			commands++
			if !ours[command] && !builtin[command] && !strings.Contains(command, "/") && !has(rows, command) {
				t.Errorf("%s runs %s, which is not in tools/setup.table", name, command)
			}
		}
	}
	if commands < 20 {
		t.Errorf("found %d commands only", commands)
	}
}

// What tests run in Python and JavaScript opens no file of the machine; if it
// is to, the file stands in the table.
func TestWhatOtherCodeUsesOfTheMachineStandsInTheTable(t *testing.T) {
	rows, read := table(t), 0
	files(t, func(name string, text []byte) {
		if !slices.Contains([]string{".py", ".js", ".cjs", ".mjs", ".ts"}, path.Ext(name)) {
			return
		}
		read++
		for _, used := range quotedPath.FindAllStringSubmatch(string(text), -1) {
			if isPath(used[1]) && !has(rows, used[1]) {
				t.Errorf("%s names %s, which is not in tools/setup.table", name, used[1])
			}
		}
		if bytesRun.Match(text) {
			t.Errorf("%s runs a command: teach this test to read which", name)
		}
	})
	if read < 3 {
		t.Errorf("read %d files only", read)
	}
}

var (
	outsidePath = regexp.MustCompile(`(?:^|[\s"'=:])(/[a-z]+(?:/[\w.*+-]+)+)`)
	quotedPath  = regexp.MustCompile("[\"'`](/[^\"'`\\s]*)[\"'`]")
	bytesRun    = regexp.MustCompile(`subprocess|child_process|os\.system|os\.exec`)
)

// builtin are the commands of the shell itself.
var builtin = func() map[string]bool {
	all := map[string]bool{}
	for _, b := range strings.Fields(`. : [ [[ break cd command compgen continue declare echo eval exec exit export ` +
		`false
		getopts hash jobs kill let local mapfile popd printf pushd pwd read readonly return set shift shopt source
		test time trap true type typeset ulimit umask unset wait`) {
		all[b] = true
	}
	return all
}()

// commandsOfScript are the names of the commands that f runs, also those behind
// exec, xargs and the like. It adds f's functions to ours.
func commandsOfScript(f *syntax.File, ours map[string]bool) map[string]bool {
	all := map[string]bool{}
	syntax.Walk(f, func(n syntax.Node) bool {
		if d, ok := n.(*syntax.FuncDecl); ok {
			ours[d.Name.Value] = true
		}
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		all[call.Args[0].Lit()] = true
		switch call.Args[0].Lit() {
		case "exec", "command", "nice", "xargs", "env", "sudo", "chroot", "unshare", "timeout":
			for _, arg := range call.Args[1:] {
				if text := arg.Lit(); !strings.HasPrefix(text, "-") && strings.Trim(text, "0123456789") != "" {
					all[text] = !strings.Contains(text, "=")
					break
				}
			}
		}
		return true
	})
	delete(all, "")
	return all
}

// recipes are the commands of a Makefile, its variables written as words.
func recipes(makefile string) string {
	var shell strings.Builder
	for _, line := range strings.Split(strings.ReplaceAll(makefile, "\\\n", "\\\n\t"), "\n") {
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			recipe = strings.TrimLeft(recipe, "@-+\t")
			recipe = strings.ReplaceAll(recipe, "$$", "\x00")
			recipe = regexp.MustCompile(`\$\((\w+)\)`).ReplaceAllString(recipe, "./$1")
			shell.WriteString(strings.ReplaceAll(recipe, "\x00", "$") + "\n")
		}
	}
	return shell.String()
}

func TestTheTableIsReadStrictly(t *testing.T) {
	for text, why := range map[string]string{
		"run | gcc | gcc":             "3 columns",
		"run | gcc |  | because":      "column 3 is empty",
		"sometimes | gcc | gcc | why": `when is "sometimes"`,
	} {
		if _, err := readTable(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %s", text, err, why)
		}
	}
	rows, err := readTable("# no row\n\nrun | /usr/share/x/words.gz | x | why\nrun | /usr/lib/*/libx.so.1 | libx1 | " +
		"why\ngiven | /proc/* | kernel | why\nrun|a b|ab|why")
	if err != nil {
		t.Fatal(err)
	}
	for name, stands := range map[string]bool{
		"/usr/share/x/words.gz": true, "/usr/share/x": true, "/usr/share/x/": true, "/usr/share": false,
		"/usr/share/x/other.gz": false, "libx.so.1": true, "libx.so.2": false,
		"/proc/": true, "/proc/self/exe": true, "a": true, "b": true, "c": false,
	} {
		if has(rows, name) != stands {
			t.Errorf("%s stands in the table: %v", name, !stands)
		}
	}
}

// A package whose name differs from one release of Debian to the next is named in
// the table alone: what is said to people holds on all of them.
func TestNoPackageOfOneReleaseIsNamed(t *testing.T) {
	var names []string
	for _, w := range table(t) {
		if alternatives := strings.Fields(w.from); w.when != "given" && len(alternatives) > 1 {
			names = append(names, alternatives...)
		}
	}
	if len(names) == 0 {
		t.Fatal("no row of the table names several packages")
	}
	files(t, func(name string, text []byte) {
		switch name {
		case "tools/setup.table", "CHANGELOG.md", "RATIONALE.md":
			return
		}
		for _, p := range names {
			if strings.Contains(string(text), p) {
				t.Errorf("%s names %s, which not every Debian has", name, p)
			}
		}
	})
}
