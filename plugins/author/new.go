package author

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"parley/plugins/manifest"
	"parley/plugins/sdk"
)

//go:embed templates
var templates embed.FS

// New begins a project in a folder that must not be there yet, or be empty. The
// plugin is named like the folder. It returns the files that it wrote.
func New(dir, lang string) ([]string, error) {
	l, err := languageNamed(lang)
	if err != nil {
		return nil, err
	}
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(whole)
	files, err := begin(l, name)
	if err != nil {
		return nil, err
	}
	if _, err := manifest.Parse(files[ManifestFile]); err != nil {
		return nil, fmt.Errorf("%q cannot be a plugin's name: %w", name, err)
	}
	if there, err := os.ReadDir(dir); err == nil && len(there) > 0 {
		return nil, fmt.Errorf("%s is there and not empty: choose another name", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return write(dir, files)
}

// begin is a new project: the content of each file, by its path.
func begin(l language, name string) (map[string][]byte, error) {
	fill := strings.NewReplacer("NAME", name, "SOURCE", l.source)
	files := map[string][]byte{}
	for _, root := range []string{"templates/all", "templates/" + l.name} {
		err := each(templates, root, func(to string, content []byte) {
			// Go would take a go.mod for a module of its own, and git a .gitignore.
			to = strings.TrimSuffix(to, ".txt")
			if to == "gitignore" {
				to = ".gitignore"
			}
			files[to] = []byte(fill.Replace(string(content)))
		})
		if err != nil {
			return nil, err
		}
	}
	return files, each(sdk.Files, l.name, func(to string, content []byte) {
		files[path.Join(library(l.name), to)] = content
	})
}

// library is where a project has the library of its language.
func library(lang string) string {
	return map[string]string{"go": "parley", "rust": "src", "assemblyscript": "assembly", "c": "."}[lang]
}

// each calls f with the files under root.
func each(all fs.FS, root string, f func(to string, content []byte)) error {
	return fs.WalkDir(all, root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(at, "_test.go") {
			return err
		}
		content, err := fs.ReadFile(all, at)
		f(strings.TrimPrefix(at, root+"/"), content)
		return err
	})
}

func write(dir string, files map[string][]byte) ([]string, error) {
	var written []string
	for to, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(to))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return nil, err
		}
		written = append(written, file)
	}
	return written, nil
}
