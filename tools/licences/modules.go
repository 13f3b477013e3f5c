package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"parley/firmware/licences"

	"github.com/google/licensecheck"
)

// processors are those for which packages are made: the parts of all are collected.
var processors = []string{"amd64", "arm64"}

// A module is a Go module that is linked into the program, or Go itself.
type module struct {
	name, version, folder string
	packages              map[string]bool // the folders of its linked packages
	sources               map[string]bool // their files in Go, C and assembler
}

// linkedModules returns Go and the modules whose packages the program imports, by name.
func linkedModules(top string) ([]*module, error) {
	all := map[string]*module{}
	for _, processor := range processors {
		if err := listModules(top, processor, all); err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *module) int {
		return cmp.Or(-cmp.Compare(isGo(a), isGo(b)), strings.Compare(a.name, b.name))
	}), nil
}

// isGo returns 1 for Go itself, which is listed first.
func isGo(m *module) int {
	if m.name == licences.Library {
		return 1
	}
	return 0
}

// listModules adds what the program for one processor is linked from. go list prints a line for each source: module,
// version and folder of the module, folder of the package, file.
func listModules(top, processor string, all map[string]*module) error {
	const each = "{{range .%s}}{{if $p.Standard}}|||{{else}}{{$p.Module.Path}}|{{$p.Module.Version}}|" +
		"{{$p.Module.Dir}}|{{end}}{{$p.Dir}}|{{.}}\n{{end}}"
	format := "{{$p := .}}"
	for _, kind := range []string{"GoFiles", "CgoFiles", "CFiles", "HFiles", "SFiles"} {
		format += fmt.Sprintf(each, kind)
	}
	cmd := exec.Command("go", "list", "-deps", "-f", format, "./cmd/parley")
	cmd.Dir = top
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOOS=linux", "GOARCH="+processor)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list -deps ./cmd/parley for %s: %w", processor, err)
	}
	library, version, err := goItself(top)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		f := strings.Split(lines.Text(), "|")
		if len(f) != 5 || f[2] == top {
			continue // an empty line, or a package of Parley
		}
		if f[0] == "" {
			f[0], f[1], f[2] = licences.Library, version, library
		}
		m := all[f[0]]
		if m == nil {
			m = &module{f[0], f[1], f[2], map[string]bool{}, map[string]bool{}}
			all[f[0]] = m
		}
		m.packages[f[3]] = true
		m.sources[filepath.Join(f[3], f[4])] = true
	}
	return lines.Err()
}

// goItself returns the folder and the version of Go.
func goItself(top string) (folder, version string, err error) {
	cmd := exec.Command("go", "env", "GOROOT", "GOVERSION")
	cmd.Dir = top
	out, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("go env: %w", err)
	}
	words := strings.Fields(string(out))
	if len(words) != 2 {
		return "", "", fmt.Errorf("go env GOROOT GOVERSION says %q: expected two words", out)
	}
	return words[0], words[1], nil
}

// texts matches the names of files with licences and notices.
var texts = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|copyright|notice|patents|unlicense|authors)([.-].*)?$`)

// unused are folders with licences of files that are not linked.
var unused = map[string]bool{
	"src/crypto/internal/boring": true, // BoringSSL, linked with GOEXPERIMENT=boringcrypto only
}

// choices are modules whose licence is not what their files mention: a choice of several.
var choices = map[string]struct{ mentioned, licence string }{
	"kernel.org/pub/linux/libs/security/libcap/psx": {"GPL-2.0", "BSD-3-Clause OR GPL-2.0-only"},
}

// part returns the module with the texts of all licences and notices that concern its linked packages: files from
// their folders up to the module's, and notices in their sources that name others than these files.
func (m *module) part() (licences.Part, error) {
	p := licences.Part{Kind: licences.Go, Name: m.name, Version: m.version}
	found := map[string]bool{}
	files, err := m.files()
	if err != nil {
		return p, err
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(m.folder, file))
		if err != nil {
			return p, err
		}
		ids, err := identified(file, text)
		if err != nil {
			return p, fmt.Errorf("%s %s: %w", m.name, m.version, err)
		}
		for _, one := range ids {
			found[one] = true
		}
		p.Texts = append(p.Texts, licences.Text{File: file, Text: tidy(string(text))})
		p.Copyright = append(p.Copyright, holders(string(text), p.Copyright...)...)
	}
	if len(found) == 0 {
		return p, fmt.Errorf("%s %s has no licence in %s", m.name, m.version, m.folder)
	}
	if err := m.addNotices(&p, found); err != nil {
		return p, err
	}
	p.Licence = strings.Join(slices.Sorted(maps.Keys(found)), " AND ")
	if c, ok := choices[m.name]; ok {
		if p.Licence != c.mentioned {
			return p, fmt.Errorf("%s %s mentions %s, not %s as when its licences were read: read them again",
				m.name, m.version, p.Licence, c.mentioned)
		}
		p.Licence = c.licence
	}
	return p, nil
}

// files returns the names of the files with licences and notices, below the module's folder.
func (m *module) files() ([]string, error) {
	folders := map[string]bool{}
	for folder := range m.packages {
		for ; strings.HasPrefix(folder, m.folder) && !folders[folder]; folder = filepath.Dir(folder) {
			folders[folder] = true
		}
	}
	var files []string
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		below, err := filepath.Rel(m.folder, folder)
		if err != nil {
			return nil, err
		}
		if m.name == licences.Library && unused[below] {
			continue
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && texts.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
				files = append(files, filepath.Join(below, e.Name()))
			}
		}
	}
	return files, nil
}

// leastCovered is the part of a licence file that must be words of known licences, in percent. The files of all linked
// modules have 90 or more; the rest is copyright lines.
const leastCovered = 85

// grants matches the files that hold a licence, not only notices.
var grants = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|unlicense)([.-].*)?$`)

// identified returns the ids of the licences in a file. It returns an error if the file is named like a licence and has
// much that belongs to no known licence.
func identified(file string, text []byte) ([]string, error) {
	c := licensecheck.Scan(text)
	if grants.MatchString(filepath.Base(file)) && c.Percent < leastCovered {
		return nil, fmt.Errorf("%.0f %% of %s are words of known licences, and %d must be: read it",
			c.Percent, file, leastCovered)
	}
	var ids []string
	for _, m := range c.Match {
		// A grant of patents, which takes nothing away, has no SPDX id.
		if !m.IsURL && m.ID != "GooglePatentsFile" && !slices.Contains(ids, m.ID) {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}
