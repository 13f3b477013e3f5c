package house

import (
	"fmt"
	"path"
	"strings"
)

// want is one row of tools/setup.table: something outside the repository that
// the code uses.
type want struct {
	when    string   // build, run, test, fresh or given
	names   []string // commands, or paths with * for any
	from    string   // the package that has it, or who gives it
	because string
}

// readTable reads tools/setup.table.
func readTable(text string) ([]want, error) {
	var table []want
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			return nil, fmt.Errorf("line %d has %d columns: want 4", i+1, len(cells))
		}
		for n := range cells {
			if cells[n] = strings.TrimSpace(cells[n]); cells[n] == "" {
				return nil, fmt.Errorf("line %d: column %d is empty", i+1, n+1)
			}
		}
		switch cells[0] {
		case "build", "run", "test", "fresh", "given":
		default:
			return nil, fmt.Errorf("line %d: when is %q: want build, run, test, fresh or given", i+1, cells[0])
		}
		table = append(table, want{cells[0], strings.Fields(cells[1]), cells[2], cells[3]})
	}
	return table, nil
}

// has tells whether the command or path stands in the table. A folder stands
// there with what is looked for in it; of a library or another file that is
// looked for by its name alone, the name is enough.
func has(table []want, name string) bool {
	for _, w := range table {
		for _, n := range w.names {
			if n == name || path.Base(n) == name {
				return true
			}
			if !strings.HasPrefix(n, "/") {
				continue
			}
			if ok, err := path.Match(n, name); err == nil && ok {
				return true
			}
			folder := strings.TrimSuffix(name, "/")
			if strings.HasPrefix(n, folder+"/") && (strings.Count(folder, "/") > 2 || strings.HasSuffix(n, "/*")) {
				return true
			}
			if below, any := strings.CutSuffix(n, "*"); any && w.when == "given" && strings.HasPrefix(name, below) {
				return true
			}
		}
	}
	return false
}

// isPath tells whether a text of the code is a path of the machine. Addresses
// of the API begin with / too, but not with a folder of the system.
func isPath(text string) bool {
	if strings.ContainsAny(text, " \n%{<") {
		return false // a sentence
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(text, "/"), "/")
	switch first {
	case "bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "proc", "root", "run", "sbin",
		"srv", "sys", "tmp", "usr", "var":
		return strings.HasPrefix(text, "/")
	}
	return false
}

// isLibrary tells whether a text of the code is the name of a shared library.
func isLibrary(text string) bool {
	stem, version, ok := strings.Cut(text, ".so")
	return ok && strings.HasPrefix(stem, "lib") && !strings.ContainsAny(text, "/ *%") &&
		strings.Trim(version, ".0123456789") == ""
}
