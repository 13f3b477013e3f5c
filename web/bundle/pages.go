package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// built lists the pages. Each has a folder with its index.html and the entry points of its script and its style.
var built = []struct{ name, script, style string }{
	{"kiosk", "src/kiosk.ts", "kiosk.css"},
	{"console", "console.tsx", "style.css"},
}

// fetchedLater maps the scripts that a page loads on demand to their sources; later maps the path of each import to the
// path at which the box serves it.
var fetchedLater = map[string]string{"plots.js": "console/plots.ts"}

const later = "/console/plots.js"

// pages returns the files of all pages by name. It writes nothing.
func pages(web string) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, page := range built {
		folder := filepath.Join(web, page.name)
		html, err := os.ReadFile(filepath.Join(folder, "index.html"))
		if err != nil {
			return nil, err
		}
		all[page.name+".html"] = html
		for out, in := range map[string]string{".js": page.script, ".css": page.style} {
			text, err := bundled(filepath.Join(folder, in))
			if err != nil {
				return nil, err
			}
			all[page.name+out] = text
		}
	}
	for out, in := range fetchedLater {
		text, err := bundled(filepath.Join(web, in))
		if err != nil {
			return nil, err
		}
		all[out] = text
	}
	return all, nil
}

// bundled returns a file with its imports, minified for the browsers of the last four years: tablets on walls are
// seldom new.
func bundled(file string) ([]byte, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	r := api.Build(api.BuildOptions{
		EntryPoints:       []string{abs},
		Bundle:            true,
		External:          []string{later},
		Format:            api.FormatESModule,
		Platform:          api.PlatformBrowser,
		MinifyWhitespace:  true,
		MinifySyntax:      true,
		MinifyIdentifiers: true,
		LegalComments:     api.LegalCommentsNone,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		Engines: []api.Engine{{Name: api.EngineChrome, Version: "100"},
			{Name: api.EngineSafari, Version: "15.4"}, {Name: api.EngineFirefox, Version: "100"}},
	})
	var problems []error
	for _, m := range append(r.Errors, r.Warnings...) {
		at := file
		if m.Location != nil {
			at = fmt.Sprintf("%s:%d:%d", m.Location.File, m.Location.Line, m.Location.Column)
		}
		problems = append(problems, fmt.Errorf("%s: %s", at, m.Text))
	}
	if len(problems) > 0 || len(r.OutputFiles) != 1 {
		return nil, errors.Join(append(problems, fmt.Errorf("%s: not bundled", file))...)
	}
	return r.OutputFiles[0].Contents, nil
}
