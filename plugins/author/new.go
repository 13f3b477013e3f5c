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

// New creates a project in a folder that does not exist or is empty. The folder's name is
// the plugin's. It returns the names of the files.
func New(dir, lang string) (written []string, err error) {
	l, err := languageNamed(lang)
	if err != nil {
		return nil, err
	}
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	files, err := begin(l, filepath.Base(whole))
	if err != nil {
		return nil, err
	}
	if _, err := manifest.Parse(files[ManifestFile]); err != nil {
		return nil, fmt.Errorf("not a plugin name (%q): %w", filepath.Base(whole), err)
	}
	if there, err := os.ReadDir(dir); err == nil && len(there) > 0 {
		return nil, fmt.Errorf("folder exists and is not empty (%s): choose another name", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
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

// begin returns the files of a new project, by path.
func begin(l language, name string) (map[string][]byte, error) {
	fill := strings.NewReplacer("NAME", name, "SOURCE", l.source)
	files := map[string][]byte{}
	for _, part := range []struct {
		in       embed.FS
		from, to string
		fill     *strings.Replacer
	}{
		{templates, "templates/all", "", fill},
		{templates, "templates/" + l.name, "", fill},
		{sdk.Files, l.name, l.library, strings.NewReplacer()},
	} {
		err := fs.WalkDir(part.in, part.from, func(at string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(at, "_test.go") {
				return err
			}
			content, err := part.in.ReadFile(at)
			// A go.mod in the templates would make them a Go module, and git would apply a
			// .gitignore.
			to := strings.TrimSuffix(strings.TrimPrefix(at, part.from+"/"), ".txt")
			if to == "gitignore" {
				to = ".gitignore"
			}
			files[path.Join(part.to, to)] = []byte(part.fill.Replace(string(content)))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}
