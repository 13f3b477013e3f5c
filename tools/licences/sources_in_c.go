package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"parley/firmware/licences"

	"github.com/google/licensecheck"
)

// A sourceInC is a work in C inside a Go module, under a licence of its own.
type sourceInC struct {
	name    string
	module  string
	files   []string       // in the module's folder; the first has the version and the licence
	version *regexp.Regexp // its groups are the numbers of the version
	licence string         // one of the ids in the first file, or an SPDX expression of them
	// text is a file below the main module's folder with the text of the licence, where the first file only names it.
	text string
}

// sourcesInC lists the works in C that are compiled into the program.
var sourcesInC = []sourceInC{
	{
		name:    "SQLite",
		module:  "github.com/mattn/go-sqlite3",
		files:   []string{"sqlite3-binding.h", "sqlite3-binding.c", "sqlite3ext.h"},
		version: regexp.MustCompile(`#define SQLITE_VERSION +"([0-9.]+)"`),
		licence: "blessing",
	},
	{
		name:   "miniaudio",
		module: "github.com/gen2brain/malgo",
		files:  []string{"miniaudio.h"},
		version: regexp.MustCompile(
			`#define MA_VERSION_MAJOR +(\d+)\s+#define MA_VERSION_MINOR +(\d+)\s+#define MA_VERSION_REVISION +(\d+)`),
		licence: "Unlicense OR MIT-0",
	},
	{
		name:    "ONNX Runtime's interface in C",
		module:  "github.com/yalue/onnxruntime_go",
		files:   []string{"onnxruntime_c_api.h", "onnxruntime_ep_c_api.h"},
		version: regexp.MustCompile(`#define ORT_API_VERSION +(\d+)`),
		licence: "MIT",
		text:    "firmware/packs/licences/MIT.txt",
	},
}

// isInC reports whether a file belongs to a work in C.
func isInC(file string) bool {
	for _, c := range sourcesInC {
		for _, one := range c.files {
			if strings.Contains(file, c.module+"@") && filepath.Base(file) == one {
				return true
			}
		}
	}
	return false
}

// part returns the work with its version and the comments of its first file that hold its licence.
func (c sourceInC) part(modules []*module, top string) (licences.Part, error) {
	p := licences.Part{Kind: licences.C, Name: c.name, Licence: c.licence}
	var folder string
	for _, m := range modules {
		if m.name == c.module {
			folder = m.folder
		}
	}
	if folder == "" {
		return p, fmt.Errorf("%s is not linked: remove %s from the works in C", c.module, c.name)
	}
	source, err := os.ReadFile(filepath.Join(folder, c.files[0]))
	if err != nil {
		return p, err
	}
	version := c.version.FindSubmatch(source)
	if version == nil {
		return p, fmt.Errorf("%s does not match %s, which tells the version of %s", c.files[0], c.version, c.name)
	}
	var numbers []string
	for _, n := range version[1:] {
		numbers = append(numbers, string(n))
	}
	p.Version = strings.Join(numbers, ".")
	text := c.notice(string(source))
	p.Copyright = holders(text)
	if c.text != "" {
		whole, err := os.ReadFile(filepath.Join(top, c.text))
		if err != nil {
			return p, err
		}
		text += "\n" + tidy(string(whole))
	}
	p.Texts = []licences.Text{{File: c.files[0], Text: text}}
	return p, c.check(text)
}

// notice returns the first comment of a source that has a licence or, if none has, a copyright.
func (c sourceInC) notice(source string) string {
	var named string
	for _, comment := range comments(source) {
		if len(licensecheck.Scan([]byte(comment)).Match) > 0 {
			return comment
		}
		if named == "" && len(holders(comment)) > 0 {
			named = comment
		}
	}
	return named
}

// check returns an error unless a text has exactly the licences of the work.
func (c sourceInC) check(text string) error {
	ids := map[string]bool{}
	for _, m := range licensecheck.Scan([]byte(text)).Match {
		if !m.IsURL {
			ids[m.ID] = true
		}
	}
	for _, one := range strings.Split(c.licence, " OR ") {
		if !ids[one] {
			return fmt.Errorf("%s of %s has the licences %v, not %s: read it again", c.files[0], c.name, ids, one)
		}
		delete(ids, one)
	}
	if len(ids) > 0 {
		return fmt.Errorf("%s of %s also has the licences %v: read it again", c.files[0], c.name, ids)
	}
	return nil
}
