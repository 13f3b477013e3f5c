package house

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var root = filepath.Join("..", "..")

// files calls visit with every file of the repository that is not generated.
func files(t *testing.T, visit func(name string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root &&
			(strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci" ||
				slices.Contains([]string{"node_modules", "dist", "bin"}, d.Name())) {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() { // a link leads to a file that is read where it is
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		short, err := filepath.Rel(root, name)
		visit(filepath.ToSlash(short), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// table returns the cells of tools/setup.table, by row.
func table(t *testing.T) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "tools", "setup.table"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			t.Fatalf("tools/setup.table: %q has %d columns: want 4", line, len(cells))
		}
		rows = append(rows, cells)
	}
	return rows
}

// outside matches a command that Go code runs by its name, and a shared library.
var outside = regexp.MustCompile(`exec\.(?:Command|LookPath|CommandContext)\((?:[\w.()]+, )?"([^"/-][^"/]*)"` +
	`|"(lib[\w-]+\.so\.[\d.]+)"`)

// So tools/setup installs all of it on a new machine.
func TestWhatTheCodeUsesOfTheMachineStandsInTheTable(t *testing.T) {
	var stands []string
	for _, cells := range table(t) {
		for _, name := range strings.Fields(cells[1]) {
			stands = append(stands, path.Base(name))
		}
	}
	seen := 0
	files(t, func(name string, text []byte) {
		if path.Ext(name) != ".go" {
			return
		}
		for _, m := range outside.FindAllSubmatch(text, -1) {
			seen++
			if used := string(m[1]) + string(m[2]); !slices.Contains(stands, used) {
				t.Errorf("%s uses %s, which is not in tools/setup.table", name, used)
			}
		}
	})
	if seen < 20 {
		t.Errorf("found %d commands and libraries only", seen)
	}
}

// A package whose name differs between releases of Debian is named only in the table, so
// that messages are right on all releases.
func TestNoPackageOfOneReleaseIsNamed(t *testing.T) {
	var names []string
	for _, cells := range table(t) {
		if alternatives := strings.Fields(cells[2]); len(alternatives) > 1 && strings.TrimSpace(cells[0]) != "given" {
			names = append(names, alternatives...)
		}
	}
	files(t, func(name string, text []byte) {
		if slices.Contains([]string{"tools/setup.table", "CHANGELOG.md", "RATIONALE.md"}, name) {
			return
		}
		for _, p := range names {
			if strings.Contains(string(text), p) {
				t.Errorf("%s names %s, which not every Debian has", name, p)
			}
		}
	})
}
