package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/evanw/esbuild/pkg/api"
)

// A page has a folder with its index.html, and the entry points of its scripts, by name, and of its style.
type page struct {
	name    string
	scripts map[string]string
	style   string
}

// built lists the pages. The console fetches all its scripts but the first when they are needed. Code that several of
// them need is in shared.js: see console/shared.ts.
var built = []page{
	{"kiosk", map[string]string{"kiosk": "src/kiosk.ts"}, "kiosk.css"},
	{"console", map[string]string{
		"console":    "console.tsx",
		"answers":    "pages/answers.tsx",
		"expression": "pages/expression.tsx",
		"fleet":      "pages/fleet.tsx",
		"plots":      "plots.ts",
	}, "style.css"},
}

// buildID stands in the scripts for the id of the build, until it is known.
const buildID = "ID-OF-THE-BUILD"

// pages returns the files of all pages, and the list of the packages in them, by name below web/dist. It writes
// nothing.
func pages(web string) (map[string][]byte, error) {
	all := map[string][]byte{}
	inside := map[string]part{}
	for _, p := range built {
		folder, err := filepath.Abs(filepath.Join(web, p.name))
		if err != nil {
			return nil, err
		}
		html, err := os.ReadFile(filepath.Join(folder, "index.html"))
		if err != nil {
			return nil, err
		}
		all[p.name+".html"] = html
		style := []api.EntryPoint{{InputPath: filepath.Join(folder, p.style), OutputPath: p.name}}
		var scripts []api.EntryPoint
		for _, out := range slices.Sorted(maps.Keys(p.scripts)) {
			in := filepath.Join(folder, p.scripts[out])
			scripts = append(scripts, api.EntryPoint{InputPath: in, OutputPath: out})
		}
		for _, entries := range [][]api.EntryPoint{scripts, style} {
			files, err := bundled(web, entries, inside)
			if err != nil {
				return nil, err
			}
			maps.Copy(all, files)
		}
	}
	list, err := listed(inside)
	if err != nil {
		return nil, err
	}
	all["../"+parts] = list
	return all, nil
}

// bundled returns files with their imports, minified for the browsers of the last four years: tablets on walls are
// seldom new. It adds the packages that are in them to inside, and their licences to the end of each file.
func bundled(web string, entries []api.EntryPoint, inside map[string]part) (map[string][]byte, error) {
	r := api.Build(api.BuildOptions{
		EntryPointsAdvanced: entries,
		Bundle:              true,
		Splitting:           true,
		Outdir:              "dist",   // esbuild writes nothing: the names below it are wanted
		ChunkNames:          "shared", // esbuild refuses to write two
		Define:              map[string]string{"BUILD": `"` + buildID + `"`},
		Format:              api.FormatESModule,
		Platform:            api.PlatformBrowser,
		MinifyWhitespace:    true,
		MinifySyntax:        true,
		MinifyIdentifiers:   true,
		LegalComments:       api.LegalCommentsNone, // the whole licences follow at the end
		Metafile:            true,
		JSX:                 api.JSXAutomatic,
		JSXImportSource:     "preact",
		Engines: []api.Engine{{Name: api.EngineChrome, Version: "100"},
			{Name: api.EngineSafari, Version: "15.4"}, {Name: api.EngineFirefox, Version: "100"}},
	})
	var problems []error
	for _, m := range append(r.Errors, r.Warnings...) {
		at := entries[0].InputPath
		if m.Location != nil {
			at = fmt.Sprintf("%s:%d:%d", m.Location.File, m.Location.Line, m.Location.Column)
		}
		problems = append(problems, fmt.Errorf("%s: %s", at, m.Text))
	}
	if len(problems) > 0 || len(r.OutputFiles) < len(entries) {
		return nil, errors.Join(append(problems, fmt.Errorf("%s: not bundled", entries[0].InputPath))...)
	}
	packages, err := packagesOf(web, r.Metafile)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, f := range r.OutputFiles {
		sum.Write(f.Contents)
	}
	id := hex.EncodeToString(sum.Sum(nil)[:8])
	files := map[string][]byte{}
	for _, f := range r.OutputFiles {
		name := filepath.Base(f.Path)
		text := bytes.ReplaceAll(f.Contents, []byte(buildID), []byte(id))
		for _, p := range packages[name] {
			inside[p.Name] = p
			text = append(text, p.notice()...)
		}
		files[name] = text
	}
	return files, nil
}
