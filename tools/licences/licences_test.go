package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"parley/firmware/licences"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A change of go.mod, of an import or of a page's packages changes what is inside the program.
func TestTheListOfLicencesIsUpToDate(t *testing.T) {
	top, err := root()
	must(t, err)
	files, err := generated(top)
	must(t, err)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(top, name))
		must(t, err)
		if !bytes.Equal(withoutGo(t, got), withoutGo(t, want)) {
			t.Errorf("%s is not up to date: go generate ./firmware/licences", name)
		}
	}
}

// withoutGo returns the list without the part Go if it was made with another version of Go than this test, which has
// other notices, and other files as they are.
func withoutGo(t *testing.T, text []byte) []byte {
	var list struct {
		Parts []struct{ Kind, Name, Version, Licence string }
	}
	if json.Unmarshal(text, &list) != nil {
		return text
	}
	if slices.ContainsFunc(list.Parts, func(p struct{ Kind, Name, Version, Licence string }) bool {
		return p.Name == licences.Library && p.Version == runtime.Version()
	}) {
		return text
	}
	list.Parts = slices.DeleteFunc(list.Parts, func(p struct{ Kind, Name, Version, Licence string }) bool {
		return p.Name == licences.Library
	})
	short, err := json.Marshal(list)
	must(t, err)
	return short
}

func TestLicencesThatBindTheProgramAreRefused(t *testing.T) {
	for licence, want := range map[string]bool{
		"MIT":                               true,
		"Apache-2.0 AND BSD-3-Clause":       true,
		"BSD-3-Clause OR GPL-2.0-only":      true,
		"GPL-3.0-or-later":                  false,
		"MIT AND GPL-2.0-only":              false,
		"AGPL-3.0-only OR LicenseRef-Owner": false,
		"":                                  false,
	} {
		if got := allowed(licence) == nil; got != want {
			t.Errorf("allowed(%q) is %v", licence, got)
		}
	}
}

// moduleWith returns a linked module with the given files.
func moduleWith(t *testing.T, files map[string]string) *module {
	t.Helper()
	m := &module{"example.org/m", "v1.0.0", t.TempDir(), map[string]bool{}, map[string]bool{}}
	for name, text := range files {
		file := filepath.Join(m.folder, name)
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(text), 0o644))
		m.packages[filepath.Dir(file)] = true
		if strings.HasSuffix(name, ".go") {
			m.sources[file] = true
		}
	}
	return m
}

func TestAModuleWithoutAKnownLicenceIsRefused(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"none":    {"a.go": "package a\n"},
		"own":     {"LICENSE": strings.Repeat("You may use this program on Sundays, if you sing. ", 20)},
		"own too": {"LICENSE": mit(t) + strings.Repeat("But only on Sundays, and if you sing aloud. ", 20)},
	} {
		if p, err := moduleWith(t, files).part(); err == nil {
			t.Errorf("%s: taken as %s", name, p.Licence)
		}
	}
}

// mit returns the text of the licence MIT.
func mit(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../firmware/packs/licences/MIT.txt")
	must(t, err)
	return "Copyright (c) 2020 The First\n\n" + string(text)
}

func TestNoticesOfOthersInSourcesArePassedOn(t *testing.T) {
	p, err := moduleWith(t, map[string]string{
		"LICENSE": mit(t),
		"same.go": "// Copyright 2021 The First\n\npackage a\n",
		"sub/other.go": "// Copyright (c) 1994 The Second. All rights reserved.\n//\n// " +
			"Permission to use this is freely granted.\n\npackage sub\n",
		"sub/mention.go": "package sub\n\n// Based on work copyright 1999 The Third.\n",
	}).part()
	must(t, err)
	if want := []string{"Copyright (c) 2020 The First", "Based on work copyright 1999 The Third.",
		"Copyright (c) 1994 The Second. All rights reserved."}; !slices.Equal(p.Copyright, want) {
		t.Errorf("%q, want %q", p.Copyright, want)
	}
	if p.Licence != "MIT" || len(p.Texts) != 2 || p.Texts[1].File != "sub/other.go" || p.Texts[1].Text !=
		"Copyright (c) 1994 The Second. All rights reserved.\n\nPermission to use this is freely granted.\n" {
		t.Errorf("%s, %+v", p.Licence, p.Texts)
	}
}

func TestALicenceInASourceCounts(t *testing.T) {
	p, err := moduleWith(t, map[string]string{
		"LICENSE": mit(t),
		"a.go":    "/*\nCopyright 2010 The Second\n\n" + gpl + "*/\npackage a\n",
	}).part()
	must(t, err)
	if err := allowed(p.Licence); err == nil {
		t.Errorf("a source under the GPL is taken as %s", p.Licence)
	}
}

const gpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General
Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any
later version.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied
warranty of MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details.

You should have received a copy of the GNU General Public License along with this program. If not, see
<https://www.gnu.org/licenses/>.
`
