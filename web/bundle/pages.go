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

// pages returns the files of all pages, and the list of the packages in them, by name below web/dist. It writes
// nothing.
func pages(web string) (map[string][]byte, error) {
	all := map[string][]byte{}
	inside := map[string]part{}
	for _, page := range built {
		folder := filepath.Join(web, page.name)
		html, err := os.ReadFile(filepath.Join(folder, "index.html"))
		if err != nil {
			return nil, err
		}
		all[page.name+".html"] = html
		for out, in := range map[string]string{".js": page.script, ".css": page.style} {
			text, err := bundled(web, filepath.Join(folder, in), inside)
			if err != nil {
				return nil, err
			}
			all[page.name+out] = text
		}
	}
	for out, in := range fetchedLater {
		text, err := bundled(web, filepath.Join(web, in), inside)
		if err != nil {
			return nil, err
		}
		all[out] = text
	}
	list, err := listed(inside)
	if err != nil {
		return nil, err
	}
	all["../"+parts] = list
	return all, nil
}

// bundled returns a file with its imports, minified for the browsers of the last four years: tablets on walls are
// seldom new. It adds the packages that are in it to inside, and their licences to the end of the file.
func bundled(web, file string, inside map[string]part) ([]byte, error) {
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
		LegalComments:     api.LegalCommentsNone, // the whole licences follow at the end
		Metafile:          true,
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
	packages, err := packagesOf(web, r.Metafile)
	if err != nil {
		return nil, err
	}
	text := r.OutputFiles[0].Contents
	for _, p := range packages {
		inside[p.Name] = p
		text = append(text, p.notice()...)
	}
	return text, nil
}
