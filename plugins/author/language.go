package author

import (
	"fmt"
	"strings"
)

// language is a programming language for plugins.
type language struct {
	name    string
	mark    string // file that identifies a project in it
	source  string // path of the code in a new project
	library string // path of the library in a new project
	// find finds the tools; the error is an ErrNoTools.
	find func(p Project) (compiler, error)
}

// compiler builds a project into the file out.
type compiler func(s *session, p Project, out string) error

// languages returns the languages in the order in which they are tried: a Go or Rust
// project may contain C files, and one with a package.json too.
func languages() []language {
	return []language{
		{"go", "go.mod", "main.go", "parley", findGo},
		{"rust", "Cargo.toml", "src/main.rs", "src", findRust},
		{"assemblyscript", "asconfig.json", "assembly/index.ts", "assembly", findAssemblyScript},
		{"c", "*.c", "main.c", ".", findC},
	}
}

// Languages returns the names of the languages.
func Languages() []string {
	var names []string
	for _, l := range languages() {
		names = append(names, l.name)
	}
	return names
}

// languageNamed returns the language with a name.
func languageNamed(name string) (language, error) {
	for _, l := range languages() {
		if l.name == name {
			return l, nil
		}
	}
	return language{}, fmt.Errorf("unknown language (%q): %s are allowed. Any other language that compiles to WASI "+
		"works too: see docs/plugins/abi.md", name, strings.Join(Languages(), ", "))
}

// language returns the language of the project.
func (p Project) language() (language, error) {
	var marks []string
	for _, l := range languages() {
		if p.has(l.mark) {
			return l, nil
		}
		marks = append(marks, l.mark+" ("+l.name+")")
	}
	return language{}, fmt.Errorf("the language of %s is unknown, because it has none of these files: %s. "+
		"Build the module with other tools, then run: parley plugin build --wasm FILE", named(p.Dir),
		strings.Join(marks, ", "))
}

// ErrNoTools says which tools this machine lacks to build a language.
type ErrNoTools struct {
	Language string
	Why      string
	Install  []string // commands or advice; one of them is enough
}

func (e ErrNoTools) Error() string {
	return fmt.Sprintf("cannot build %s here: %s. Install it:\n  %s", e.Language, e.Why,
		strings.Join(e.Install, "\n  "))
}
