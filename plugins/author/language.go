package author

import (
	"fmt"
	"strings"
)

// language is one that plugins are written in.
type language struct {
	name    string
	mark    string // a file by which a project of it is known
	source  string // where a new project has its code
	library string // and the library
	// find looks for the tools; it fails with an ErrNoTools.
	find func(p Project) (compiler, error)
}

// compiler builds a project into the file out.
type compiler func(s *session, p Project, out string) error

// languages are looked for in this order: a project in Go or Rust may well have
// C files, and one with a package.json too.
func languages() []language {
	return []language{
		{"go", "go.mod", "main.go", "parley", findGo},
		{"rust", "Cargo.toml", "src/main.rs", "src", findRust},
		{"assemblyscript", "asconfig.json", "assembly/index.ts", "assembly", findAssemblyScript},
		{"c", "*.c", "main.c", ".", findC},
	}
}

// Languages are those that a plugin may be written in.
func Languages() []string {
	var names []string
	for _, l := range languages() {
		names = append(names, l.name)
	}
	return names
}

// named finds a language.
func languageNamed(name string) (language, error) {
	for _, l := range languages() {
		if l.name == name {
			return l, nil
		}
	}
	return language{}, fmt.Errorf("there is no language %q here; %s are allowed. Any other that compiles to WASI "+
		"will do too: docs/plugins/abi.md", name, strings.Join(Languages(), ", "))
}

// language tells which one the project is written in.
func (p Project) language() (language, error) {
	var marks []string
	for _, l := range languages() {
		if p.has(l.mark) {
			return l, nil
		}
		marks = append(marks, l.mark+" ("+l.name+")")
	}
	return language{}, fmt.Errorf("%s has none of the files by which a language is known: %s. Build it with your own "+
		"tools, then run: parley plugin build --wasm FILE", named(p.Dir), strings.Join(marks, ", "))
}

// ErrNoTools is what is missing on this machine to build a language.
type ErrNoTools struct {
	Language string
	Why      string
	Install  []string // what mends it, as commands or advice; one is enough
}

func (e ErrNoTools) Error() string {
	return fmt.Sprintf("cannot build %s here: %s. Install it:\n  %s", e.Language, e.Why,
		strings.Join(e.Install, "\n  "))
}
