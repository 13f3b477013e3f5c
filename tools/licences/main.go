// Command licences collects the works that are inside the program, with their licences, into
// firmware/licences/inside.json. It refuses a work whose licence it does not recognise or that is not allowed.
// go generate ./firmware/licences runs it.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"parley/firmware/licences"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// run writes the generated files.
func run() error {
	top, err := root()
	if err != nil {
		return err
	}
	files, err := generated(top)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(top, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// root returns the folder of the main module.
func root() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	return string(bytes.TrimSpace(out)), nil
}

// generated returns the generated files by their names below top.
func generated(top string) (map[string][]byte, error) {
	parts, err := collect(top)
	if err != nil {
		return nil, err
	}
	list, err := licences.Encode(parts)
	if err != nil {
		return nil, err
	}
	page, err := os.ReadFile(filepath.Join(top, documentation))
	if err != nil {
		return nil, err
	}
	page, err = withTable(page, parts)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"firmware/licences/inside.json": list, documentation: page}, nil
}

// collect returns the parts of the program: Parley, Go, Go modules, C sources, then npm packages. The error names every
// part whose licence is not allowed.
func collect(top string) ([]licences.Part, error) {
	licence, err := os.ReadFile(filepath.Join(top, "LICENSE"))
	if err != nil {
		return nil, err
	}
	parts := []licences.Part{{
		Kind:      licences.Program,
		Name:      "Parley",
		Licence:   "Apache-2.0",
		Copyright: holders(string(licence)),
		Texts:     []licences.Text{{File: "LICENSE", Text: tidy(string(licence))}},
	}}
	modules, err := linkedModules(top)
	if err != nil {
		return nil, err
	}
	var refused []error
	for _, m := range modules {
		part, err := m.part()
		if err != nil {
			refused = append(refused, err)
			continue
		}
		parts = append(parts, part)
	}
	for _, c := range sourcesInC {
		part, err := c.part(modules, top)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		parts = append(parts, part)
	}
	pages, err := ofPages(top)
	if err != nil {
		return nil, err
	}
	parts = append(parts, pages...)
	for _, p := range parts {
		if err := allowed(p.Licence); err != nil {
			refused = append(refused, fmt.Errorf("%s: %w", p.Name, err))
		}
	}
	return parts, errors.Join(refused...)
}
