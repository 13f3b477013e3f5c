// Package author is for authors of plugins: it creates a project, builds it, runs its
// tests, and repeats that whenever a file changes.
package author

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"parley/plugins/manifest"
)

// ManifestFile is the name of the manifest in a plugin's folder.
const ManifestFile = "plugin.yaml"

// Project is the folder of a plugin.
type Project struct {
	Dir      string
	Manifest manifest.Manifest
	Text     []byte // content of the manifest file
}

// Open reads a project's manifest. Its errors name the file.
func Open(dir string) (Project, error) {
	path := filepath.Join(dir, ManifestFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Project{}, fmt.Errorf("there is no %s in %s: name the folder of a plugin, or create one with: parley "+
			"plugin new NAME --lang %s", ManifestFile, named(dir), strings.Join(Languages(), "|"))
	}
	if err != nil {
		return Project{}, err
	}
	m, err := manifest.Parse(text)
	if err != nil {
		return Project{}, fmt.Errorf("%s: %w", path, err)
	}
	return Project{Dir: dir, Manifest: m, Text: text}, nil
}

// Wasm returns the path of the module that Build writes.
func (p Project) Wasm() string {
	name := p.Manifest.Wasm
	if name == "" {
		name = p.Manifest.Name + ".wasm"
	}
	return filepath.Join(p.Dir, name)
}

// has reports whether a file of the project matches a pattern.
func (p Project) has(pattern string) bool {
	found, _ := filepath.Glob(filepath.Join(p.Dir, pattern))
	return len(found) > 0
}

// named formats a folder's name for people.
func named(dir string) string {
	if dir == "." || dir == "" {
		return "this folder"
	}
	return dir
}
