package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// names are the pages: each has a folder with NAME.html or index.html, NAME.css
// and src/NAME.ts.
var names = []string{"kiosk"}

// pages returns the files of all pages, by their names. Nothing is written.
func pages(web string) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, name := range names {
		html, err := os.ReadFile(filepath.Join(web, name, "index.html"))
		if err != nil {
			return nil, err
		}
		all[name+".html"] = html
		for out, in := range map[string]string{".js": "src/" + name + ".ts", ".css": name + ".css"} {
			text, err := bundled(filepath.Join(web, name, in))
			if err != nil {
				return nil, err
			}
			all[name+out] = text
		}
	}
	return all, nil
}

// bundled is a file with all that it imports, small, for the browsers of the last
// four years: tablets on walls are seldom new.
func bundled(file string) ([]byte, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{abs}, Bundle: true, Format: api.FormatESModule, Platform: api.PlatformBrowser,
		MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true, LegalComments: api.LegalCommentsNone,
		Engines: []api.Engine{{Name: api.EngineChrome, Version: "100"}, {Name: api.EngineSafari, Version: "15.4"}, {Name: api.EngineFirefox, Version: "100"}},
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
