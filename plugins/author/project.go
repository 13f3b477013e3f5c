// Package author is for who writes a plugin: it begins a project, builds it,
// runs its tests, and does so again whenever a file changes.
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

// ManifestFile is what a plugin's manifest is called in its folder.
const ManifestFile = "plugin.yaml"

// Project is the folder of a plugin.
type Project struct {
	Dir      string
	Manifest manifest.Manifest
	Text     []byte // the manifest as it was written
}

// Open reads a project's manifest. Its errors name the file.
func Open(dir string) (Project, error) {
	path := filepath.Join(dir, ManifestFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Project{}, fmt.Errorf("there is no %s in %s: name the folder of a plugin, or begin one with: parley "+
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

// Wasm is the path of the module that Build makes.
func (p Project) Wasm() string {
	name := p.Manifest.Wasm
	if name == "" {
		name = p.Manifest.Name + ".wasm"
	}
	return filepath.Join(p.Dir, name)
}

// has tells whether one of the project's files matches a pattern.
func (p Project) has(pattern string) bool {
	found, _ := filepath.Glob(filepath.Join(p.Dir, pattern))
	return len(found) > 0
}

// named is a folder as people say it.
func named(dir string) string {
	if dir == "." || dir == "" {
		return "this folder"
	}
	return dir
}
